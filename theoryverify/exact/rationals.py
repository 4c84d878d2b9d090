"""Exact numbers from what users write, and nothing from floats.

``0.1`` as a float is not one tenth; a tool that proves things must not guess which was meant.
"""

from __future__ import annotations

import math
import re
from fractions import Fraction
from numbers import Integral, Rational
from typing import Any

from flint import arb, fmpq, fmpz

from theoryverify.errors import InputError

Exact = int | Fraction | str
"""What constructors of exact things accept: an integer, a ``Fraction``, or a decimal string."""

_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?(/\d+)?", re.ASCII)
_MAX_CHARACTERS = 1000
_MAX_EXPONENT = 400
_MAX_SHOWN = 60


def rational(value: Any, name: str = "value") -> Fraction:
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
    if type(value) is Fraction:
        return value
    if type(value).__name__ == "bool":  # Python's, or NumPy's
        raise InputError(f"{name} must be a number, not {value}")
    if isinstance(value, (fmpz, Integral)):
        return Fraction(int(value))
    if isinstance(value, fmpq):
        return Fraction(int(value.p), int(value.q))
    if isinstance(value, Rational):
        return Fraction(int(value.numerator), int(value.denominator))
    if getattr(value, "is_Rational", False):  # a SymPy number, without importing SymPy
        return Fraction(int(value.p), int(value.q))
    if isinstance(value, float) and not math.isfinite(value):
        raise InputError(f"{name} = {value} is not finite")
    if isinstance(value, float) or type(value).__module__.split(".")[0] == "numpy":
        short = _short(str(value))
        raise InputError(
            f"{name} = {short} is a float, which is not exact; write it as a string: '{short}'"
        )
    if not isinstance(value, str):
        raise InputError(
            f"{name} must be an integer, a Fraction or a decimal string, not {_short(repr(value))}"
        )
    return _parse(value, name)


def _parse(text: str, name: str) -> Fraction:
    stripped = text.strip()
    match = _NUMBER.fullmatch(stripped) if len(stripped) <= _MAX_CHARACTERS else None
    if match is None:
        raise InputError(
            f"{name} = {_short(stripped)!r} is not a number: write an integer, a decimal such as "
            "1.5, or a quotient such as 2/3"
        )
    exponent = match.group(3)
    if exponent and abs(int(exponent[1:])) > _MAX_EXPONENT:
        raise InputError(f"{name} = {_short(stripped)!r} has an exponent beyond {_MAX_EXPONENT}")
    numerator, _, denominator = stripped.partition("/")
    if denominator and int(denominator) == 0:
        raise InputError(f"{name} = {_short(stripped)!r} divides by zero")
    return Fraction(numerator) / int(denominator) if denominator else Fraction(numerator)


def _short(text: str) -> str:
    return text if len(text) <= _MAX_SHOWN else text[:_MAX_SHOWN] + "..."


def shown(value: int | Fraction) -> str:
    """The number as messages and names show it: exactly, unless it has hundreds of digits.

    Python refuses to write integers of more than 4300 digits; no message may fail on that.
    """
    if max(value.numerator.bit_length(), value.denominator.bit_length()) <= 1000:
        return str(value)
    return "~" + str(arb(to_fmpq(Fraction(value))).str(6, radius=False))


def exact_text(value: int | Fraction) -> str:
    """All digits, ``p`` or ``p/q``, also where Python would refuse to write so many."""
    return str(to_fmpq(Fraction(value)))


def decimal(value: int | Fraction, digits: int = 15) -> str:
    """So many digits for the eye (at most fifteen), whatever the size."""
    if not value:
        return "0"
    return str(arb(to_fmpq(Fraction(value))).str(digits, radius=False))


def float64(value: int | Fraction, name: str = "value") -> float:
    """The nearest float.

    Raises
    ------
    InputError
        If the number is beyond the range of floats.
    """
    try:
        return float(value)
    except OverflowError:
        raise InputError(f"{name} = {shown(value)} is beyond the range of a float64") from None


def positive_integer(value: Any, name: str, *, least: int = 1, most: int | None = None) -> int:
    """An integer in ``[least, most]``, from an ``int`` or its decimal text.

    Raises
    ------
    InputError
        For anything else; floats, even whole ones, are refused.
    """
    limits = f"at least {least}" if most is None else f"between {least} and {most}"
    if isinstance(value, str) and re.fullmatch(r"\s*[+-]?\d{1,30}\s*", value, re.ASCII):
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, Integral):
        text = _short(repr(value))
        raise InputError(f"{name} = {text} is not an integer; it must be an integer {limits}")
    number = int(value)
    if number < least or (most is not None and number > most):
        raise InputError(f"{name} = {shown(number)} is out of range; it must be {limits}")
    return number


def to_fmpq(value: Fraction) -> fmpq:
    return fmpq(value.numerator, value.denominator)
