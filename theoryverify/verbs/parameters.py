"""The options with which ``check`` puts claims at the user's own parameters."""

from __future__ import annotations

import argparse
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

from theoryverify.claims.parameters import OPTIONS
from theoryverify.errors import InputError, UndecidedError

if TYPE_CHECKING:
    from theoryverify.claims.claim import Claim
    from theoryverify.claims.parameters import Placed


def configure(parser: argparse.ArgumentParser) -> None:
    """Add ``--law``, ``--depth``, ... to the parser of ``check``."""
    group = parser.add_argument_group(
        "at your own parameters", "of the named claims, those checks alone that can be put there"
    )
    for name, (placeholder, text, _) in OPTIONS.items():
        group.add_argument(f"--{name}", metavar=placeholder, help=text)


def given(args: argparse.Namespace) -> dict[str, str]:
    """The parameters that the user named, as text."""
    named = {name: getattr(args, name) for name in OPTIONS}
    return {name: value.strip() for name, value in named.items() if value is not None}


def place(
    args: argparse.Namespace,
    claims: dict[str, Claim],
    asked: Collection[str],
    chosen: Mapping[str, str],
) -> tuple[dict[str, Claim], dict[str, Placed]]:
    """The selection at the parameters, if there are any.

    Raises
    ------
    InputError
        If no claim is named, or one has no use for a parameter; the message says what it takes.
    """
    if not chosen:
        return claims, {}
    from theoryverify.claims.parameters import placed_selection

    if not args.names:
        raise InputError(f"--{next(iter(chosen))} needs the id of a claim, or a paper")
    strict = all("." in name for name in args.names)
    return placed_selection(claims, asked, chosen, strict)


def document(chosen: Mapping[str, str], placed: Mapping[str, Placed]) -> dict[str, Any]:
    """What the report says beside its claims: the parameters, hypotheses and facts there."""
    if not chosen:
        return {}
    rows = {
        name: {
            "cases": [str(case) for case in here.cases],
            "hypotheses": here.hypotheses(),
            "facts": _facts(here),
        }
        for name, here in placed.items()
    }
    return {"parameters": dict(chosen), "at": rows}


def text(chosen: Mapping[str, str], placed: Mapping[str, Placed]) -> str:
    """The same for a reader."""
    lines = []
    point = ", ".join(f"{name} = {value}" for name, value in chosen.items())
    for name, here in placed.items():
        lines.append(f"{name} at {point}")
        for row in here.hypotheses():
            state = "met" if row["met"] else f"NOT MET: {row['reason']}"
            lines.append(f"  hypothesis {row['name']}: {state}")
        lines += [f"  {key} = {value}" for key, value in _facts(here).items()]
    return "\n".join(lines) + "\n" if lines else ""


def _facts(here: Placed) -> dict[str, str]:
    try:
        return here.known()
    except (InputError, UndecidedError) as error:  # outside the hypotheses it may not be defined
        met = all(row["met"] for row in here.hypotheses())
        return {"undecided": str(error)} if met else {}
