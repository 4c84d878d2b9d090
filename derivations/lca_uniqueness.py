# %% [markdown]
# # Uniqueness of the minimiser, for every depth and every law
#
# Two parameters, $T \ge 2$ layers: $F_T(\beta) = \min_\alpha \ell(\alpha,\beta)$ has at most one
# stationary point in the window $(-2/b, 0)$, where $[a,b]$ is the hull of the support of $Z$. The
# full text is docs/uniqueness.md; here each step is run.

# %%
from fractions import Fraction

import sympy

from theoryverify import TwoPoint, Uniform
from theoryverify.exact.facts import Argument, ProofError, nonnegative, positive
from theoryverify.exact.roots import algebraic_root
from theoryverify.papers.lca import uniqueness_cases as cases
from theoryverify.papers.lca import uniqueness_lemmas as lemmas
from theoryverify.papers.lca.pair_integral import open_count, pair_integral
from theoryverify.papers.lca.pair_polynomials import certify
from theoryverify.papers.lca.theory import T
from theoryverify.papers.lca.uniqueness import D, P, Q, RECURSIONS, exponent, t, x, y, z, z_prime
from theoryverify.testing import assert_identity

# %% [markdown]
# ## Pairs
#
# With $t=-\beta$, $x=1-tz$, $y=1-tz'$ the derivative $F_T'(\beta)$ is a positive factor times
# $t^3 E[w]\, I(t)$, $I = E E'(z-z')^2 zz' P(x,y)$, $P = h_{T-1}B$. The sums have closed forms:

# %%
for name, left, right in RECURSIONS:
    assert_identity(left, right)
    print(name)

# %% [markdown]
# ## The identity
#
# Along $t$, $dP/dt = -D/t$ with $D=(1-x)P_x+(1-y)P_y$. For the constant $2T-4$, and only for it,

# %%
at = {x: 1 - t * z, y: 1 - t * z_prime}
assert_identity(sympy.diff(P().subs(at), t), (-D() / t).subs(at))
assert_identity(D() + exponent() * P(), Q())
print("D + (2T-4) P = T h_{T-2} B + (T-1) h_{T-1} C   for every T")

# %% [markdown]
# ## Positivity
#
# $Q > 0$ case by case. The kernel `exact.facts` accepts a step only if an identity shows it to be a
# nonnegative combination of earlier facts; powers with the symbolic exponent $T$ included.

# %%
for case in (cases.depth_two, cases.case_a, cases.case_b, cases.case_c, cases.case_d,
             cases.case_e_near, cases.case_e_far, cases.case_f, cases.case_g):
    theorem = case()
    print(f"{theorem.name:18} {len(theorem.steps):2} steps, given {', '.join(map(str, theorem.hypotheses))}")
for line in lemmas.bernoulli().steps:
    print("   ", line)

# %% [markdown]
# A wrong step does not pass: $x^2 > 2y^2$ does not follow from $x > y > 0$.

# %%
argument = Argument(positive(lemmas.y), positive(lemmas.x - lemmas.y))
low, gap = argument.given
try:
    argument.fact(lemmas.x**2 - 2 * lemmas.y**2, lambda g, l: g * (2 * l + g), gap, low)
except ProofError as error:
    print("refused:", str(error)[:60])

# %% [markdown]
# ## Depth by depth, in integers
#
# Independently of that proof, $D + cP \ge 0$ on $[-1,1]^2$ by Bernstein coefficients; a wrong
# constant is refuted at a corner.

# %%
for depth in (2, 3, 8, 21, 40):
    print(depth, certify(depth, 2 * depth - 4))
print(certify(6, Fraction(181, 10)))
print(certify(6, 0))

# %% [markdown]
# ## Two laws
#
# Where the moments are rational, $I$ is an exact polynomial and Sturm's theorem counts its roots.

# %%
for law in (Uniform(2, 5), TwoPoint("3/2", 4, "9/10")):
    for depth in (2, 3, 4, 5):
        integral = pair_integral(law, depth).integral
        count = open_count(integral, Fraction(0), 2 / law.upper)
        root = algebraic_root(integral, Fraction(0), 2 / law.upper)
        print(f"{law}, T = {depth}: {count} root in the window, beta* = -{root.enclosure(20)}")
        assert count == 1
