"""Checks the theory in machine-learning papers by machine.

>>> from theoryverify import Uniform, alpha_star
>>> print(alpha_star(Uniform(2, 5), depth=10, digits=12))
0.281797528706[17, 32]
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
    from theoryverify.papers.lca.flow import gradient_flow
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
        "gradient_flow": "theoryverify.papers.lca.flow",
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
    "gradient_flow",
    "hermite_coefficients",
    "information_exponent",
    "link",
]
