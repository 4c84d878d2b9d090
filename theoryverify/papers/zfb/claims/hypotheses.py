"""What the statements assume of the data and of the start."""

from __future__ import annotations

from theoryverify.claims import Hypothesis

GAUSSIAN = Hypothesis("Gaussian data", r"x_i, x_q \sim N(0,\Lambda),\ w \sim N(0,I_d)")
POSITIVE = Hypothesis("positive definite covariance", r"\Lambda \succ 0")
START = Hypothesis(
    "initialisation",
    r"W^{PV}(0)=\sigma\,\mathrm{diag}(0,1),\ W^{KQ}(0)=\sigma\,\mathrm{diag}(\Theta\Theta^\top,0),"
    r"\ \|\Theta\Theta^\top\|_F=1,\ \Lambda\Theta\neq 0",
)
SMALL = Hypothesis("small initialisation", r"\sigma^2\|\Gamma\|_{op}\sqrt d<2")
