# %% [markdown]
# # The layer's recurrence and its closed form
#
# A selective state-space layer with $A=-I$ stores $h_l = \bar A_l h_{l-1} + \bar B_l z_l$ and reads
# $o_l = h_l W_C z_l$. What of token $j$ is left at the end?

# %%
import sympy

from theoryverify.papers.mamba import recurrence, theory
from theoryverify.papers.mamba.recurrence import L, gate, j, opening, rest
from theoryverify.papers.mamba.theory import u
from theoryverify.testing import TheoremViolation, assert_identity

# %% [markdown]
# ## One token
#
# Zero-order hold with the step $\Delta = \mathrm{softplus}(u)$: the state decays by $1-\sigma(u)$ and
# takes in $\sigma(u)$ times the input.

# %%
decay, drive = theory.zero_order_hold(theory.softplus(u))
assert_identity(decay, 1 - theory.sigmoid())
assert_identity(drive, theory.sigmoid())
print("decay", decay, "drive", drive)

# %% [markdown]
# ## All tokens, by induction
#
# With $s_k = \sigma(u_k)$ and $Q_k = \prod_{i\le k}(1-s_i)$ let
# $G_{j,L} = s_j\prod_{k=j+1}^L(1-s_k) = s_jQ_L/Q_j$. Claim: $h_L = \sum_{j\le L}G_{j,L}\,z_j\otimes
# W_Bz_j$. Both sides are 0 for $L=0$, and a further token multiplies all old coefficients by
# $1-s_{L+1}$ and brings $s_{L+1}$.

# %%
new = L + 1
assert_identity(gate(j, new), (1 - opening(new)) * gate(j, L))
assert_identity(gate(new, new), opening(new))
for count in range(1, 6):
    values = sympy.symbols(f"v1:{count + 1}")
    closed = sum(gate(k, count) * v for k, v in enumerate(values, 1))
    assert_identity(recurrence.stored(count, values), closed)
print("h_2 =", recurrence.stored(2, sympy.symbols("v1:3")))

# %% [markdown]
# ## The gates add up
#
# The query's label slot is empty, so it closes the gate by $1-\sigma(b)$ and adds nothing:
# $\sum_{j\le N}G_{j,N+1} = (1-\sigma(b))(1-Q_N)$.

# %%
query, s = 1 - theory.sigmoid(recurrence.b), opening(L + 1)
total = recurrence.gate_sum()
assert_identity((1 - s) * total + query * s, total.subs(rest, rest * (1 - s)))

# %% [markdown]
# ## What does not hold
#
# Euler's method takes in $\Delta B$: its gate would be $\mathrm{softplus}(u_j)\prod(1-\sigma)$. And a
# product that includes $j$ itself fails at the first token.

# %%
for wrong in (-sympy.log(1 - opening(new)), opening(new) * (1 - opening(new))):
    try:
        assert_identity(wrong, opening(new))
    except TheoremViolation as violation:
        print(str(violation).splitlines()[0])
    else:
        raise AssertionError("a wrong gate went through")

# %% [markdown]
# ## The same in floating point
#
# The literal recurrence, the sum over $G_j$, and the form that never builds $\varphi$.

# %%
import torch

from theoryverify.models.mamba_layer import MambaLayer, embedding_dimension

generator = torch.Generator().manual_seed(0)
X = torch.randn(2, 50, 4, dtype=torch.float64, generator=generator)
gamma = torch.randn(embedding_dimension(4), dtype=torch.float64, generator=generator)
layer, y, x_q = MambaLayer(gamma, rho=4, b=-2), X[..., 0], X[:, :3]
forms = [form(X, y, x_q).detach() for form in (layer.literal, layer.closed, layer)]
print(torch.stack(forms)[:, 0])
assert torch.allclose(forms[0], forms[1], rtol=1e-12) and torch.allclose(forms[0], forms[2], rtol=1e-11)
