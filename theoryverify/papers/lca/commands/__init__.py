"""The verbs ``alpha-star`` and ``loss``. Only argparse is imported until one of them runs."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from theoryverify.claims.paper import Command, Outcome
from theoryverify.papers.lca.commands import finite, flow

if TYPE_CHECKING:
    from theoryverify.exact.laws import Law


def _law_and_depth(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--law",
        required=True,
        metavar="LAW",
        help="law of Z = 1+|m|², such as 'uniform(2,5)' or 'two-point(2,5,1/3)'",
    )
    parser.add_argument("--depth", required=True, metavar="T", help="number of layers, at least 1")
    parser.add_argument("--digits", default="30", metavar="D", help="digits to enclose (30)")


def _read(args: argparse.Namespace) -> tuple[Law, int, int]:
    from theoryverify.exact.law_grammar import parse_law
    from theoryverify.exact.rationals import positive_integer
    from theoryverify.papers.lca import assumptions
    from theoryverify.papers.lca.alpha_star import MAX_DEPTH, MAX_DIGITS

    depth = positive_integer(args.depth, "depth", most=MAX_DEPTH)
    digits = positive_integer(args.digits, "digits", most=MAX_DIGITS)
    return assumptions.require(parse_law(args.law)), depth, digits


def alpha_star(args: argparse.Namespace) -> Outcome:
    """Enclose α*_T, and say how far it is from its limit."""
    from theoryverify.exact.balls import Enclosure, ball, bits_for, precision
    from theoryverify.exact.rationals import decimal, exact_text, shown
    from theoryverify.papers.lca.alpha_star import alpha_star as enclose
    from theoryverify.papers.lca.limit import bracket_from_here_on
    from theoryverify.papers.lca.rate import Rate

    law, depth, digits = _read(args)
    found = enclose(law, depth, digits)
    with precision(bits_for(digits) + 32):
        gap = Enclosure.of(found.enclosure.ball() - ball(found.limit))
    bracket = bracket_from_here_on(law, depth)
    rate = Rate.of(law, depth, digits)
    document: dict[str, Any] = {
        "law": repr(law),
        "depth": depth,
        "alpha_star": found.enclosure.to_json(digits + 1),
        "limit": {"exact": exact_text(found.limit)},
        "gap": gap.to_json(),
        "rate": {
            "order": rate.order,
            "contraction": exact_text(found.contraction),
            "bracket_from_here_on": bracket.to_json(),
            **rate.to_json(),
        },
    }
    text = "\n".join(
        (
            f"law            Z ~ {law!r}",
            f"depth          T = {depth}",
            f"alpha*_T       {found.enclosure}",
            f"limit          {shown(found.limit)} = {decimal(found.limit)}   (T → ∞)",
            f"alpha*_T - lim {gap}",
            f"rate           {rate.order} by the exponents of the law at its ends; "
            f"R_T(alpha*_T) <= E[W]·({shown(found.contraction)})^(2T)",
            *rate.lines(),
            f"for all T >= {depth}: alpha*_T in {bracket}   (Theorem F.3 and Lemma F.1, explicit)",
        )
    )
    return Outcome(document, text)


def _configure_loss(parser: argparse.ArgumentParser) -> None:
    _law_and_depth(parser)
    parser.add_argument("--alpha", required=True, metavar="A", help="exact number, such as 2/7")
    parser.add_argument("--beta", metavar="B", help="exact number; left out, beta = -alpha")


def loss(args: argparse.Namespace) -> Outcome:
    """Enclose the excess loss, its gradient and the Bayes risk."""
    from theoryverify.exact.rationals import exact_text, rational, shown
    from theoryverify.papers.lca.loss import excess_loss

    law, depth, digits = _read(args)
    alpha = rational(args.alpha, "alpha")
    beta = None if args.beta is None else rational(args.beta, "beta")
    found = excess_loss(law, alpha, beta, depth=depth, digits=digits)
    document = {
        "law": repr(law),
        "depth": depth,
        "alpha": exact_text(alpha),
        "beta": exact_text(-alpha if beta is None else beta),
        "parameters": 1 if beta is None else 2,
        "excess_loss": found.excess.to_json(digits + 2),
        "bayes_risk": found.bayes_risk.to_json(digits + 2),
        "gradient": [entry.to_json(digits + 2) for entry in found.gradient],
    }
    names = ("R_T'(alpha)",) if beta is None else ("dl/d alpha", "dl/d beta")
    lines = [
        f"law          Z ~ {law!r}, T = {depth}, alpha = {shown(alpha)}, "
        f"beta = {'-alpha (tied)' if beta is None else shown(beta)}; in units of E[zeta²]",
        f"excess loss  {found.excess}",
        f"Bayes risk   {found.bayes_risk}",
        *(f"{name:12s} {value}" for name, value in zip(names, found.gradient, strict=True)),
    ]
    return Outcome(document, "\n".join(lines))


commands = (
    Command(
        "alpha-star", "enclose the minimiser α*_T, its limit and rate", _law_and_depth, alpha_star
    ),
    Command(
        "loss",
        "enclose the population loss, its gradient and the Bayes risk",
        _configure_loss,
        loss,
    ),
    *flow.commands,
    *finite.commands,
)
