"""d = 1 at finite context, exactly: every moment is a Gamma moment.

With one coordinate ``Σ̂ = t = Z s``, ``s ~ χ²_L/L``, and ``E s^k = L(L+2)...(L+2k-2)/L^k``. Given
the inputs, ``ŵ - w`` is normal with mean ``-A(t) w`` and variance ``P(t)² t/(ZL)`` (ζ = 1), where
``P`` is the stack's polynomial and ``A(t) = 1 - tP(t)``. So the excess risk ``Z(ŵ-w)²`` has

    bias  E[W A²],   noise  E[t P²]/L,   second moment  E[W²A⁴ + 6 W A² tP²/L + 3 t²P⁴/L²],

all finite and all explosive in T at fixed L, since ``s`` is unbounded.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from flint import arb, fmpq_poly

from theoryverify.errors import UndecidedError
from theoryverify.exact.balls import Enclosure, accuracy, ball, bits_for, precision
from theoryverify.exact.integrands import Z
from theoryverify.exact.laws import Law
from theoryverify.exact.rationals import Exact, positive_integer, rational, to_fmpq

MAX_SCALAR_DEPTH = 1000
_ATTEMPTS = 6


@dataclass(frozen=True)
class ScalarMoments:
    """Exact moments of the excess risk at d = 1, in units of ``E[ζ²]`` (``E[ζ⁴]`` for the second).

    ``mean = bias + noise``. The second moments are those of one prompt given ζ = 1, over Z, the
    context and the noise: ``bias_second = E[(W A²)²]``, ``second = E[excess²]``.
    """

    bias: Enclosure
    noise: Enclosure
    bias_second: Enclosure
    second: Enclosure

    @property
    def mean(self) -> Enclosure:
        with precision(256):
            return Enclosure.of(self.bias.ball() + self.noise.ball())

    @property
    def bias_relative_deviation(self) -> float:
        """Standard deviation of ``W A²`` over its mean."""
        return _relative(self.bias_second, self.bias)

    @property
    def relative_deviation(self) -> float:
        """Standard deviation of the excess risk over its mean."""
        return _relative(self.second, self.mean)


def _relative(second: Enclosure, first: Enclosure) -> float:
    with precision(256):
        ratio = second.ball() / first.ball() ** 2 - 1
        return float(ratio.sqrt().mid()) if ratio > 0 else 0.0


def gamma_moment(order: int, context: int) -> Fraction:
    """``E s^k`` for ``s = χ²_L/L``: ``Π_{i<k} (L+2i)/L``."""
    value = Fraction(1)
    for i in range(order):
        value *= Fraction(context + 2 * i, context)
    return value


def stack_polynomials(alpha: Fraction, beta: Fraction, depth: int) -> tuple[fmpq_poly, fmpq_poly]:
    """``P(t) = α Σ_{k<T} (1+βt)^k`` and ``A(t) = 1 - tP(t)``, with exact coefficients."""
    line, t = fmpq_poly([1, to_fmpq(beta)]), fmpq_poly([0, 1])
    # At β = 0 the sum is T; elsewhere the division is exact.
    gain = (line**depth - 1) // (to_fmpq(beta) * t) if beta else fmpq_poly([depth])
    P = to_fmpq(alpha) * gain
    return P, 1 - t * P


def scalar_moments(
    law: Law,
    *,
    context: int,
    depth: int,
    alpha: Exact,
    beta: Exact | None = None,
    digits: int = 20,
) -> ScalarMoments:
    """Enclose the first two moments of the excess risk at d = 1.

    Parameters
    ----------
    law : Law
        The law of Z.
    context, depth : int
        L, and T from 1 to 1000.
    alpha, beta : exact numbers
        ``beta=None`` is ``β = -α``.
    digits : int
        Relative digits of each number.

    Raises
    ------
    InputError
        For sizes out of range or floats; UndecidedError if the digits are not reached.

    Examples
    --------
    >>> from theoryverify.exact.densities import Uniform
    >>> found = scalar_moments(Uniform(2, 5), context=50, depth=20, alpha="2/7", digits=10)
    >>> round(float(found.bias), 3)
    1003096731.883
    """
    terms, size, depth, target = _prepared(context, depth, alpha, beta, digits)
    bias, noise = terms
    # (power of W, polynomial in t) of each summand.
    values = _means(
        law,
        size,
        depth,
        target,
        [
            [(1, bias)],
            [(0, noise)],
            [(2, bias**2)],
            [(2, bias**2), (1, 6 * bias * noise), (0, 3 * noise**2)],
        ],
    )
    return ScalarMoments(*values)


def scalar_mean(
    law: Law,
    *,
    context: int,
    depth: int,
    alpha: Exact,
    beta: Exact | None = None,
    digits: int = 20,
) -> tuple[Enclosure, Enclosure]:
    """Bias and noise alone: half the degree of :func:`scalar_moments`, and much faster.

    Parameters, errors and units are those of :func:`scalar_moments`.
    """
    terms, size, depth, target = _prepared(context, depth, alpha, beta, digits)
    bias, noise = _means(law, size, depth, target, [[(1, terms[0])], [(0, terms[1])]])
    return bias, noise


def _prepared(
    context: int, depth: int, alpha: Exact, beta: Exact | None, digits: int
) -> tuple[tuple[fmpq_poly, fmpq_poly], int, int, int]:
    """``A²`` and ``tP²/L``, then L, T and the bits to reach."""
    context = positive_integer(context, "context", most=10**15)
    depth = positive_integer(depth, "depth", most=MAX_SCALAR_DEPTH)
    step = rational(alpha, "alpha")
    mix = -step if beta is None else rational(beta, "beta")
    target = bits_for(positive_integer(digits, "digits", most=2000)) + 8
    P, A = stack_polynomials(step, mix, depth)
    noise = fmpq_poly([0, 1]) * P**2 * to_fmpq(Fraction(1, context))
    return (A**2, noise), context, depth, target


def _means(
    law: Law,
    context: int,
    depth: int,
    target: int,
    wanted: list[list[tuple[int, fmpq_poly]]],
) -> list[Enclosure]:
    bits = target + 8 * depth + 64
    for _ in range(_ATTEMPTS):
        with precision(bits):
            table = _Moments(law, context)
            values = [sum((table.mean(w, p) for w, p in terms), arb(0)) for terms in wanted]
            if all(accuracy(value) >= target or value.is_zero() for value in values):
                return [Enclosure.of(value) for value in values]
        bits *= 2
    raise UndecidedError(f"the moments at T = {depth}, L = {context} did not reach {target} bits")


class _Moments:
    """``E[W^i t^k] = E[s^k] E[(1-1/Z)^i Z^k]`` at the current precision, each found once."""

    def __init__(self, law: Law, context: int) -> None:
        self.law, self.context = law, context
        self._of_z: dict[int, arb] = {}
        self._of_s: list[arb] = [arb(1)]

    def mean(self, power_of_w: int, polynomial: fmpq_poly) -> arb:
        total = arb(0)
        for order, coefficient in enumerate(polynomial.coeffs()):
            if coefficient:
                total += coefficient * self._s(order) * self._weighted(power_of_w, order)
        return total

    def _weighted(self, power_of_w: int, order: int) -> arb:
        binomials = {0: (1,), 1: (1, -1), 2: (1, -2, 1)}[power_of_w]
        return sum((c * self._z(order - i) for i, c in enumerate(binomials)), arb(0))

    def _z(self, order: int) -> arb:
        if order not in self._of_z:
            exact = self.law.moment(order) if order >= 0 else None
            value = self.law.expect(Z**order) if exact is None else ball(exact)
            self._of_z[order] = value
        return self._of_z[order]

    def _s(self, order: int) -> arb:
        while len(self._of_s) <= order:
            i = len(self._of_s) - 1
            self._of_s.append(self._of_s[-1] * (self.context + 2 * i) / self.context)
        return self._of_s[order]


# -- the minimiser at finite context -----------------------------------------------------------


def scalar_slope_polynomial(law: Law, context: int, depth: int) -> fmpq_poly | None:
    """``-R'(α)/(2T)`` of the d = 1 excess risk as a polynomial in α, or ``None`` without rational
    moments.

    With ``A = (1-αt)^T`` the risk is ``E[WA² + (1-A)²/(Lt)]``; its derivative is ``-2T`` times
    ``E[(1-αt)^{T-1} ((Wt + 1/L)(1-αt)^T - 1/L)]``.
    """
    context = positive_integer(context, "context", most=10**15)
    depth = positive_integer(depth, "depth", most=MAX_SCALAR_DEPTH)
    top = 2 * depth
    moments = [law.moment(order) for order in range(top + 1)]
    exact = [m for m in moments if m is not None]
    if len(exact) <= top:
        return None
    inverse = Fraction(1, context)
    s = [Fraction(1)]
    for i in range(top):
        s.append(s[-1] * Fraction(context + 2 * i, context))
    # E[(Wt + 1/L) t^k] = E[s^{k+1}] E[Z^{k+1} - Z^k] + E[s^k] E[Z^k]/L.
    first = [s[k + 1] * (exact[k + 1] - exact[k]) + s[k] * exact[k] * inverse for k in range(top)]
    second = [s[k] * exact[k] * inverse for k in range(depth)]
    line = fmpq_poly([1, -1])
    high, low = (line ** (top - 1)).coeffs(), (line ** (depth - 1)).coeffs()
    coefficients = [c * to_fmpq(m) for c, m in zip(high, first, strict=True)]
    for k, c in enumerate(low):
        coefficients[k] -= c * to_fmpq(second[k])
    return fmpq_poly(coefficients)
