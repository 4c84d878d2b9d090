# %% [markdown]
# # The joint law of a prompt
#
# arXiv 2602.04872, Section 3 and Lemma C.1. A prompt has one task $(m, \zeta)$ and samples
# $x = u m + \mu$, $y = \zeta u$ with $u \sim N(0,1)$ and $\mu \sim N(0, I)$. Every matrix below is
# of the form $p I + q\,mm^\top$; such matrices multiply among themselves, so two numbers carry a
# matrix of any dimension.

# %%
import sympy

from theoryverify.exact.integrands import Z
from theoryverify.papers.lca import theory
from theoryverify.papers.lca.theory import M, Setting, zeta
from theoryverify.testing import assert_identity


def show(name, formula):
    print(f"{name:28s} {formula}")


# %% [markdown]
# ## Second moments: (3.2), (3.4)

# %%
sigma = theory.covariance_x()
show("Sigma_x = p I + q mm'", (sigma.iso, sigma.spike))
show("E[x y] = c m", theory.covariance_xy())
show("E[y^2]", theory.variance_y())
assert_identity(sigma.on_spike, 1 + M)

# %% [markdown]
# ## Regression: (3.3)
#
# $w = \Sigma_x^{-1}E[xy]$. The inverse is Sherman-Morrison's; it is checked, not trusted.

# %%
product = sigma @ sigma.inverse()
assert_identity(product.iso, sympy.Integer(1))
assert_identity(product.spike, sympy.Integer(0))
show("w = omega m", theory.regression_weight())
show("Var(y|x)", theory.residual_variance())
assert_identity(theory.regression_weight(), zeta / (1 + M))
assert_identity(theory.residual_variance(), zeta**2 / (1 + M))

# %% [markdown]
# ## In terms of Z, the eigenvalue of $\Sigma_x$ on $m$

# %%
show("W = E<w,x>^2/zeta^2", theory.signal_share())
show("Var(y|x)/zeta^2", theory.noise_share())
assert_identity(theory.signal_share(), (Z - 1) / Z)
assert_identity(theory.signal_share() + theory.noise_share(), sympy.Integer(1))

# %% [markdown]
# ## What if the variance of u were v?
#
# Nothing else is edited: the setting is an argument, and W follows.

# %%
v = sympy.Symbol("v", positive=True)
show("W for Var(u) = v", theory.signal_share(Setting(variance_u=v)))
assert_identity(theory.signal_share(Setting(variance_u=v)), v * (Z - 1) / Z)
