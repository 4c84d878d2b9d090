# %% [markdown]
# # Untied layers: the optimum, its rate, its mean step
#
# Each layer has a step $\alpha_t$ and a mixing weight $\beta_t$ of its own. How low can the excess risk
# $E[W(1-g_T)^2]$ go, $g_T(Z)$ the gain of the stack, and what do the steps look like?

# %%
import sympy

from theoryverify import Discrete, Uniform, alpha_star
from theoryverify.exact.balls import Enclosure, precision
from theoryverify.papers.lca import theory
from theoryverify.papers.lca.theory import a, alpha, b
from theoryverify.papers.lca.untied import chebyshev_value, mean_limit, untied_optimum
from theoryverify.papers.lca.weight_moments import weight_moments
from theoryverify.testing import assert_enclosed, assert_identity

# %% [markdown]
# ## A stack is a polynomial
#
# With $\beta_t=-\alpha_t$ a layer multiplies $1-g$ by $1-\alpha_tZ$, so $\pi=1-g_T$ has degree $T$,
# $\pi(0)=1$ and the zeros $1/\alpha_t$. Whatever the $\beta_t$, the degree is at most $T$ and $\pi(0)=1$.

# %%
g, z = sympy.symbols("g z", real=True)
assert_identity(1 - ((1 - alpha * z) * g + alpha * z), (1 - alpha * z) * (1 - g))

# %% [markdown]
# ## The best one is orthogonal
#
# Another polynomial with the value 1 at 0 is $\pi+Zq$, and
# $E[W(\pi+Zq)^2]=E[W\pi^2]+2E[WZ\pi q]+E[W(Zq)^2]$: the minimum is where $\pi$ is orthogonal to all lower
# degrees under $WZ\,dP$. Its zeros are then simple and inside the support's hull: the steps exist.

# %%
pi, q, W = sympy.symbols("pi q W")
assert_identity(W * (pi + z * q) ** 2, W * pi**2 + 2 * W * z * pi * q + W * (z * q) ** 2)
law, depth = Uniform(2, 5), 4
best = untied_optimum(law, depth)
moments = weight_moments(law, 2 * depth)
assert best.polynomial is not None
assert moments is not None
for k in range(depth):
    inner = sum(c * moments[j + k] for j, c in enumerate(best.polynomial))
    print(f"E[WZ pi Z^{k}] = {inner}")
    assert inner == 0
print("steps", *best.steps, sep="\n    ")
assert untied_optimum(Discrete({2: "1/2", 5: "1/2"}), 2).excess.upper == 0  # a step an atom

# %% [markdown]
# ## The rate
#
# With $x_0=(b+a)/(b-a)$ the Chebyshev polynomial $T_T$, moved to $[a,b]$ and divided by $T_T(x_0)$, is one
# candidate, so $\min E[W\pi^2]\le E[W]/T_T(x_0)^2\le4E[W]\rho^{2T}$ with
# $\rho=(\sqrt b-\sqrt a)/(\sqrt b+\sqrt a)$. Tied layers reach $((b-a)/(b+a))^{2T}$ only.

# %%
low, high = sympy.symbols("sqrt_a sqrt_b", positive=True)
rho = (high - low) / (high + low)
assert_identity(rho + 1 / rho, 2 * (high**2 + low**2) / (high**2 - low**2))
with precision(200):
    share = Enclosure.of(law.expect(theory.signal_share()))
for depth in (1, 4, 16):
    excess = untied_optimum(law, depth).excess
    bound = share.upper / chebyshev_value(law, depth) ** 2
    print(f"T = {depth:2d}: E[W pi^2] = {excess}, at most {float(bound):.3e}")
    assert_enclosed(excess, (0, bound))

# %% [markdown]
# ## The mean step
#
# It is $-\pi'(0)/T$, the mean of $1/z$ over the zeros, which fill $[a,b]$ by the arcsine law. With
# $u=\tan(\theta/2)$ that mean is an integral of a rational function, and comes to $1/\sqrt{ab}$.

# %%
u = sympy.Symbol("u", positive=True)
place = (a + b) / 2 - (b - a) / 2 * (1 - u**2) / (1 + u**2)
assert_identity(1 / place * 2 / (1 + u**2), 2 / (a + b * u**2))
primitive = 2 / (low * high) * sympy.atan(u * high / low)
assert_identity(sympy.diff(primitive, u), 2 / (low**2 + high**2 * u**2))
print("limit", mean_limit(law), "and of tied layers", theory.alpha_limit())
for depth in (1, 4, 16, 64):
    step = untied_optimum(law, depth, 10).mean_step
    print(f"T = {depth:2d}: mean step {step}, tied layers {alpha_star(law, depth, 10)}")
