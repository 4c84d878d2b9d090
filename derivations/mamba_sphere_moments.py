# %% [markdown]
# # Moments of the sphere and the test-time feature
#
# $\beta$ is uniform on the unit sphere of $R^r$. A Gaussian vector is $x = R\beta$ with $R$
# independent of $\beta$.

# %%
import sympy

from theoryverify.papers.mamba import theory
from theoryverify.papers.mamba.theory import c0, c1, c2, r, z
from theoryverify.testing import assert_identity

# %% [markdown]
# ## Second and fourth moments
#
# $E R^2 = r$ and $E R^4 = 3r + r(r-1) = r(r+2)$, so $E x_1^4 = 3$ gives $E\beta_1^4 = 3/(r(r+2))$.

# %%
second, fourth, mixed = theory.sphere_moments()
assert_identity(second, 1 / r)
assert_identity(fourth, 3 / (3 * r + r * (r - 1)))
assert_identity(r * fourth + r * (r - 1) * mixed, sympy.Integer(1))
print(second, fourth, mixed)

# %% [markdown]
# ## The feature after one gradient step
#
# With $\sum\beta_i^2 = 1$, $S = \sum\beta_i^2x_i^2$ and
# $\sum_{i<j}\beta_i\beta_jx_ix_j = (z^2-S)/2$ the embedding is summed in closed form. The diagonal
# weighs 3, a mixed entry 2, so an extra $\frac12S$ stays.

# %%
constant, linear, diagonal, pair = theory.one_step_weights()
S = sympy.Symbol("S", real=True)
feature = (
    constant * c0
    + linear * c1 * z
    + diagonal * c2 * (S - 1) / sympy.sqrt(2)
    + pair * sympy.sqrt(2) * c2 * (z**2 - S) / 2
)
assert_identity(feature, theory.test_time_feature())
print(theory.test_time_feature())
