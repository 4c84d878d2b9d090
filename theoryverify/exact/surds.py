"""Polynomials in ``z`` over the rationals with square roots of integers adjoined.

``Q(√2, √3, i, ...)`` is all that links and their Hermite coefficients need: ``he_k`` brings the
root of ``k!``, sines bring ``i = √-1``. A number is a sum ``Σ q_n √n`` over squarefree integers
``n`` (negative ones are imaginary); square roots of different squarefree integers are linearly
independent over Q, so two numbers are equal exactly where their terms are. A polynomial keeps one
``fmpq_poly`` for each ``n``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import cached_property, lru_cache
from math import gcd, prod

from flint import acb, arb, fmpq, fmpq_poly, fmpz

from theoryverify.exact.balls import precision, sign

_MAX_RADICANDS = 64
_EASY_BITS = 80


class TooHardError(ArithmeticError):
    """An exact number would need a field, or a size, that is not carried. Never a verdict."""


@lru_cache(maxsize=4096)
def square_part(number: int) -> tuple[int, int]:
    """``(s, n)`` with ``number = s²·n`` and ``n`` squarefree, of the sign of ``number``.

    Raises
    ------
    TooHardError
        Where that would mean factoring a large number without small factors.
    """
    if number == 0:
        return 0, 1
    root, free = 1, -1 if number < 0 else 1
    pending = [(int(p), int(e)) for p, e in fmpz(abs(number)).factor(trial_limit=2000)]
    while pending:
        factor, power = pending.pop()
        whole, rest = (int(part) for part in fmpz(factor).sqrtrem())
        if fmpz(factor).is_prime():
            root *= factor ** (power // 2)
            free *= factor ** (power % 2)
        elif rest == 0:
            pending.append((whole, 2 * power))
        elif factor.bit_length() <= _EASY_BITS:
            pending += [(int(p), int(e) * power) for p, e in fmpz(factor).factor()]
        else:
            raise TooHardError(f"the square root of {number} needs a hard factorisation")
    return root, free


class Surds:
    """An immutable polynomial ``Σ_n p_n(z) √n``; a number is a polynomial of degree 0.

    Parameters
    ----------
    parts : mapping
        Squarefree integers to ``fmpq_poly``; zero polynomials are dropped.
    """

    def __init__(self, parts: Mapping[int, fmpq_poly]) -> None:
        self.parts = {n: p for n, p in sorted(parts.items()) if not p.is_zero()}
        if len(self.parts) > _MAX_RADICANDS:
            raise TooHardError(f"more than {_MAX_RADICANDS} different square roots")

    @classmethod
    def of(cls, value: int | Fraction | fmpq | fmpq_poly) -> Surds:
        if isinstance(value, Fraction):
            value = fmpq(value.numerator, value.denominator)
        return cls({1: value if isinstance(value, fmpq_poly) else fmpq_poly([value])})

    @classmethod
    def root(cls, value: Fraction | int) -> Surds:
        """``√value`` of a rational of either sign."""
        value = Fraction(value)
        root, free = square_part(value.numerator * value.denominator)
        return cls({free: fmpq_poly([fmpq(root, value.denominator)])})

    # Ring operations.

    def __add__(self, other: Surds) -> Surds:
        parts = dict(self.parts)
        for n, p in other.parts.items():
            parts[n] = parts[n] + p if n in parts else p
        return Surds(parts)

    def __neg__(self) -> Surds:
        return Surds({n: -p for n, p in self.parts.items()})

    def __sub__(self, other: Surds) -> Surds:
        return self + (-other)

    def __mul__(self, other: Surds) -> Surds:
        parts: dict[int, fmpq_poly] = {}
        for m, p in self.parts.items():
            for n, q in other.parts.items():
                common = gcd(m, n)
                flip = -1 if m < 0 and n < 0 else 1  # i·i = -1
                key = (m // common) * (n // common)
                value = p * q * (flip * common)
                parts[key] = parts[key] + value if key in parts else value
        return Surds(parts)

    def __pow__(self, exponent: int) -> Surds:
        if len(self.parts) == 1:
            ((n, p),) = self.parts.items()
            outer = n ** (exponent // 2)
            return Surds({n if exponent % 2 else 1: p**exponent * outer})
        result, square = ONE, self
        while exponent:
            if exponent & 1:
                result = result * square
            exponent >>= 1
            if exponent:
                square = square * square
        return result

    def inverse(self) -> Surds:
        """The reciprocal of a nonzero number, by multiplying up its conjugates."""
        if not self.is_constant or self.is_zero:
            raise TooHardError("only nonzero numbers have a reciprocal here")
        numerator, value = ONE, self
        while list(value.parts) != [1]:
            radicand = next(n for n in value.parts if n != 1)
            prime = -1 if radicand < 0 else int(fmpz(radicand).factor()[0][0])
            other = value.conjugate(prime)
            numerator, value = numerator * other, value * other
        return numerator * Surds.of(1 / value.parts[1][0])

    def conjugate(self, prime: int = -1) -> Surds:
        """The automorphism ``√prime → -√prime``; by default complex conjugation."""

        def flips(n: int) -> bool:
            return n < 0 if prime == -1 else n % prime == 0

        return Surds({n: -p if flips(n) else p for n, p in self.parts.items()})

    # As polynomials.

    @cached_property
    def degree(self) -> int:
        """The degree; -1 for zero."""
        return max((int(p.degree()) for p in self.parts.values()), default=-1)

    def __getitem__(self, power: int) -> Surds:
        return Surds({n: fmpq_poly([p[power]]) for n, p in self.parts.items()})

    @property
    def leading(self) -> Surds:
        return self[self.degree] if self.parts else ZERO

    def derivative(self) -> Surds:
        return Surds({n: p.derivative() for n, p in self.parts.items()})

    def __call__(self, inner: Surds) -> Surds:
        """Composition ``self(inner(z))``."""
        if list(inner.parts) in ([1], []):
            rational = inner.parts.get(1, fmpq_poly())
            return Surds({n: p(rational) for n, p in self.parts.items()})
        result = ZERO
        for power in range(self.degree, -1, -1):
            result = result * inner + self[power]
        return result

    def reflect(self) -> Surds:
        """``z → -z``."""
        minus = fmpq_poly([0, -1])
        return Surds({n: p(minus) for n, p in self.parts.items()})

    def divide(self, divisor: Surds) -> tuple[Surds, Surds]:
        """Quotient and remainder."""
        divisor_inverse = divisor.leading.inverse()
        if list(divisor.parts) == [1]:
            pairs = {n: divmod(p, divisor.parts[1]) for n, p in self.parts.items()}
            return Surds({n: a for n, (a, _) in pairs.items()}), Surds(
                {n: b for n, (_, b) in pairs.items()}
            )
        quotient, rest = ZERO, self
        while rest.degree >= divisor.degree:
            step = rest.leading * divisor_inverse * Z ** (rest.degree - divisor.degree)
            quotient, rest = quotient + step, rest - step * divisor
        return quotient, rest

    # As numbers.

    @property
    def is_zero(self) -> bool:
        return not self.parts

    @property
    def is_constant(self) -> bool:
        return self.degree <= 0

    @property
    def is_real(self) -> bool:
        return all(n > 0 for n in self.parts)

    @property
    def is_rational(self) -> bool:
        return all(n == 1 for n in self.parts)

    def as_fraction(self) -> Fraction | None:
        """The value of a rational number, else ``None``."""
        if not (self.is_constant and self.is_rational):
            return None
        value = self.parts[1][0] if self.parts else fmpq(0)
        return Fraction(int(value.p), int(value.q))

    def real_sign(self) -> int:
        """The sign of a real number: exact, since a number without terms is the only zero."""
        if not (self.is_constant and self.is_real):
            raise TooHardError("only real numbers have a sign")
        bits = 64
        while not self.is_zero:
            with precision(bits):
                decided = sign(self.number().real)
            if decided is not None:
                return decided
            bits *= 2
        return 0

    def number(self) -> acb:
        """A ball around a number, at the current precision."""
        total = acb(0)
        for n, p in self.parts.items():
            size = arb(p[0]) * arb(abs(n)).sqrt()
            total += acb(0, size) if n < 0 else acb(size)
        return total

    def coefficients(self) -> list[acb]:
        """Balls around the coefficients, lowest first, at the current precision."""
        return [self[power].number() for power in range(self.degree + 1)]

    # As keys and text.

    @cached_property
    def _key(self) -> tuple[tuple[int, str], ...]:
        return tuple((n, str(p)) for n, p in self.parts.items())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Surds) and self.parts == other.parts

    def __hash__(self) -> int:
        return hash(self._key)

    def __str__(self) -> str:
        terms = []
        for power in range(self.degree, -1, -1):
            terms += [_term(n, p[power], power) for n, p in self.parts.items() if p[power]]
        return signed_sum(terms)

    def __repr__(self) -> str:
        return f"Surds({self})"


def signed_sum(terms: Iterable[str]) -> str:
    """``["a", "-b"]`` as ``a - b``."""
    text = " + ".join(terms).replace("+ -", "- ")
    return text or "0"


def _term(radicand: int, coefficient: fmpq, power: int) -> str:
    """One term as the grammar of links would write it (``i`` stands for √-1)."""
    size = abs(coefficient)
    factors = []
    if int(size.p) != 1:
        factors.append(str(size.p))
    if radicand < 0:
        factors.append("i")
    if abs(radicand) != 1:
        factors.append(f"sqrt({abs(radicand)})")
    if power:
        factors.append("z" if power == 1 else f"z**{power}")
    text = "*".join(factors) or "1"
    if int(size.q) != 1:
        text += f"/{size.q}"
    return f"-{text}" if coefficient < 0 else text


@lru_cache(maxsize=2048)
def root_factorial(k: int) -> Surds:
    """``√(k!)``."""
    return Surds.root(prod(range(2, k + 1)))


@lru_cache(maxsize=2048)
def hermite(k: int) -> Surds:
    """The monic probabilists' Hermite polynomial ``He_k``, by its closed coefficients."""
    coefficients = [fmpz(0)] * (k + 1)
    value = fmpz(1)
    for m in range(k // 2 + 1):
        coefficients[k - 2 * m] = value
        # (-1)^m k! / (2^m m! (k-2m)!): each step is exact.
        value = -value * (k - 2 * m) * (k - 2 * m - 1) // (2 * (m + 1))
    return Surds.of(fmpq_poly(coefficients))


ZERO = Surds({})
ONE = Surds.of(1)
Z = Surds.of(fmpq_poly([0, 1]))
IMAGINARY = Surds.root(-1)

__all__ = [
    "IMAGINARY",
    "ONE",
    "ZERO",
    "Surds",
    "TooHardError",
    "Z",
    "hermite",
    "root_factorial",
    "signed_sum",
    "square_part",
]
