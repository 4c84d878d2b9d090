# %% [markdown]
# # The generative exponent, with witnesses
#
# $\mathrm{ge}(g)$ is the least $k\ge1$ with $E[He_k(z)\mid g(z)]\not\equiv0$, equivalently the least
# information exponent of $\mathcal T\circ g$ over transformations of the label.

# %%
from theoryverify.exact.even_links import second_moment_pivots
from theoryverify.exact.generative import generative_exponent
from theoryverify.papers.mamba import theory
from theoryverify.papers.mamba.theory import n
from theoryverify.testing import assert_identity

# %% [markdown]
# ## Polynomials: 1 unless even, then 2
#
# $E[g^jz] = \int_0^\infty z\varphi(z)[g(z)^j-g(-z)^j]\,dz$, and for large $j$ (odd if $g$ is odd,
# even otherwise) the bracket has one sign for $z > z_0$ and dominates there. If $g$ is even all odd
# coefficients of $\mathcal T(g)$ vanish, and $E[g^j(z^2-1)] > 0$ for large even $j$.

# %%
for link in ("He3(z)/sqrt(6)", "He4(z)/sqrt(24)", "(He2(z)/sqrt(2)+He3(z)/sqrt(6))/sqrt(2)"):
    found = generative_exponent(link)
    assert found.witness is not None
    print(f"{link}: {found.value}")
    for reason in found.reasons:
        print("   ", reason)

# %% [markdown]
# ## When does $j = 2$ suffice for even links?
#
# $E[g^2He_2]$ is a tridiagonal form in the Hermite coefficients; its pivots
# $d_n = 2n - n(n-1)/d_{n-2}$ are positive up to degree 18, and not at degree 20.

# %%
assert_identity(theory.second_moment_form()[0], 2 * n)
pivots = second_moment_pivots(4, 20)
for degree, value in pivots.items():
    print(f"d_{degree} = {float(value):.6g}")
assert [d for d, value in pivots.items() if value <= 0] == [20]

# %% [markdown]
# ## Beyond polynomials
#
# For $g = z^2e^{-z^2}$ we have $ze^{-z^2/2} = \pm\sqrt g$, so the two branches of
# $E[He_2\mid g]$ cancel: both exponents are 4.

# %%
found = generative_exponent("z**2*exp(-z**2)")
assert found.value == 4
print(*found.reasons, sep="\n")
