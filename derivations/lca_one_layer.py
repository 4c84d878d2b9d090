# %% [markdown]
# # One layer of attention, and by how much it fails
#
# arXiv 2602.04872, Theorem 4.1 and Appendix D. At infinite context a layer of self-attention, linear or
# softmax, predicts $\langle\hat w, x_q\rangle$ with $\hat w = w_0(m) + \zeta B^\top m + \zeta^2 w_2$ and
# a *fixed* matrix $B$. The Bayes slope is $\zeta m/(1+|m|^2)$: it would need $B$ to know $|m|$.

# %%
import sympy

from theoryverify import Uniform
from theoryverify.exact.integrands import Z
from theoryverify.papers.lca import theory
from theoryverify.papers.lca.one_layer import best_by_direction, best_one_layer
from theoryverify.papers.lca.theory import M, alpha, zeta
from theoryverify.testing import assert_enclosed, assert_identity

# %% [markdown]
# ## The eigenvalue that a fixed matrix would need

# %%
needed = theory.regression_weight() / zeta
print("B'm = lambda m with lambda =", needed)
assert_identity(needed, 1 / (1 + M))

# %% [markdown]
# ## The best layer is $\hat w = \zeta s m$ (isotropic, symmetric m)
#
# Its excess risk is $E[W(1-sZ)^2]$, the loss of the stack at depth one.

# %%
s = sympy.Symbol("s", real=True)
excess = (s - needed) ** 2 * M * theory.covariance_x().on_spike
assert_identity(theory.in_terms_of_z(sympy.together(excess)), theory.signal_share() * (1 - s * Z) ** 2)
assert_identity(
    theory.one_parameter_loss(depth=sympy.Integer(1)).subs(alpha, s),
    theory.signal_share() * (1 - s * Z) ** 2,
)

# %% [markdown]
# ## In numbers, enclosed

# %%
best = best_one_layer(Uniform(2, 5))
print("Z ~ U[2,5]: s* =", best.gain, " excess risk =", best.excess)
assert_enclosed(best.excess, ("0.036675019199843", "0.036675019199844"))

# %% [markdown]
# Without isotropy the formula fails: on two axes with nearly constant Z each, one layer is nearly Bayes.

# %%
axes = best_by_direction([("1/2", Uniform(2, "2.1")), ("1/2", Uniform("4.9", 5))])
print("two axes:", axes)
assert_enclosed(axes, ("6.42e-5", "6.43e-5"))
