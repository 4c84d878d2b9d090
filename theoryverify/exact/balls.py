"""Rigorous real numbers: balls in, enclosures out.

A *ball* is python-flint's ``arb``: a midpoint and a radius that provably contain the number. The
working precision of FLINT is global to the process, so it is only ever changed inside
:func:`precision`, which holds a lock and restores what it found. What leaves a computation is an
:class:`Enclosure`, two exact dyadic numbers that no later change of precision can touch.
"""

from __future__ import annotations

import math
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

from flint import acb, arb, ctx, fmpq, fmpz

from theoryverify.errors import InputError, UndecidedError
from theoryverify.exact.rationals import rational, to_fmpq

_LOCK = threading.RLock()
_LOG2_10 = math.log2(10)
_SHARED = re.compile(r"(?<![\[\d.])(-?[\d.]+)\[(\d+), (\d+)\]")
_POWER = re.compile(r"e\+?(-?\d+)")


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """Work with ``bits`` bits inside the block; other threads wait, the old value comes back."""
    with _LOCK:
        before = ctx.prec
        ctx.prec = bits
        try:
            yield
        finally:
            ctx.prec = before


def bits_for(digits: int) -> int:
    """Bits that carry ``digits`` decimal digits."""
    return math.ceil(digits * _LOG2_10) + 4


def ball(value: Any) -> arb:
    """The smallest ball at the current precision around an exact number; balls pass through."""
    if isinstance(value, arb):
        return value
    if isinstance(value, Enclosure):
        return value.ball()
    if type(value) is int:
        return arb(value)
    return arb(to_fmpq(rational(value)))


def sign(value: arb) -> int | None:
    """-1, 0 or 1 where the ball decides it, else ``None``. Zero only where it is exact."""
    if not value.is_finite():
        return None
    if value > 0:
        return 1
    if value < 0:
        return -1
    return 0 if value.is_zero() else None


def accuracy(value: arb | acb) -> int:
    """Correct leading bits of a ball; negative where it does not even fix the magnitude."""
    return int(value.rel_accuracy_bits()) if value.is_finite() else -1


def integer_power(base: arb, exponent: int) -> arb:
    """``base**exponent`` for an integer exponent >= 0, tight and never NaN.

    FLINT's own power of a real ball that contains zero goes through the logarithm and gives NaN.
    Here ``x -> x^n`` is evaluated at the ends of the ball, where it is monotone on each side of 0.
    """
    if exponent < 0:  # a pole would be jumped over
        raise InputError(f"integer_power needs an exponent of at least 0, not {exponent}")
    if exponent == 0:
        return arb(1)
    if not base.contains(0) or base.is_exact():
        return base**exponent
    low, high = base.lower(), base.upper()
    if exponent % 2:
        return (low**exponent).union(high**exponent)
    return arb(0).union(_larger(abs(low), abs(high)) ** exponent)


def _larger(left: arb, right: arb) -> arb:
    return left if left > right else right


class Enclosure:
    """A real number between two exact dyadic numbers.

    Parameters
    ----------
    lower, upper : arb
        Exact (radius 0) finite balls with ``lower <= upper``.

    Notes
    -----
    Comparisons are three-valued: ``True``, ``False``, or ``None`` where the enclosure is too wide
    to tell.
    """

    __slots__ = ("_lower", "_upper")

    def __init__(self, lower: arb, upper: arb) -> None:
        if lower > upper:
            raise InputError(f"the lower end {lower} is above the upper end {upper}")
        self._lower = _dyadic(lower)
        self._upper = _dyadic(upper)

    @classmethod
    def of(cls, value: arb) -> Enclosure:
        """The enclosure that a ball stands for.

        Raises
        ------
        UndecidedError
            If the ball is not finite: NaN contains nothing.
        """
        if not value.is_finite():
            raise UndecidedError(f"no finite enclosure: {value}")
        # lower() and upper() round to the working precision, which may be less than the ball's.
        with precision(max(ctx.prec, int(value.mid().bits()) + 32)):
            return cls(value.lower(), value.upper())

    @classmethod
    def exactly(cls, value: Any, digits: int = 50) -> Enclosure:
        """The enclosure of an exact rational, ``digits`` digits tight."""
        with precision(bits_for(digits) + 16):
            return cls.of(ball(value))

    @property
    def lower(self) -> Fraction:
        return _fraction(self._lower)

    @property
    def upper(self) -> Fraction:
        return _fraction(self._upper)

    def ball(self) -> arb:
        """A ball at the current precision that contains the enclosure."""
        return arb(self._lower).union(arb(self._upper))

    def contains(self, value: Any) -> bool:
        """Whether an exact number lies in the enclosure."""
        point = rational(value)
        return self.lower <= point <= self.upper

    def overlaps(self, other: Enclosure) -> bool:
        return not (_less(self._upper, other._lower) or _less(other._upper, self._lower))

    def within(self, other: Enclosure) -> bool:
        """Whether this enclosure lies inside another one, ends included."""
        return not (_less(self._lower, other._lower) or _less(other._upper, self._upper))

    def sign(self) -> int | None:
        """-1, 0, 1, or ``None`` where it is not decided."""
        low, high = self._lower[0], self._upper[0]
        if low > 0:
            return 1
        if high < 0:
            return -1
        return 0 if low == 0 and high == 0 else None

    def less_than(self, value: Any) -> bool | None:
        """Whether the number is below ``value`` (exact or enclosed); ``None`` if undecided."""
        other = value if isinstance(value, Enclosure) else None
        if other is None:
            point = rational(value)
            if self.upper < point:
                return True
            return False if self.lower >= point else None
        if _less(self._upper, other._lower):
            return True
        return None if _less(self._lower, other._upper) else False

    def greater_than(self, value: Any) -> bool | None:
        """Whether the number is above ``value`` (exact or enclosed); ``None`` if undecided."""
        if isinstance(value, Enclosure):
            return value.less_than(self)
        point = rational(value)
        if self.lower > point:
            return True
        return False if self.upper <= point else None

    @property
    def digits(self) -> int:
        """Decimal digits that the enclosure fixes, relative to its size (0 if none)."""
        bits = max(abs(self._lower[0]).bit_length(), abs(self._upper[0]).bit_length())
        with precision(bits + 64):  # the difference of two close numbers must be exact
            width = arb(self._upper) - arb(self._lower)
            size = _larger(abs(arb(self._lower)), abs(arb(self._upper)))
            if width.is_zero():
                return 10**6
            if not size > 0:
                return 0
            ratio = (width / size).log() / arb(10).log()
            return max(0, math.floor(-float(ratio.mid())))

    def decimal(self, digits: int | None = None) -> tuple[str, str]:
        """Both ends as decimal strings, rounded outward, with ``digits`` significant digits."""
        if digits is None:
            digits = min(self.digits + 2, 60)
        digits = max(digits, 3)
        low, high = _decimal(self._lower, digits, up=False), _decimal(self._upper, digits, up=True)
        return _without_zeros(low), _without_zeros(high)

    def to_json(self, digits: int | None = None) -> dict[str, str]:
        low, high = self.decimal(digits)
        return {"lower": low, "upper": high}

    def __float__(self) -> float:
        with precision(64):
            return float(((arb(self._lower) + arb(self._upper)) / 2).mid())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Enclosure):
            return NotImplemented
        return self._lower == other._lower and self._upper == other._upper

    def __hash__(self) -> int:
        return hash((self._lower, self._upper))

    def __str__(self) -> str:
        """The digits that both ends share, then the rest of each: ``0.2784[51, 52]``."""
        digits = max(min(self.digits + 2, 60), 3)
        low, high = (
            _decimal(self._lower, digits, up=False),
            _decimal(self._upper, digits, up=True),
        )
        low, high = (low, high) if low != high else (_without_zeros(low), _without_zeros(high))
        if low == high:
            return low
        low_body, _, low_power = low.partition("e")
        high_body, _, high_power = high.partition("e")
        common = 0
        while common < len(low_body) and low_body[: common + 1] == high_body[: common + 1]:
            common += 1
        if len(low_body) != len(high_body) or low_power != high_power or common < 3:
            return f"[{low}, {high}]"
        power = f"e{low_power}" if low_power else ""
        return f"{low_body[:common]}[{low_body[common:]}, {high_body[common:]}]{power}"

    def __repr__(self) -> str:
        return f"Enclosure({self})"

    def _repr_latex_(self) -> str:
        """In a notebook: the digits that both ends share, then the rest of each end."""
        text = _SHARED.sub(r"\1_{\2}^{\3}", str(self))
        return "$" + _POWER.sub(r" \\cdot 10^{\1}", text) + "$"

    def _repr_html_(self) -> str:
        text = _SHARED.sub(r"\1<sub>\2</sub><sup>\3</sup>", str(self))
        shown = _POWER.sub(r" · 10<sup>\1</sup>", text)
        return f'<span title="{" to ".join(self.decimal())}">{shown}</span>'


def hull(values: list[arb]) -> arb:
    """A ball that contains all the given balls."""
    result = values[0]
    for value in values[1:]:
        result = result.union(value)
    return result


def midpoint(value: arb) -> Fraction:
    """The midpoint of a ball, exactly: a dyadic number.

    Raises
    ------
    UndecidedError
        If the ball is not finite.
    """
    return _fraction(_dyadic(value.mid()))


def _dyadic(value: arb) -> tuple[int, int]:
    if not value.is_finite() or not value.is_exact():
        raise UndecidedError(f"not an exact finite number: {value}")
    mantissa, exponent = value.man_exp()
    return int(mantissa), int(exponent)


def _fraction(value: tuple[int, int]) -> Fraction:
    mantissa, exponent = value
    if exponent >= 0:
        return Fraction(mantissa << exponent)
    return Fraction(mantissa, 1 << -exponent)


def _less(left: tuple[int, int], right: tuple[int, int]) -> bool:
    # Exact without building huge integers: a difference of two exact balls has a decided sign
    # unless they are equal to within rounding, and then integers of moderate size decide.
    with precision(64):
        difference = arb(left) - arb(right)
        decided = sign(difference)
    if decided is not None:
        return decided < 0
    return _fraction(left) < _fraction(right)


def _decimal(value: tuple[int, int], digits: int, *, up: bool) -> str:
    """``value`` with ``digits`` significant digits, rounded up or down, as Python writes floats."""
    mantissa, exponent = value
    if mantissa == 0:
        return "0"
    magnitude = math.floor((abs(mantissa).bit_length() + exponent) / _LOG2_10)
    with precision(bits_for(digits) + 64):
        # One decade of slack: the estimate of the magnitude may be off by one.
        for power in (magnitude - digits + 1, magnitude - digits, magnitude - digits + 2):
            ten = arb(fmpz(10)) ** abs(power)
            # Dividing, where that is called for, keeps 10^9 = 100 * 10^7 exact.
            scaled = arb(value) / ten if power > 0 else arb(value) * ten
            bound = _fraction(_dyadic(scaled.upper() if up else scaled.lower()))
            whole = math.ceil(bound) if up else math.floor(bound)
            if len(_digits(whole)) in (digits, digits + 1):
                return _positional(whole, power)
    return _positional(whole, power)


def _digits(whole: int) -> str:
    return str(fmpz(abs(whole)))  # Python's own conversion stops at 4300 digits


def _positional(whole: int, power: int) -> str:
    """``whole * 10**power``, all its digits kept; scientific outside [1e-5, 1e21)."""
    if whole == 0:
        return "0"
    prefix, text = "-" if whole < 0 else "", _digits(whole)
    leading = len(text) + power - 1
    if not -5 <= leading < 21:
        return f"{prefix}{text[0]}.{text[1:]}e{leading:+03d}"
    if power >= 0:
        return prefix + text + "0" * power
    point = len(text) + power
    if point <= 0:
        return f"{prefix}0.{'0' * -point}{text}"
    return f"{prefix}{text[:point]}.{text[point:]}"


def _without_zeros(text: str) -> str:
    body, e, power = text.partition("e")
    if "." in body:
        body = body.rstrip("0").rstrip(".")
    return body + e + power


__all__ = [
    "Enclosure",
    "acb",
    "accuracy",
    "arb",
    "ball",
    "bits_for",
    "fmpq",
    "hull",
    "integer_power",
    "midpoint",
    "precision",
    "sign",
]
