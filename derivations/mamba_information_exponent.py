# %% [markdown]
# # The information exponent, without a threshold
#
# $\mathrm{ie}(g) = \min\{k\ge1: E[g(z)He_k(z)]\neq0\}$. A coefficient counts as zero for a reason
# (parity, exact arithmetic, an identity) and as nonzero where a ball excludes zero.

# %%
from theoryverify.exact.exponents import information_exponent
from theoryverify.papers.mamba import theory
from theoryverify.papers.mamba.theory import n
from theoryverify.testing import assert_identity

# %% [markdown]
# ## Some links, some in disguise

# %%
LINKS = {
    "He3(z)/sqrt(6)": 3,
    "(z+1)**2 - 2*z - 1": 2,
    "sin(z) - exp(-1/2)*z": 3,
    "z**2*exp(-z**2)": 4,
    "relu(z) - z/2": 2,
}
for link, expected in LINKS.items():
    found = information_exponent(link)
    assert found.value == expected
    print(f"{link}: {found.value}")
    for c in found.coefficients:
        print(f"    c_{c.k} = {c.enclosure}   ({c.reason})")

# %% [markdown]
# ## Why no threshold
#
# $He_4 - 10^{-12}He_1$ has exponent 1, however small the coefficient.

# %%
assert information_exponent("He4(z) - 1e-12*He1(z)").value == 1
print("He4 - 1e-12 He1:", information_exponent("He4(z) - 1e-12*He1(z)").value)

# %% [markdown]
# ## Squaring the label
#
# For $g = he_n$ the square sees $He_2$ with the coefficient $2n$: an exponent of 2 at most.

# %%
assert_identity(theory.second_moment_form()[0], 2 * n)
assert information_exponent("He4(z)**2").value == 2
