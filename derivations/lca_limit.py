# %% [markdown]
# # The limit of the minimiser, for every depth at once
#
# arXiv 2602.04872, Theorem F.3. Let $a, b$ be the ends of the support of $Z$ and
# $\alpha^*_T = \arg\min E[W(1-\alpha Z)^{2T}]$.

# %%
import sympy

from theoryverify import Uniform, alpha_star
from theoryverify.exact.integrands import Z
from theoryverify.papers.lca import theory
from theoryverify.papers.lca.limit import limit_bracket
from theoryverify.papers.lca.theory import a, b
from theoryverify.testing import assert_enclosed, assert_identity

# %% [markdown]
# ## At $\alpha^* = 2/(a+b)$ both ends weigh the same
#
# and inside the support $|1-\alpha^*z| \le r$, because the difference of the squares factors.

# %%
r, best = theory.contraction(), theory.alpha_limit()
assert_identity(1 - best * a, r)
assert_identity(best * b - 1, r)
assert_identity(r**2 - (1 - best * Z) ** 2, best**2 * (Z - a) * (b - Z))

# %% [markdown]
# ## The squeeze
#
# So $R_T(\alpha^*_T) \le R_T(\alpha^*) \le E[W]r^{2T}$. On the other side
# $R_T(\alpha) \ge E[W; Z \ge b-\varepsilon](\alpha(b-\varepsilon)-1)^{2T}$, and likewise at $a$.
# Together, with $K = E[W]/E[W;\text{near the end}] \ge 1$,
#
# $$\frac{1-rK_a^{1/2T}}{a+\varepsilon} \le \alpha^*_T \le \frac{1+rK_b^{1/2T}}{b-\varepsilon}.$$
#
# As $T\to\infty$ and then $\varepsilon\to0$ both ends become $\alpha^*$:

# %%
assert_identity((1 + r) / b, best)
assert_identity((1 - r) / a, best)

# %% [markdown]
# ## In numbers

# %%
law = Uniform(2, 5)
for depth in (10, 10**3, 10**6):
    found, bracket = alpha_star(law, depth), limit_bracket(law, depth).enclosure
    print(f"T = {depth:>7}: alpha*_T = {found}, and for all larger T in {bracket}")
    assert_enclosed(found, bracket)
print("limit:", sympy.Rational(2, 7), float(sympy.Rational(2, 7)))
