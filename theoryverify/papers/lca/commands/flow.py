"""The verb ``flow``: where gradient flow ends, and how long it takes."""

from __future__ import annotations

import argparse
import math
from typing import TYPE_CHECKING, Any

from theoryverify.claims.paper import Command, Outcome

if TYPE_CHECKING:
    from theoryverify.exact.balls import Enclosure
    from theoryverify.exact.laws import Law


def _configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--law", required=True, metavar="LAW", help="law of Z = 1+|m|²")
    parser.add_argument("--depth", required=True, metavar="T", help="number of layers")
    parser.add_argument(
        "--parameters",
        choices=("1", "2"),
        default="1",
        help="1: β = -α (Theorem 6.2); 2: (α, β) (Theorem 6.3)",
    )
    parser.add_argument("--alpha0", metavar="A", help="start (0.02; with two parameters α*(β₀))")
    parser.add_argument("--beta0", metavar="B", help="start of β, in (-2/Zmax, 0) (-1/Zmax)")
    parser.add_argument(
        "--level", metavar="F", help="also enclose the time to reach F·α*_T (one parameter)"
    )
    parser.add_argument("--digits", default="20", metavar="D", help="digits to enclose (20)")


def flow(args: argparse.Namespace) -> Outcome:
    """Run the flow and judge its end by the enclosure."""
    from theoryverify.errors import InputError
    from theoryverify.exact.law_grammar import parse_law
    from theoryverify.exact.rationals import positive_integer
    from theoryverify.papers.lca import assumptions

    try:
        import scipy  # noqa: F401
    except ImportError as error:
        raise InputError("flow needs SciPy: pip install 'theoryverify[simulate]'") from error
    law = assumptions.require(parse_law(args.law))
    depth = positive_integer(args.depth, "depth")
    digits = positive_integer(args.digits, "digits", least=5, most=100)
    if args.parameters == "2":
        if args.level is not None:
            raise InputError("--level is for one parameter; leave it out with --parameters 2")
        return _two(law, depth, digits, args)
    if args.beta0 is not None:
        raise InputError("--beta0 needs --parameters 2: with one parameter beta = -alpha")
    return _one(law, depth, digits, args)


def _one(law: Law, depth: int, digits: int, args: argparse.Namespace) -> Outcome:
    from theoryverify.exact.rationals import exact_text
    from theoryverify.papers.lca.flow import DEFAULT_START, gradient_flow

    start = (args.alpha0 or DEFAULT_START).strip()
    level = None if args.level is None else args.level.strip()
    found = gradient_flow(law, depth, start, level=level, digits=digits)
    time = None if found.time is None else found.time.enclosure
    document: dict[str, Any] = {
        "law": repr(law),
        "depth": depth,
        "parameters": 1,
        "start": {"alpha": exact_text(found.alpha0)},
        "limit": {
            "alpha": found.limit.to_json(digits + 2),
            "beta": _negated(found.limit.to_json(digits + 2)),
        },
        "clock": found.clock,
        "runs": [
            {"method": run.method, "end": [str(x) for x in run.end], "error": _number(error)}
            for run, error in zip(found.runs, found.errors, strict=True)
        ],
        "arrived": found.arrived,
        "time_to_level": None if time is None else time.to_json(digits),
    }
    lines = [
        f"flow     dα/dt = -R_T'(α) from α₀ = {found.alpha0}, Z ~ {law!r}, T = {depth}",
        f"limit    α*_T = {found.limit}   (Lemma F.2: from every start)",
        *(
            f"run      {run.method}: ends {error:.1e} from it, relatively; clock {run.clock}"
            for run, error in zip(found.runs, found.errors, strict=True)
        ),
    ]
    if found.time is not None:
        lines.append(f"time     to {found.time.level}·α*_T: {time}   (certified)")
    return Outcome(document, "\n".join(lines), 0 if found.arrived else 3)


def _two(law: Law, depth: int, digits: int, args: argparse.Namespace) -> Outcome:
    from theoryverify.errors import UndecidedError
    from theoryverify.flow import FlowError
    from theoryverify.papers.lca.flow_two import gradient_flow

    start = -1 / law.upper if args.beta0 is None else args.beta0.strip()
    alpha0 = None if args.alpha0 is None else args.alpha0.strip()
    try:
        found = gradient_flow(law, depth, start, alpha0, digits=digits)
    except FlowError as error:  # of the integrator; the theorem is not touched by it
        raise UndecidedError(str(error)) from error
    level = "ends of the window" if found.in_window or depth % 2 else "F_T(∞)"
    rests_on = ["lca.uniqueness.flow"] if found.certified else []
    if found.in_window:
        why = "one stationary point in the window"
    elif found.certified:
        why = "one stationary point below that level"
    else:
        why = (
            "the start is not certified below that: Theorem 6.3 does not speak of it at this depth"
        )
    rests = "".join(f"it rests on {claim}: " for claim in rests_on)
    document: dict[str, Any] = {
        "law": repr(law),
        "depth": depth,
        "parameters": 2,
        "start": {"alpha": found.alpha0.to_json(), "beta": str(found.beta0)},
        "limit": {
            "alpha": found.limit.alpha.to_json(digits + 2),
            "beta": found.limit.beta.to_json(digits + 2),
        },
        "certified": found.certified,
        "rests_on": rests_on,
        "start_loss": found.start_loss.to_json(15),
        "barrier": found.barrier.to_json(15),
        "clock": found.clock,
        "runs": []
        if found.end is None
        else [{"method": "radau", "end": list(found.end), "error": _number(found.error)}],
        "arrived": found.error <= 1e-8,
        "time_to_level": None,
    }
    lines = [
        f"flow     from (α₀, β₀) = ({float(found.alpha0):.15g}, {found.beta0}), Z ~ {law!r}, T = {depth}",
        f"limit    α*_T = {found.limit.alpha}",
        f"         β*_T = {found.limit.beta}",
        f"         F_T  = {found.limit.loss}",
        f"why      ℓ(α₀,β₀) = {_short(found.start_loss)}, "
        f"{level}: {_short(found.barrier)}; {rests}{why}",
    ]
    lines.append(
        "run      none: in float64 an orbit is followed near the valley and in the window only"
        if found.end is None
        else f"run      radau: ends {found.error:.1e} from it, relatively; clock {found.clock}"
    )
    return Outcome(document, "\n".join(lines), 0 if found.certified else 3)


def _short(value: Enclosure) -> str:
    low, high = value.decimal(6)
    return f"[{low}, {high}]"


def _negated(ends: dict[str, str]) -> dict[str, str]:
    def turn(text: str) -> str:
        return text[1:] if text.startswith("-") else f"-{text}"

    return {"lower": turn(ends["upper"]), "upper": turn(ends["lower"])}


def _number(value: float) -> float | None:
    """JSON has no infinity."""
    return float(value) if math.isfinite(value) else None


commands = (
    Command(
        "flow", "gradient flow to its limit, and the certified time it takes", _configure, flow
    ),
)
