# %% [markdown]
# # The layer in any dimension, exactly in law
#
# The layer scores a token by $\kappa(x) = \varphi(x)^\top(\gamma\circ\varphi(x_q))$. Its label sees
# only the $r$ coordinates of the support $I$. What do the other $p = d-r$ coordinates do, if
# $\gamma$ is one constant on them and equal on diagonal and pair entries?

# %%
import numpy as np
import sympy

from theoryverify.errors import InputError
from theoryverify.exact.gate import Gate
from theoryverify.papers.mamba.claims.embedding import gaussian_mean
from theoryverify.papers.mamba.claims.law import kernel, p, q2, t, x2
from theoryverify.papers.mamba.population import Population
from theoryverify.simulate.mamba_law import SymmetricGamma, sample_features
from theoryverify.testing import assert_identity

# %% [markdown]
# ## Three numbers
#
# $\sum_i\frac{(x_i^2-1)(q_i^2-1)}2+\sum_{i<j}x_ix_jq_iq_j =
# \frac12(\langle x,q\rangle^2-|x|^2-|q|^2+p)$, by induction on $p$: one more coordinate brings its
# diagonal entry and a pair with every older one. With a support coordinate $i$, mixed pairs add
# $\gamma_i x_iq_i\langle x,q\rangle$, linear ones $\langle x,q\rangle$.

# %%
x, q = sympy.symbols("x q", real=True)
assert_identity(kernel().subs({t: 0, x2: 0, q2: 0, p: 0}), sympy.Integer(0))
assert_identity(
    kernel() + (x**2 - 1) * (q**2 - 1) / 2 + x * q * t,
    kernel(t + x * q, x2 + x**2, q2 + q**2, p + 1),
)

# %% [markdown]
# ## Their law
#
# Given the query, rotate so that $q = |q|e_1$: $\langle x,q\rangle = |q|G$ and
# $|x|^2 = G^2+\chi^2_{p-1}$, independent of the support. So $r+2$ random numbers a token are enough.
# For $p = 2$ the second moment, with every coordinate a normal variable and in the reduced form:

# %%
a, b, g, c = sympy.symbols("a b g c", real=True)
query = (sympy.Rational(2, 3), sympy.Integer(2))
literal = (a**2 - 1) * (query[0] ** 2 - 1) / 2 + (b**2 - 1) * (query[1] ** 2 - 1) / 2
literal += a * b * query[0] * query[1]
square = query[0] ** 2 + query[1] ** 2
reduced = kernel(sympy.sqrt(square) * g, g**2 + c**2, square, sympy.Integer(2))  # χ²_1 = c²
for power in (1, 2, 3):
    left = gaussian_mean(sympy.expand(literal**power), (a, b))
    right = gaussian_mean(sympy.expand(reduced**power), (g, c))
    print(f"E kernel^{power} = {left}")
    assert_identity(left, right)

# %% [markdown]
# ## Where it stops
#
# With diagonal and pairs in the ratio 3:2 off the support the kernel is not a function of the three
# numbers, and the sampler refuses. On the support any $\gamma$ will do.

# %%
broken = np.array([1.0, 1, 1, 1, 3, 3, 3, 2, 2, 2])
try:
    SymmetricGamma.of_vector(broken, [0])
except InputError as error:
    print(error)
else:
    raise AssertionError("a γ without the symmetry went through")
SymmetricGamma.of_vector(broken, [0, 1, 2])

# %% [markdown]
# ## A million dimensions
#
# The mean over tasks and queries is $F_Nc_0$, whatever $d$.

# %%
gate, link = Gate(4, -2), "He2(z)/sqrt(2)"
at = Population(link, gate)
gamma = SymmetricGamma.two_values(10**6, 2, outside=1.0)
draws = sample_features(gamma, link, gate, 50, 20_000, rng=1).feature[:, 0]
exact = float(at.forgetting_factor(50)) * float(at.coefficient(0))
error = draws.std() / draws.size**0.5
print(f"mean {draws.mean():.0f} +- {error:.0f}, exactly {exact:.5f}: a query of d = 10^6 is noise")
ideal = SymmetricGamma.two_values(10**6, 2, outside=0.0)
draws = sample_features(ideal, link, gate, 50, 20_000, rng=2).feature[:, 0]
error = draws.std() / draws.size**0.5
print(f"indicator: mean {draws.mean():.5f} +- {error:.5f}, exactly {exact:.5f}")
assert abs(draws.mean() - exact) <= 6 * error
