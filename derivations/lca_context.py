# %% [markdown]
# # The limits in context length and in depth
#
# arXiv 2602.04872, Lemma E.1 and (6.1). With $\beta = -\alpha$ the stack and its readout are $T$ steps of
# gradient descent on the context's least squares; for $d \ge 2$ the whitening $\frac1L XF_T^\top \to I$
# is not faster than the risk, and slower if $\underline Z > 1$.

# %%
import sympy

from theoryverify.papers.lca import theory
from theoryverify.papers.lca.theory import T, a, alpha, b, beta, s
from theoryverify.testing import assert_identity

# %% [markdown]
# ## One layer is one step

# %%
target = sympy.Symbol("Xy", real=True)
slope = theory.tied(theory.state_polynomial()) * target
print("w_T =", slope)
assert_identity(slope.subs(T, 0), sympy.Integer(0))
assert_identity(slope.subs(T, T + 1), slope - alpha * (s * slope - target))

# %% [markdown]
# ## The whitening, eigenvalue by eigenvalue of $\hat\Sigma$

# %%
white = s * theory.state_polynomial()
assert_identity(white, alpha / beta * ((1 + beta * s) ** T - 1))
assert_identity(theory.tied(white) - 1, -((1 - alpha * s) ** T))

# %% [markdown]
# ## Orthogonal to the task $\Sigma_x$ is 1, so the rate there is $1-\alpha^*$, not $r$

# %%
difference = 1 - theory.alpha_limit() - theory.contraction()
print("(1 - alpha*) - r =", sympy.factor(difference))
assert_identity(difference, 2 * (a - 1) / (a + b))
