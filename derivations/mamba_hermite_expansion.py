# %% [markdown]
# # Hermite expansions, exactly
#
# $He_k$ are the monic probabilists' Hermite polynomials, $he_k = He_k/\sqrt{k!}$, and
# $c_k = E[g(z)\,he_k(z)]$ for $z\sim N(0,1)$.

# %%
from theoryverify.exact.hermite import hermite_coefficients, raw_coefficients
from theoryverify.exact.surds import Surds, Z, hermite, root_factorial
from theoryverify.papers.mamba import theory
from theoryverify.papers.mamba.theory import n
from theoryverify.testing import assert_identity

# %% [markdown]
# ## The recurrence $zHe_k = He_{k+1} + kHe_{k-1}$
#
# Applied twice it gives, for every $n$, $E[he_n^2He_2] = 2n$.

# %%
assert all(hermite(k + 1) == Z * hermite(k) - Surds.of(k) * hermite(k - 1) for k in range(1, 50))
diagonal, beside = theory.second_moment_form()
assert_identity(diagonal, 2 * n)
assert_identity(beside**2, (n + 1) * (n + 2))

# %% [markdown]
# ## Coefficients without integrals
#
# By parts $E[g\,He_k] = E[g^{(k)}] = \sum_m g_{k+2m}(k+2m)!/(2^mm!)$: one product of polynomials,
# in rational arithmetic, at any degree.

# %%
for norm in ("raw", "series", "orthonormal"):
    print(f"{norm:12s}", [c.exact for c in hermite_coefficients("z**4", 5, norm=norm)])
raw = raw_coefficients(hermite(400))
assert raw[400] == root_factorial(400) ** 2
assert all(raw[k].is_zero for k in range(400))

# %% [markdown]
# ## Links that are not polynomials
#
# get a closed form where there is one, and otherwise an enclosure.

# %%
for link in ("relu(z)", "sin(z)", "tanh(z)"):
    for c in hermite_coefficients(link, 4, digits=20):
        print(f"{link:8s} c_{c.k} = {c.enclosure} {c.exact or ''} ({c.reason})")
