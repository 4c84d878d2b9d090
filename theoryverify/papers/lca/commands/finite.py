"""The verb ``risk``. Only argparse is imported until it runs."""

from __future__ import annotations

import argparse
import math
from typing import TYPE_CHECKING, Any

from theoryverify.claims.paper import Command, Outcome
from theoryverify.seeds import MOST_SEED

if TYPE_CHECKING:
    from theoryverify.exact.laws import Law
    from theoryverify.papers.lca.risk import Risk

_EXACT_SCALAR_DEPTH = 200


def _configure_risk(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--law", required=True, metavar="LAW", help="law of Z = 1+|m|², such as 'uniform(2,5)'"
    )
    parser.add_argument("--dim", required=True, metavar="d", help="dimension of x")
    parser.add_argument("--context", required=True, metavar="L", help="examples in the prompt")
    parser.add_argument("--depth", required=True, metavar="T", help="number of layers, at least 1")
    parser.add_argument("--alpha", required=True, metavar="A", help="exact number, such as 2/7")
    parser.add_argument("--beta", metavar="B", help="exact number; left out, beta = -alpha")
    parser.add_argument("--prompts", required=True, metavar="n", help="prompts to draw")
    parser.add_argument("--seed", default="0", metavar="N", help="seed (0)")


def risk(args: argparse.Namespace) -> Outcome:
    """Estimate the finite-context risk; add exact values where they are known."""
    from theoryverify.exact.law_grammar import parse_law
    from theoryverify.exact.rationals import exact_text, positive_integer, rational
    from theoryverify.papers.lca.risk import MAX_PROMPTS, finite_context_risk
    from theoryverify.simulate.exact_law import MAX_DEPTH, MAX_SIZE

    law = parse_law(args.law)
    sizes = {
        "dim": positive_integer(args.dim, "dim", most=MAX_SIZE),
        "context": positive_integer(args.context, "context", most=MAX_SIZE),
        "depth": positive_integer(args.depth, "depth", most=MAX_DEPTH),
    }
    prompts = positive_integer(args.prompts, "prompts", least=2, most=MAX_PROMPTS)
    seed = positive_integer(args.seed, "seed", least=0, most=MOST_SEED)
    alpha = rational(args.alpha, "alpha")
    beta = None if args.beta is None else rational(args.beta, "beta")
    found = finite_context_risk(law, **sizes, alpha=alpha, beta=beta, prompts=prompts, rng=seed)
    exact = _exact(law, sizes, alpha, beta)
    document: dict[str, Any] = {
        "law": repr(law),
        **sizes,
        "alpha": exact_text(alpha),
        "beta": exact_text(-alpha if beta is None else beta),
        "seed": seed,
        "mean": _number(found.mean),
        "interval": _interval(found, found.lower, found.upper),
        "bayes_risk": float(found.bayes_risk),
        "prompts": prompts,
        "status": found.status,
        "warnings": list(found.warnings),
        "excess": {
            "mean": _number(found.excess),
            "interval": _interval(found, found.excess_lower, found.excess_upper),
            "infinite_context": _number(float(found.infinite_context)),
        },
        "exact": exact,
    }
    return Outcome(document, _text(document))


def _number(value: float) -> float | None:
    """JSON has no NaN and no infinity."""
    return value if math.isfinite(value) else None


def _interval(found: Risk, lower: float, upper: float) -> dict[str, float | None]:
    return {"lower": _number(lower), "upper": _number(upper), "confidence": found.confidence}


def _exact(law: Law, sizes: dict[str, int], alpha: Any, beta: Any) -> dict[str, Any] | None:
    """The expected excess risk where it is known exactly, or a bound from below."""
    from theoryverify.papers.lca.finite import MAX_EXACT_DEPTH, finite_risk

    depth = sizes["depth"]
    if depth <= MAX_EXACT_DEPTH:
        _, excess = finite_risk(law, **sizes, alpha=alpha, beta=beta, digits=15)
        return {"excess": excess.to_json(16), "how": "Wishart moments"}
    if depth > _EXACT_SCALAR_DEPTH:
        return None
    if sizes["dim"] == 1:
        from theoryverify.papers.lca.finite_scalar import scalar_moments

        moments = scalar_moments(
            law, context=sizes["context"], depth=depth, alpha=alpha, beta=beta, digits=15
        )
        return {
            "excess": moments.mean.to_json(16),
            "bias": moments.bias.to_json(16),
            "noise": moments.noise.to_json(16),
            "relative_deviation": moments.relative_deviation,
            "bias_relative_deviation": moments.bias_relative_deviation,
            "how": "Gamma moments",
        }
    if beta is not None and beta != -alpha:
        return None
    from theoryverify.papers.lca.explosion import excess_at_least

    least = excess_at_least(law, context=sizes["context"], depth=depth, alpha=alpha)
    return {"excess_at_least": least.to_json(16), "how": "Jensen's inequality, for every d"}


def _text(document: dict[str, Any]) -> str:
    def shown(value: float | None) -> str:
        return "overflow" if value is None else f"{value:.10g}"

    interval, excess, exact = document["interval"], document["excess"], document["exact"] or {}
    lines = [
        f"law          Z ~ {document['law']}; d = {document['dim']}, L = {document['context']}, "
        f"T = {document['depth']}, alpha = {document['alpha']}, beta = {document['beta']}",
        f"risk         {shown(document['mean'])}   {100 * interval['confidence']:g}% interval "
        f"[{shown(interval['lower'])}, {shown(interval['upper'])}], in units of E[zeta²]",
        f"Bayes risk   {shown(document['bayes_risk'])}",
        f"excess risk  {shown(excess['mean'])}   interval [{shown(excess['interval']['lower'])}, "
        f"{shown(excess['interval']['upper'])}]; at L = ∞ {shown(excess['infinite_context'])}",
    ]
    for key, name, joined in (
        ("excess", "exactly", "is"),
        ("excess_at_least", "lower bound", "of"),
    ):
        if key in exact:
            lines.append(
                f"{name:12s} [{exact[key]['lower']}, {exact[key]['upper']}] {joined} the expected "
                f"excess risk ({exact['how']})"
            )
    lines.append(f"status       {document['status']}, {document['prompts']} prompts")
    lines += [f"warning      {warning}" for warning in document["warnings"]]
    return "\n".join(lines)


commands = (
    Command("risk", "estimate the risk at finite context, for any d and L", _configure_risk, risk),
)
