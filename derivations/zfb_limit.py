# %% [markdown]
# # Where gradient flow takes one layer of linear attention
#
# arXiv 2306.09927, Theorem 4.1. Prompts of $N$ examples $x_i\sim N(0,\Lambda)$,
# $y_i=\langle w,x_i\rangle$; the layer predicts $\hat y_q=u\,w^\top\hat\Sigma Vx_q$.

# %%
import numpy as np
import sympy

from theoryverify.papers.zfb import theory
from theoryverify.papers.zfb.flow import CASES, flow_end
from theoryverify.papers.zfb.theory import N, V, delta, lam, lam_j, u
from theoryverify.testing import assert_identity

# %% [markdown]
# ## One matrix carries the finite length
#
# $E[\hat\Sigma^2]=\Gamma\Lambda$ with $\Gamma=(1+1/N)\Lambda+\mathrm{tr}(\Lambda)/N$, by pairings.

# %%
g = theory.gamma()
assert_identity(theory.second_moment(), g * lam)

# %% [markdown]
# ## The loss is a sum over entries, and depends on $uV$ alone
#
# So $u^2-\|V\|^2$ is conserved, and completing the square shows the minima: $uV=\Gamma^{-1}$.

# %%
entry = theory.loss_entry()
assert_identity(u * sympy.diff(entry, u), V * sympy.diff(entry, V))
diagonal = entry.subs({delta: 1, lam_j: lam})
assert_identity(diagonal + lam**2 / (2 * g), g * lam**2 * (u * V - 1 / g) ** 2 / 2)

# %% [markdown]
# ## No condition on the size of the start
#
# $s=\mathrm{tr}(\Lambda^2V)$ has $s'\ge u(c-Kus)$, and $u'\ge s-ku^3$: the region
# $\{u\ge u_0,\ s\ge s_0\}$ is never left, so $u$ stays away from zero for every $\sigma>0$.

# %%
for case in CASES:
    u_end, V_end, _ = flow_end(case)
    far = np.abs(u_end * V_end - np.linalg.inv(case.gamma)).max()
    print(f"{case}: sigma^2 |Gamma| sqrt(d) = {case.condition:9.3g}, |uV - 1/Gamma| = {far:.1e}")
    assert far < 1e-8
