"""Exact numbers from what users write, and nothing from floats.

``0.1`` as a float is not one tenth; a tool that proves things must not guess which was meant.
"""

from __future__ import annotations

import re
from fractions import Fraction
from numbers import Integral, Rational

from flint import fmpq, fmpz

from theoryverify.errors import InputError

Exact = int | Fraction | str
"""What constructors of exact things accept: an integer, a ``Fraction``, or a decimal string."""

_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?(/\d+)?")
_MAX_CHARACTERS = 1000
_MAX_EXPONENT = 10_000


def rational(value: object, name: str = "value") -> Fraction:
    """The exact value of an integer, a fraction or a decimal string.

    Parameters
    ----------
    value : int, Fraction, fmpq, fmpz or str
        Strings may be integers, decimals (``"1.5"``, ``"-1e-3"``) or quotients (``"2/3"``).
    name : str
        What the value is called in the error message.

    Raises
    ------
    InputError
        For a float (with the hint to write a string), a bool, or text that is not a number.
    """
    if isinstance(value, bool):
        raise InputError(f"{name} must be a number, not {value}")
    if isinstance(value, (fmpz, Integral)):
        return Fraction(int(value))
    if isinstance(value, fmpq):
        return Fraction(int(value.p), int(value.q))
    if isinstance(value, Rational):
        return Fraction(value.numerator, value.denominator)
    if getattr(value, "is_Rational", False):  # a SymPy number, without importing SymPy
        return Fraction(int(value.p), int(value.q))  # type: ignore[attr-defined]
    if isinstance(value, float) or type(value).__module__.split(".")[0] == "numpy":
        raise InputError(
            f"{name} = {value} is a float, which is not exact; write it as a string: '{value}'"
        )
    if not isinstance(value, str):
        raise InputError(f"{name} must be an integer, a Fraction or a decimal string, not {value!r}")
    return _parse(value, name)


def _parse(text: str, name: str) -> Fraction:
    stripped = text.strip()
    match = _NUMBER.fullmatch(stripped) if len(stripped) <= _MAX_CHARACTERS else None
    if match is None:
        shown = stripped if len(stripped) <= 40 else stripped[:40] + "..."
        raise InputError(
            f"{name} = {shown!r} is not a number: write an integer, a decimal such as 1.5, "
            "or a quotient such as 2/3"
        )
    exponent = match.group(3)
    if exponent and abs(int(exponent[1:])) > _MAX_EXPONENT:
        raise InputError(f"{name} = {stripped!r} has an exponent beyond {_MAX_EXPONENT}")
    numerator, _, denominator = stripped.partition("/")
    if denominator and int(denominator) == 0:
        raise InputError(f"{name} = {stripped!r} divides by zero")
    return Fraction(numerator) / int(denominator or "1")


def positive_integer(value: object, name: str, *, least: int = 1, most: int | None = None) -> int:
    """An integer in ``[least, most]``, from an ``int`` or its decimal text.

    Raises
    ------
    InputError
        For anything else; floats, even whole ones, are refused.
    """
    limits = f"at least {least}" if most is None else f"between {least} and {most}"
    if isinstance(value, str) and re.fullmatch(r"\s*[+-]?\d{1,30}\s*", value):
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise InputError(f"{name} = {value!r} is not an integer; it must be an integer {limits}")
    if value < least or (most is not None and value > most):
        raise InputError(f"{name} = {value} is out of range; it must be {limits}")
    return int(value)


def to_fmpq(value: Fraction) -> fmpq:
    return fmpq(value.numerator, value.denominator)
