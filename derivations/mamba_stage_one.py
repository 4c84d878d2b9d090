# %% [markdown]
# # One gradient step, and the feature it makes
#
# arXiv 2510.12026, the lemma on Stage I, Lemma C.1 and Proposition 4.1, with the context replaced by its
# mean. Stage I takes one step on $\frac12E(f-y)^2$, $f=\mathrm{ReLU}(M)$, $M$ the layer's output; the
# feature is then $\varphi(x)^\top(\gamma^*\circ E[T\varphi])$.

# %%
import sympy

from theoryverify.exact.gate import Gate
from theoryverify.papers.mamba import one_step, theory
from theoryverify.papers.mamba.one_step import one_step_feature
from theoryverify.papers.mamba.population import Population
from theoryverify.papers.mamba.stage_one import LINEAR_ONLY, StageOne
from theoryverify.papers.mamba.theory import K0, K1, K2, c0, c1, c2, r
from theoryverify.testing import assert_enclosed, assert_identity

# %% [markdown]
# ## The step leaves the gradient alone
#
# With weight decay $\lambda_1=1/\eta$ nothing of $\gamma^{(0)}$ stays.

# %%
start, eta, slope = sympy.symbols("gamma0 eta dL", positive=True)
assert_identity(start - eta * (slope + start / eta), -eta * slope)

# %% [markdown]
# ## The gradient, coordinate by coordinate
#
# $-\partial L/\partial\gamma_\alpha=F\,E_\beta[E[T\varphi_\alpha]\,E[h\varphi_\alpha]]$ with
# $h=(g-\mathrm{ReLU}(M))1\{M>0\}$. Both factors have the form $(c_0, c_1\beta_i, c_2\beta_i^2,
# \sqrt2c_2\beta_i\beta_j)$, the second with $K_k=E[h\,he_k]$, so moments of the sphere are left; off the
# support $\beta_i=0$, and so is the gradient.

# %%
second, fourth, mixed = theory.sphere_moments()
constant, linear, diagonal, pair = theory.one_step_weights()
assert_identity(constant, c0 * K0)
assert_identity(linear, c1 * K1 * second)
assert_identity(diagonal, c2 * K2 * fourth)
assert_identity(pair, 2 * c2 * K2 * mixed)

# %% [markdown]
# ## The feature and its remainder
#
# $S=\sum\beta_i^2x_i^2$ is in it because the diagonal weighs 3 and a pair 2
# (`mamba_sphere_moments.py`). For $ge=1$ a $z^2$ survives, for even $g$ the 3 to 2.

# %%
feature = theory.test_time_feature()
assert_identity(feature, one_step.stated_feature(1) + one_step.remainder(1))
assert_identity(feature.subs(c1, 0), one_step.stated_feature(2) + one_step.remainder(2))
for ge in (1, 2):
    print(f"ge = {ge}: {one_step.stated_feature(ge)}, and beyond it {one_step.remainder(ge)}")

# %% [markdown]
# ## How much of it is the stated function
#
# For even $g$ the share $R^2$ with $z^2$ depends on $r$ alone.

# %%
assert_identity(1 - one_step.share_even(), 3 * (r - 1) / ((r + 2) * (4 * r + 23)))
for link, gate in (("He3(z)/sqrt(6)", Gate(24, -9)), ("He4(z)/sqrt(24)", Gate(60, -9))):
    step = StageOne(Population(link, gate))
    for size in (8, 32, 128):
        found = one_step_feature(step, size)
        print(f"{link}, r = {size:3d}: R^2 = {float(found.share):.6f}")
        assert 0 < found.share.lower <= found.share.upper < 1

# %% [markdown]
# ## A start that sees nothing
#
# The step needs the rectifier's kink, and the start decides where it is. With $\gamma^{(0)}$ on the linear
# coordinates alone $M>0$ on a half-line from 0. The product $he_3he_1$ is even, so its mean there is half of
# $E[he_3he_1]=0$: $K_1$ holds nothing of the label.

# %%
step = StageOne(Population("He3(z)/sqrt(6)", Gate(24, -9)), LINEAR_ONLY)
factor = step.query_factor(1)
print(f"K_1 = {factor.total}, of the label {factor.label}")
assert_enclosed(factor.label, ("-1e-20", "1e-20"))
