# %% [markdown]
# # What one gradient step sees through the rectifier
#
# With $M(z) > 0$ exactly for $|z| > t$ the query factors are
# $J_k = E[he_n(z)he_k(z); |z|>t]$, and $(He_{k-1}\varphi)' = -He_k\varphi$ makes them boundary terms.

# %%
import sympy

from theoryverify.exact.balls import Enclosure, precision
from theoryverify.papers.mamba import jump, theory
from theoryverify.papers.mamba.theory import n
from theoryverify.testing import assert_identity

# %% [markdown]
# ## The products with $He_1$ and $He_2$
#
# $zHe_n = He_{n+1} + nHe_{n-1}$ and $He_2He_n = He_{n+2} + 2nHe_n + n(n-1)He_{n-2}$.

# %%
square = theory.raising(theory.raising({0: sympy.Integer(1)}))
assert_identity(square[0] - 1, 2 * n)
assert_identity(square[-2], n * (n - 1))

# %% [markdown]
# ## Closed forms
#
# $J_1 = 2[He_n+nHe_{n-2}](t)\varphi(t)/\sqrt{n!}$ for odd $n\ge3$ and
# $J_2 = \sqrt2[He_{n+1}+2nHe_{n-1}+n(n-1)He_{n-3}](t)\varphi(t)/\sqrt{n!}$ for even $n\ge4$, here at
# $t^2 = 1-1/n$.

# %%
for order in range(3, 13):
    t = jump.threshold(order)
    integrated = jump.query_factor(order, t)
    closed = jump.boundary_term(jump.jump_polynomial(order), t)
    assert not (integrated - closed).terms
    with precision(80):
        value = Enclosure.of(closed.number().real)
    print(f"n = {order:2d}: J_{1 if order % 2 else 2} = {value} = {closed}")
