# %% [markdown]
# # Simulating a prompt of any size, exactly
#
# A linear cross-attention stack sees its prompt $X = mu^\top + G \in R^{d\times L}$, $y = \zeta u$,
# only through $\hat\Sigma = XX^\top/L$ and $Xy/L$ (arXiv 2602.04872, Lemma E.2). With $\zeta = 1$,
# $\hat w = P_T(\hat\Sigma)\,Xu/L$. This script shows why $O(T)$ random numbers are enough for any
# $d$ and $L$, and checks the reduction against the literal model in exact arithmetic.

# %%
from fractions import Fraction

import numpy as np
import sympy

from theoryverify.exact.integrands import Z
from theoryverify.papers.lca import finite, theory
from theoryverify.papers.lca.finite import L, d
from theoryverify.papers.lca.theory import M, alpha
from theoryverify.papers.lca.wick import literal_moments
from theoryverify.simulate.exact_law import sample_chain, sample_factor
from theoryverify.testing import assert_identity

# %% [markdown]
# ## The query averaged out
#
# A fresh query has $y_q = u_q$ and $x_q = u_q m + \mu_q$, so given the prompt the risk is
# $(1-\hat w\cdot m)^2 + |\hat w|^2$. With $w = m/Z$ it is the Bayes risk $1/Z$ plus
# $|\hat w-w|^2 + ((\hat w-w)\cdot m)^2$.

# %%
p, square = sympy.symbols("p s_w", real=True)  # w.m and |w|^2
excess = square - 2 * p / Z + (Z - 1) / Z**2 + (p - (Z - 1) / Z) ** 2
assert_identity((1 - p) ** 2 + square, 1 / Z + excess)

# %% [markdown]
# ## The chain
#
# Rotate the examples so that $\hat u = u/|u|$ comes first. Then $X$ has the columns $|u|m + g$ and
# $G'$, with $g$ and $G'$ standard normal and independent of $|u| \sim \chi_L$. Golub-Kahan from
# $v_1 = \hat u$: $Xv_j = b_{j-1}q_{j-1} + a_jq_j$ and $X^\top q_j = a_jv_j + b_jv_{j+1}$.
#
# * $a_1q_1 = |u|m + g$. Along $m$ it has $|u||m| + n_1$, across it $\chi_{d-1}$.
# * $q_1$ is independent of $G'$, so $b_1 = |G'^\top q_1| \sim \chi_{L-1}$, and the image of $v_2$
#   across $q_1$ is a fresh $N(0, I_{d-1})$. Each further step loses one dimension on each side.
# * Of a fresh vector, the component along what is left of $m$ is $n_j \sim N(0,1)$, the rest
#   $e_j \sim \chi_{d-j}$; so $m\cdot q_j = r n_j/a_j$ and $r^2$ shrinks by $e_j^2/a_j^2$.

# %%
a_j, a_next, b_j, b_before = sympy.symbols("a_j a_{j+1} b_j b_{j-1}", positive=True)
q_before, q_j, q_next = sympy.symbols("q_{j-1} q_j q_{j+1}")
image = a_j * (b_before * q_before + a_j * q_j) + b_j * (b_j * q_j + a_next * q_next)
assert_identity(
    image, a_j * b_before * q_before + (a_j**2 + b_j**2) * q_j + b_j * a_next * q_next
)
r, n_j, e_j = sympy.symbols("r n_j e_j", positive=True)
assert_identity(
    r**2 - r**2 * n_j**2 / (n_j**2 + e_j**2), r**2 * e_j**2 / (n_j**2 + e_j**2)
)

# %% [markdown]
# ## Exact risks
#
# In these variables $\hat w\cdot m$ and $|\hat w|^2$ are polynomials, so their means are polynomials
# in $d$, $1/L$ and $|m|^2$.

# %%
one = finite.prompt_moments(1)
assert_identity(one.along, alpha * M)
assert_identity(one.square, alpha**2 * (M * (L + 2) + d) / L)
assert_identity(one.risk.subs(M, Z - 1) - theory.noise_share(), finite.first_depth_excess())
print("T = 1, excess:", finite.first_depth_excess())
print("T = 2, E[w.m]:", finite.prompt_moments(2).along)

# %% [markdown]
# ## Against the literal model
#
# Every entry of $u$ and $G$ a symbol, the layers run on polynomials, Gaussian moments term by term:
# no rotation, no chain. The numbers agree exactly, also where $d \le T$ or $L \le T$.

# %%
for m, context, depth in (
    ((Fraction(2, 3),), 2, 3),
    ((Fraction(1, 2), Fraction(2, 3)), 1, 3),
    ((Fraction(1, 2), Fraction(2, 3)), 3, 2),
):
    at = finite.prompt_point(len(m), context, "2/7", "-1/5")
    size = sum(entry**2 for entry in m)
    ours = finite.prompt_moments_at(depth, at).risk.subs(
        M, sympy.Rational(size.numerator, size.denominator)
    )
    literal = literal_moments(m, context, Fraction(2, 7), Fraction(-1, 5), depth).risk
    print(f"d = {len(m)}, L = {context}, T = {depth}: E risk = {literal}")
    assert ours == sympy.Rational(literal.numerator, literal.denominator)

# %% [markdown]
# ## Both samplers
#
# Bartlett's factor orthogonalises the rows of $(u; G)$ instead: $d^2/2$ numbers a prompt. Both
# samplers have the mean that was just derived.

# %%
z, size, layers = np.full(100_000, 3.0), 5, 2
at = finite.prompt_point(size, 40, "2/7", None)
exact = float(finite.prompt_moments_at(layers, at).risk.subs(M, 2))
for name, draw in (
    ("chain", sample_chain(z, size, 40, layers, rng=1)),
    ("factor", sample_factor(z, size, 40, rng=2)),
):
    risk = draw.slopes(2 / 7, -2 / 7, layers).risk
    error = risk.std() / risk.size**0.5
    print(f"{name:7s} {risk.mean():.5f} +- {error:.5f}, exactly {exact:.5f}")
    assert abs(risk.mean() - exact) <= 6 * error
