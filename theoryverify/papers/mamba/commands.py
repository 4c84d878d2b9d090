"""The verb ``exponent``. Only argparse is imported until it runs."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from typing import TYPE_CHECKING

from theoryverify.claims.paper import Command, Outcome

if TYPE_CHECKING:
    from theoryverify.exact.exponents import Exponents
    from theoryverify.exact.gate import Gate, GatedExponents
    from theoryverify.exact.hermite import Coefficient

_MAX_TERMS = 200
_MAX_DIGITS = 1_000


def _configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "link",
        metavar="LINK",
        help="an expression in z, such as 'He3(z)/sqrt(6)' or 'relu(z) - 1/2'",
    )
    parser.add_argument("--gate", action="store_true", help="of the gated link g·σ(g/ρ+b)")
    parser.add_argument("--rho", metavar="R", help="scale of the gate, positive")
    parser.add_argument("--b", metavar="B", help="bias of the gate")
    parser.add_argument("--noise", metavar="TAU", help="label noise ±TAU (0)")
    parser.add_argument("--terms", metavar="K", help="list the coefficients c_0, ..., c_{K-1}")
    parser.add_argument("--digits", default="30", metavar="D", help="digits to enclose (30)")


def exponent(args: argparse.Namespace) -> Outcome:
    """Information and generative exponent, with enclosed coefficients and reasons."""
    from theoryverify.exact.exponents import exponents
    from theoryverify.exact.gate import gated_exponents
    from theoryverify.exact.links import link
    from theoryverify.exact.rationals import positive_integer

    gate = _gate(args)
    terms = None
    if args.terms is not None:
        terms = positive_integer(args.terms, "terms", most=_MAX_TERMS)
    digits = positive_integer(args.digits, "digits", most=_MAX_DIGITS)
    g = link(args.link.strip())
    if gate is None:
        bare = exponents(g, terms, digits=digits)
        code = 0 if bare.information.value is not None else 3
        return Outcome(bare.to_json(), "\n".join(_bare_lines(bare)), code)
    gated = gated_exponents(g, gate, terms, digits=digits)
    code = 0 if gated.information.value is not None else 3
    return Outcome(gated.to_json(), "\n".join(_gated_lines(gated)), code)


def _gate(args: argparse.Namespace) -> Gate | None:
    from theoryverify.errors import InputError
    from theoryverify.exact.gate import Gate

    given = [name for name in ("rho", "b", "noise") if getattr(args, name) is not None]
    if not args.gate:
        if given:
            raise InputError(f"--{given[0]} belongs to --gate")
        return None
    if args.rho is None or args.b is None:
        raise InputError("--gate needs --rho and --b")
    return Gate(args.rho, args.b, args.noise or 0)


def _bare_lines(found: Exponents) -> Iterable[str]:
    yield f"link                  {found.information.link}"
    yield from _exponent_lines(found)
    yield "coefficients          c_k = E[g(z) he_k(z)], orthonormal"
    yield from _coefficient_lines(found.coefficients)


def _exponent_lines(found: Exponents) -> Iterable[str]:
    yield f"information exponent  {_value(found.information.value)}"
    yield f"generative exponent   {_value(found.generative.value)}"
    for reason in found.generative.reasons:
        yield f"                      {reason}"


def _gated_lines(found: GatedExponents) -> Iterable[str]:
    gate = found.gate
    noise = f", label noise ±{gate.noise}" if gate.noise else ""
    yield f"link                  g = {found.bare.information.link}"
    yield from _exponent_lines(found.bare)
    yield f"gated link            g·σ(g/ρ + b), ρ = {gate.rho}, b = {gate.b}{noise}"
    yield f"information exponent  {_value(found.information.value)} of the gated link"
    yield f"mean opening          E[σ(g/ρ+b)] = {found.opening_rate}"
    yield from _law_lines(found)
    yield "coefficients          of the gated link, orthonormal"
    yield from _coefficient_lines(found.coefficients)


def _law_lines(found: GatedExponents) -> Iterable[str]:
    """What becomes of the coefficient that decides for large ρ, for polynomials without noise."""
    from theoryverify.errors import InputError, UndecidedError
    from theoryverify.exact.gate_law import gate_law

    order = found.bare.generative.value
    if order is None or found.gate.noise:
        return
    try:
        law = gate_law(found.bare.information.link, order, found.gate.b)
        start = law.valid_from("1/10")
    except (InputError, UndecidedError):
        return
    yield f"for large ρ           {law}, within 10% for every ρ >= {start}"


def _coefficient_lines(coefficients: Iterable[Coefficient]) -> Iterable[str]:
    for c in coefficients:
        shown = str(c.enclosure)
        exact = f" = {c.exact}" if c.exact not in (None, shown) else ""
        yield f"  c_{c.k:<3d} {shown}{exact}   ({c.reason})"


def _value(value: int | None) -> str:
    return "undecided" if value is None else str(value)


commands = (
    Command(
        "exponent",
        "information and generative exponent of a link, bare and gated",
        _configure,
        exponent,
    ),
)
