# %% [markdown]
# # What N tokens leave of the first ones
#
# The stored sum obeys $S_n = (1-s_n)S_{n-1} + s_nA_n$ with $A = y\,\varphi(x_n)^\top(\gamma\circ
# \varphi(x))$, and the layer puts out $f = (1-\sigma(b))S_N/N$. Given $\beta$ the tokens are
# independent.

# %%
from theoryverify.exact.gate import Gate
from theoryverify.papers.mamba import forgetting
from theoryverify.papers.mamba.forgetting import N, b, first, mu, second
from theoryverify.papers.mamba.population import Population
from theoryverify.papers.mamba.theory import sigmoid
from theoryverify.testing import assert_identity

# %% [markdown]
# ## The mean
#
# A token met $N-j$ later ones, each of which kept $1-\mu$ of it on average. So $E f = F_N\,
# \varphi(x)^\top(\gamma\circ E[T\varphi])$ with a geometric sum in $F_N$.

# %%
factor, scale = forgetting.factor(), 1 - sigmoid(b)
assert_identity(factor.subs(N, 1), scale)
assert_identity((N + 1) * factor.subs(N, N + 1), (1 - mu) * N * factor + scale)
print("F_N =", factor)

# %% [markdown]
# ## Bounds for every N, by induction
#
# $F_N$ decreases; $(1-\sigma(b))(1-\frac{(N-1)\mu}2) \le F_N < (1-\sigma(b))\min(1, \frac1{N\mu})$.
# So forgetting is negligible exactly if $N\mu\to0$ and $b\to-\infty$.

# %%
falls = forgetting.decreasing()
few = forgetting.few_are_forgotten()
much = forgetting.much_is_forgotten()
for theorem in (falls, few, much):
    print(theorem.conclusion, "   by", theorem.steps[-1].split(": ")[-1])
assert_identity(
    factor - factor.subs(N, N + 1), scale * falls.expression / (N * (N + 1) * mu)
)
assert_identity(factor - scale * (1 - (N - 1) * mu / 2), scale * few.expression / (N * mu))
assert_identity(scale / (N * mu) - factor, scale * much.expression / (N * mu))

# %% [markdown]
# ## The variance
#
# With $p=E[1-s]$, $q=E[(1-s)^2]$, $m_1=E[sA]$, $m_2=E[s^2A^2]$, $h=E[s(1-s)A]$ both moments obey
# linear recursions, solved in closed form.

# %%
one, two = forgetting.first_moment(), forgetting.second_moment()
last = {first: one, second: two}
for closed, step in (
    (one, forgetting.first_moment_step()),
    (two, forgetting.second_moment_step()),
):
    assert_identity(closed.subs(N, N + 1), step.subs(last, simultaneous=True))
print("E S_N^2 =", two)

# %% [markdown]
# ## In numbers
#
# Everything enclosed: integrals over $z$ by rigorous quadrature, $E[\kappa^i|z]$ exactly. The best
# bias at a finite length is not $-\infty$: the signal-to-noise of the linear feature of
# $\mathrm{he}_3$ at $\rho=8$, $r=8$ has its maximum inside.

# %%
at = Population("He3(z)/sqrt(6)", Gate(4, -2))
spread = at.spread(("3/5", "-12/25", "16/25"), (2, -1, 1), 20)
print("F_20 =", at.forgetting_factor(20))
print("mean", spread.mean, " variance", spread.variance)
assert spread.mean.overlaps(at.feature("58/25", 20))
for tokens in (64, 256):
    ratios = {}
    for bias in ("-2", "-3", "-7/2", "-9/2", "-6", "-8"):
        population = Population("He3(z)/sqrt(6)", Gate(8, bias))
        ratios[bias] = float(population.signal_to_noise(8, tokens).ratio(1))
    best = max(ratios, key=ratios.get)
    print(f"N = {tokens}:", {k: f"{v:.2e}" for k, v in ratios.items()}, "best", best)
    assert best == {64: "-7/2", 256: "-9/2"}[tokens]
