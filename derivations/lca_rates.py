# %% [markdown]
# # How fast the optimum approaches its limit
#
# One parameter, $T$ layers: $\alpha^*_T$ minimises $E[W(1-\alpha Z)^{2T}]$ and tends to $2/(a+b)$,
# $[a,b]$ the hull of the support of $Z$. Only the two ends of the law count, so the rate is a matter
# of how much mass $(z-1)P(dz)$ carries there: exponents $k_a, k_b$, masses $g$, slopes $g'$.

# %%
import sympy

from theoryverify import ScaledBeta, TwoPoint, Uniform
from theoryverify.exact.balls import precision
from theoryverify.exact.densities import Ball
from theoryverify.papers.lca import rate_theory
from theoryverify.papers.lca.alpha_star import alpha_star
from theoryverify.papers.lca.derivations.rates import rates
from theoryverify.papers.lca.rate import alpha_expansion, beta_expansion, law_ends, within_for_all
from theoryverify.papers.lca.two import beta_star
from theoryverify.testing import assert_identity

# %% [markdown]
# ## The steps
#
# Each half of $E[(Z-1)|1-\alpha Z|^{2T-1}]$, on either side of $1/\alpha$, is a sum of Beta integrals;
# their balance is solved in powers of $1/2T$.

# %%
for step in rates():
    print(step.text)

# %% [markdown]
# The two coefficients, for every pair of end exponents; with $k_a=k_b$ there is no $\log T$ in $\Lambda$.

# %%
first, second = rate_theory.balance()
c_1, c_2 = rate_theory.relative_terms()
for coefficient in (first, second):
    assert_identity(
        coefficient.subs({rate_theory.c_1: c_1, rate_theory.c_2: c_2}), sympy.Integer(0)
    )
print("Lambda =", rate_theory.log_ratio())
print("c_1 =", c_1)
print("c_2 =", c_2)

# %% [markdown]
# ## Against the enclosures
#
# A smooth density (error $T^{-3}$), inverse square roots, a ball, where $Z$ reaches 1 and $\log T$
# enters, and two atoms.

# %%
for law in (Uniform(2, 5), ScaledBeta(2, 5, "1/2", "1/2"), Ball(4, 5), TwoPoint(2, 5, "1/3")):
    with precision(64):
        ends = law_ends(law)
    print(f"{law}: k = {ends.lower.exponent}, {ends.upper.exponent}")
    for depth in (10**3, 10**5):
        found = alpha_expansion(law, depth, 40)
        with precision(200):
            error = alpha_star(law, depth, 40).enclosure.ball() - found.value.ball()
            print(f"    T = {depth}: {found}; T^3 error {float(error * depth**3):.6f}")

# %% [markdown]
# For polynomial densities the balance is exact, and one ball of a Taylor coefficient decides every
# $T\ge100$ at once: the error is below $0.03/T^3$. A second term 1 % too large is refuted.

# %%
expansion = rate_theory.alpha_expansion()
assert within_for_all(expansion, Uniform(2, 5), 100, "0.03") is True
print(within_for_all(expansion + rate_theory.second_order() / 100, Uniform(2, 5), 100, "0.03"))

# %% [markdown]
# ## Two parameters
#
# $\beta^*_T$ sees the parity of $T$: in its $T^{-2}$ term for a smooth density, already in its first
# term for atoms.

# %%
for law in (Uniform(2, 5), TwoPoint(2, 5, "1/3")):
    for depth in (1000, 1001):
        found = beta_expansion(law, depth)
        with precision(160):
            error = beta_star(law, depth, 10).beta.ball() - found.value.ball()
        print(f"{law}, T = {depth}: {found}; T^2 error {float(error * depth**2):.2e}")
