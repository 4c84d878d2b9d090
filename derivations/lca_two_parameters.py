# %% [markdown]
# # The two-parameter loss in $\beta$ alone
#
# arXiv 2602.04872, Appendix G. Minimising $\ell(\alpha,\beta)$ over $\alpha$ leaves a function of
# $\beta$, whose stationary points are counted over the whole window by a cover.

# %%
import sympy

from theoryverify import Discrete, Uniform
from theoryverify.papers.lca.theory import alpha, beta
from theoryverify.papers.lca.two import beta_star
from theoryverify.papers.lca.window import window_cover
from theoryverify.testing import assert_enclosed, assert_identity

# %% [markdown]
# ## $\ell = E[W] - 2\alpha B + \alpha^2 A$, with $A = E[WS^2]$, $B = E[WS]$

# %%
A, B, mean, m, Q = sympy.symbols("A B EW m Q", positive=True)
loss = mean - 2 * alpha * B + alpha**2 * A
assert_identity(sympy.diff(loss, alpha).subs(alpha, B / A), sympy.Integer(0))
assert_identity(loss, A * (alpha - B / A) ** 2 + mean - B**2 / A)

# %% [markdown]
# ## In the moments $m = E_\mu u$, $Q = E_\mu u^2$ of $u = (1+\beta Z)^T$

# %%
moments = {A: mean * (1 - 2 * m + Q) / beta**2, B: mean * (m - 1) / beta}
assert_identity((mean - B**2 / A).subs(moments), mean * (Q - m**2) / (1 - 2 * m + Q))

# %% [markdown]
# ## One stationary point in the window, and where it is

# %%
for depth in (2, 3, 10, 11):
    cover, found = window_cover(Uniform(2, 5), depth), beta_star(Uniform(2, 5), depth)
    print(f"T = {depth:2d}: {len(cover.cells)} stationary point; beta* = {found.beta}, F = {found.loss}")
    assert len(cover.cells) == 1
assert_enclosed(beta_star(Uniform(2, 5), 2).beta, ("-0.27500000000001", "-0.27499999999999"))

# %% [markdown]
# ## Small depth, rare large Z: the window is empty before T = 22

# %%
rare = Discrete({2: "0.5", 3: "0.499999", 20: "0.000001"})
for depth in (2, 21, 22):
    print(f"T = {depth:2d}: {len(window_cover(rare, depth).cells)} stationary points in the window")
assert not window_cover(rare, 21).cells
assert len(window_cover(rare, 22).cells) == 1
