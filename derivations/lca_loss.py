# %% [markdown]
# # The cross-attention stack in closed form, and its loss
#
# arXiv 2602.04872, Lemma E.2 and Section 6. With $W^S = \alpha I$, $W^V = \beta I$ the linear stack
# is $F_t = F_{t-1} + \alpha X + \beta\hat\Sigma F_{t-1}$, $F_0 = 0$. Every $F_t$ is a polynomial in
# $\hat\Sigma$ applied to $X$, so one scalar variable $s$ carries the matrices.

# %%
import sympy

from theoryverify.exact.integrands import Z
from theoryverify.papers.lca import theory
from theoryverify.papers.lca.theory import T, alpha, beta
from theoryverify.testing import assert_identity


def show(name, formula):
    print(f"{name:28s} {formula}")


# %% [markdown]
# ## Lemma E.2, by induction on a symbolic T

# %%
P = theory.state_polynomial()
show("P_T(s)", P)
assert_identity(P.subs(T, 0), sympy.Integer(0))
assert_identity(P.subs(T, T + 1), theory.layer(P))

# %% [markdown]
# ## Infinite context
#
# $\frac1L Fy \to P_T(\Sigma_x)\,E[xy]$, and $E[xy] = \Sigma_x w$ lies along $m$, where $\Sigma_x$ is
# $Z$. So the predictor is $\alpha S_T(Z,\beta)\langle w, x_q\rangle$.

# %%
show("gain = alpha S_T", theory.predictor_gain())
assert_identity(theory.predictor_gain(), alpha * theory.S())
assert_identity(theory.S(), Z * theory.geometric_sum(1 + beta * Z))

# %% [markdown]
# ## The loss
#
# Expanded directly, $E(y-\hat y)^2/\zeta^2 = 1 - 2gW + g^2W$; it splits into the excess loss and the
# Bayes risk $E[1/Z]$.

# %%
gain, share = theory.predictor_gain(), theory.signal_share()
show("excess loss: E of", theory.loss_integrand())
assert_identity(
    1 - 2 * gain * share + gain**2 * share, theory.loss_integrand() + theory.noise_share()
)

# %% [markdown]
# ## One parameter, $\beta = -\alpha$

# %%
R = theory.one_parameter_loss()
show("R_T: E of", R)
assert_identity(theory.tied(theory.loss_integrand()), R)
assert_identity(sympy.diff(R, alpha), theory.one_parameter_gradient())
assert_identity(sympy.diff(R, alpha, 2), theory.one_parameter_hessian())
show("R_T': E of", theory.one_parameter_gradient())
show("R_T'': E of", theory.one_parameter_hessian())
