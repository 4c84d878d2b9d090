"""Checks the theory in machine-learning papers by machine.

>>> from theoryverify import Uniform, alpha_star
>>> print(alpha_star(Uniform(2, 5), depth=10, digits=12))
0.281797528706[11, 40]
"""

from typing import TYPE_CHECKING

from theoryverify._lazy import lazily

if TYPE_CHECKING:
    from theoryverify.claims.paper import Paper
    from theoryverify.exact.densities import ScaledBeta, Uniform
    from theoryverify.exact.exponents import information_exponent
    from theoryverify.exact.generative import generative_exponent
    from theoryverify.exact.hermite import hermite_coefficients
    from theoryverify.exact.laws import Discrete, TwoPoint
    from theoryverify.exact.links import link
    from theoryverify.papers.lca.alpha_star import alpha_star
    from theoryverify.papers.lca.loss import excess_loss

__getattr__ = lazily(
    __name__,
    {
        "Paper": "theoryverify.claims.paper",
        "ScaledBeta": "theoryverify.exact.densities",
        "Uniform": "theoryverify.exact.densities",
        "information_exponent": "theoryverify.exact.exponents",
        "generative_exponent": "theoryverify.exact.generative",
        "hermite_coefficients": "theoryverify.exact.hermite",
        "Discrete": "theoryverify.exact.laws",
        "TwoPoint": "theoryverify.exact.laws",
        "link": "theoryverify.exact.links",
        "alpha_star": "theoryverify.papers.lca.alpha_star",
        "excess_loss": "theoryverify.papers.lca.loss",
    },
)

__all__ = [
    "Discrete",
    "Paper",
    "ScaledBeta",
    "TwoPoint",
    "Uniform",
    "alpha_star",
    "excess_loss",
    "generative_exponent",
    "hermite_coefficients",
    "information_exponent",
    "link",
]
