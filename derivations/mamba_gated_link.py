# %% [markdown]
# # The gate lowers the exponent, and where it does not
#
# The label is multiplied by $\sigma(y/\rho+b)$. For which $\rho, b$ is
# $\mathrm{ie}(g\,\sigma(g/\rho+b)) = \mathrm{ge}(g)$?

# %%
from fractions import Fraction

from theoryverify.exact.gate import Gate
from theoryverify.exact.gate_law import gate_law
from theoryverify.exact.gate_zeros import zero_set
from theoryverify.papers.mamba import theory
from theoryverify.papers.mamba.theory import y
from theoryverify.testing import assert_identity

H3 = "He3(z)/sqrt(6)"

# %% [markdown]
# ## The law for large $\rho$
#
# $c_p \sim \frac{\sigma^{(k)}(b)}{k!\rho^k}E[g^{k+1}he_p]$, with Lagrange's remainder as its bound.

# %%
law = gate_law(H3, 1, -3)
start = law.valid_from("1/10")
print(f"{law}, within 10% for every rho >= {start}")
for rho in (10, 20, 50, 100, 200):
    exact = Gate(rho, -3).coefficient(H3, 1, digits=12).enclosure
    print(f"rho = {rho:3d}: c_1 = {exact}, law {float(law.leading(rho)):.6e}, "
          f"ratio {float(exact) / float(law.leading(rho)):.5f}")

# %% [markdown]
# ## $b = 0$ and odd links
#
# $\sigma(u)-\frac12$ is odd, so the odd part of $g\,\sigma(g/\rho)$ is $g/2$ and $c_1$ stays zero.

# %%
assert_identity(theory.odd_part_of_gated(), y / 2)
flat = Gate(4, 0).information_exponent(H3)
assert flat.value == 2
for c in flat.coefficients:
    print(f"c_{c.k} = {c.enclosure}   ({c.reason})")

# %% [markdown]
# ## Isolated zeros
#
# Signs of $c_1(\rho, b)$ for a mixture: between certified opposite signs lies a zero, where the
# claim fails.

# %%
mixture = "-z/4 + sqrt(15)/4*(He2(z)/sqrt(2)+He3(z)/sqrt(6))/sqrt(2)"
found = zero_set(mixture, 1, [2, 4, 6, 8], [Fraction(-i, 4) for i in range(17)], refine=4)
for crossing in found.crossings:
    print(f"rho = {crossing.rho}: c_1 = 0 for some b in "
          f"[{float(crossing.b_lower)}, {float(crossing.b_upper)}]")
assert len(found.crossings) == 4
