"""The mean excess risk at finite context, exactly, for depths where the chain's terms are too many.

``Σ̂ = XXᵀ/L`` with columns ``N(0, Σ)``, ``Σ = I + (Z-1)vvᵀ``, ``|v| = 1``. What is needed are means of
products of ``q_k = vᵀΣ̂^k v`` and ``t_k = tr Σ̂^k``. Gaussian integration by parts takes one factor
``Σ̂`` off such a product:

    E[Σ̂_ab F] = Σ_ab E[F] + E[D_ab F],   D_ab Σ̂_pq = (Σ_ap Σ̂_bq + Σ̂_bp Σ_aq)/L,   D a derivation.

Every term on the right is of the same kind with one power less, so a finite recursion ends at 1: a
polynomial in Z with rational coefficients, for given d and L. It shares nothing with the chain of
:mod:`theoryverify.papers.lca.finite`; the two must agree.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

import sympy
from flint import fmpq, fmpq_poly

from theoryverify.errors import UndecidedError
from theoryverify.exact.balls import Enclosure, accuracy, bits_for, precision
from theoryverify.exact.integrands import LinearPower
from theoryverify.exact.laws import Law
from theoryverify.exact.rationals import Exact, positive_integer, rational, to_fmpq
from theoryverify.papers.lca import assumptions, theory

MAX_DEPTH = 8
MAX_DEPTH_SQUARE = 5
_Z = fmpq_poly([0, 1])

Word = tuple[tuple[int, ...], tuple[int, ...]]
"""Indices of the ``q`` and of the ``t`` in a product, sorted."""


@dataclass
class Moments:
    """``E[Π q_i Π t_j]`` as polynomials in Z, for one d and L.

    Examples
    --------
    >>> Moments(3, 10).mean((1,), ())  # E vᵀΣ̂v = Z
    x
    >>> Moments(3, 10).mean((), (1,))  # E tr Σ̂ = d - 1 + Z
    x + 2
    """

    d: int
    L: int
    _known: dict[Word, fmpq_poly] = field(default_factory=dict, repr=False)

    def mean(self, q: tuple[int, ...], t: tuple[int, ...]) -> fmpq_poly:
        """The mean of the product with these indices; ``q_0 = 1`` and ``t_0 = d``."""
        factor = self.d ** t.count(0)
        word = (tuple(sorted(i for i in q if i)), tuple(sorted(i for i in t if i)))
        if not any(word):
            return fmpq_poly([factor])
        if word not in self._known:
            self._known[word] = self._reduced(*word)
        return factor * self._known[word]

    def _reduced(self, q: tuple[int, ...], t: tuple[int, ...]) -> fmpq_poly:
        if q:
            return self._off_q(q[-1], q[:-1], t)
        return self._off_t(t[-1], q, t[:-1])

    def _off_q(self, k: int, q: tuple[int, ...], t: tuple[int, ...]) -> fmpq_poly:
        """``q_k = v_a Σ̂_ab (Σ̂^{k-1}v)_b``: the factor Σ̂_ab is taken off; ``Σv = Zv``."""
        inner = (k - 1) * self.mean((*q, k - 1), t)
        for j in range(k - 1):
            inner += self.mean((*q, k - 2 - j), (*t, j + 1))
        for index, n in enumerate(q):
            rest = q[:index] + q[index + 1 :]
            for j in range(n):
                inner += 2 * self.mean((*rest, j, k + n - 1 - j), t)
        for index, n in enumerate(t):
            rest = t[:index] + t[index + 1 :]
            inner += 2 * n * self.mean((*q, k + n - 1), rest)
        return _Z * (self.mean((*q, k - 1), t) + inner / self.L)

    def _off_t(self, k: int, q: tuple[int, ...], t: tuple[int, ...]) -> fmpq_poly:
        """``t_k = Σ̂_ab (Σ̂^{k-1})_ba``."""
        first = self._trace(k - 1, q, t)
        inner = (k - 1) * first
        for j in range(k - 1):
            inner += self._trace(k - 2 - j, q, (*t, j + 1))
        for index, n in enumerate(q):
            rest = q[:index] + q[index + 1 :]
            for j in range(n):
                inner += 2 * self._between(j, k + n - 1 - j, rest, t)
        for index, n in enumerate(t):
            rest = t[:index] + t[index + 1 :]
            inner += 2 * n * self._trace(k + n - 1, q, rest)
        return first + inner / self.L

    def _trace(self, n: int, q: tuple[int, ...], t: tuple[int, ...]) -> fmpq_poly:
        """``tr(Σ Σ̂^n) = t_n + (Z-1) q_n``, times the rest."""
        return self.mean(q, (*t, n)) + (_Z - 1) * self.mean((*q, n), t)

    def _between(self, i: int, j: int, q: tuple[int, ...], t: tuple[int, ...]) -> fmpq_poly:
        """``vᵀ Σ̂^i Σ Σ̂^j v = q_{i+j} + (Z-1) q_i q_j``, times the rest."""
        return self.mean((*q, i + j), t) + (_Z - 1) * self.mean((*q, i, j), t)

    def of(self, combination: dict[Word, fmpq_poly]) -> fmpq_poly:
        """The mean of a linear combination of products."""
        total = fmpq_poly([0])
        for (q, t), factor in combination.items():
            total += factor * self.mean(q, t)
        return total


Combination = dict[Word, fmpq_poly]
"""A linear combination of products, with polynomials in Z as coefficients."""


class Excess:
    """The excess risk of ``ŵ = P(Σ̂) Xy/L`` on one prompt, ζ = 1, and its first two moments.

    With ``e(s) = 1 - sP(s)``, ``G(s) = sP(s)²``, ``w = √(Z-1)/Z v`` and label noise ``ε`` of variance
    1/Z, the excess is ``a - 2bᵀε + εᵀQε`` with

        a = wᵀ e Σ e w,   |b|² = wᵀ eΣGΣe w / L,   tr Q = tr(ΣG)/L,   tr Q² = tr(ΣGΣG)/L².

    Attributes
    ----------
    signal, noise : Combination
        ``Z²/(Z-1) · a`` and ``L tr Q``.
    cross, square : Combination
        ``L Z²/(Z-1) · |b|²`` and ``L² tr Q²``.
    residual : fmpq_poly
        ``e``.
    """

    def __init__(self, state: list[fmpq]) -> None:
        self.residual = e = fmpq_poly([1, *(-c for c in state)])
        P = fmpq_poly(state)
        residual, squared = e.coeffs(), (fmpq_poly([0, 1]) * P * P).coeffs()
        up = _Z - 1
        self.signal: Combination = {}
        self.noise: Combination = {}
        self.cross: Combination = {}
        self.square: Combination = {}
        for i, left in enumerate(residual):
            for k, right in enumerate(residual):
                _add(self.signal, left * right, (i + k,))
                _add(self.signal, left * right * up, (i, k))
                for j, middle in enumerate(squared):
                    weight = left * middle * right
                    _add(self.cross, weight, (i + j + k,))
                    _add(self.cross, weight * up, (i, j + k))
                    _add(self.cross, weight * up, (i + j, k))
                    _add(self.cross, weight * up * up, (i, j, k))
        for i, left in enumerate(squared):
            _add(self.noise, left, (), (i,))
            _add(self.noise, left * up, (i,))
            for j, right in enumerate(squared):
                _add(self.square, left * right, (), (i + j,))
                _add(self.square, 2 * left * right * up, (i + j,))
                _add(self.square, left * right * up * up, (i, j))

    def mean(self, moments: Moments) -> fmpq_poly:
        """``Z² E[excess | Z]``."""
        return (_Z - 1) * moments.of(self.signal) + _Z * moments.of(self.noise) / moments.L

    def second(self, moments: Moments) -> fmpq_poly:
        """``Z⁴ E[excess² | Z]``: ``E_ε = (a + tr Q/Z)² + 4|b|²/Z + 2 tr Q²/Z²``."""
        L, given = moments.L, dict[Word, fmpq_poly]()
        for part, factor in ((self.signal, _Z - 1), (self.noise, _Z / L)):
            for (q, t), weight in part.items():
                _add(given, factor * weight, q, t)
        whole: Combination = {}
        for (q, t), left in given.items():
            for (r, u), right in given.items():
                _add(whole, left * right, q + r, t + u)
        return (
            moments.of(whole)
            + 4 * _Z * (_Z - 1) * moments.of(self.cross) / L
            + 2 * _Z * _Z * moments.of(self.square) / L**2
        )


def _add(
    combination: Combination, factor: fmpq | fmpq_poly, q: tuple[int, ...], t: tuple[int, ...] = ()
) -> None:
    word = (tuple(sorted(i for i in q if i)), tuple(sorted(t)))
    combination[word] = combination.get(word, fmpq_poly([0])) + factor


def mean_excess(
    law: Law,
    *,
    dim: int,
    context: int,
    depth: int,
    alpha: Exact,
    beta: Exact | None = None,
    digits: int = 15,
) -> Enclosure:
    """Enclose the mean excess risk of LCA_T at finite context, in units of ``E[ζ²]``.

    Parameters
    ----------
    law : Law
        Meeting Assumption 6.1.
    dim, context : int
        d and L.
    depth : int
        T, from 1 to 8.
    alpha, beta : exact numbers
        ``beta=None`` is ``β = -α``.
    digits : int
        Relative digits.

    Raises
    ------
    InputError, HypothesisError
        For numbers out of range, floats, or a law outside Assumption 6.1.

    Examples
    --------
    >>> from theoryverify.exact.densities import Uniform
    >>> law = Uniform(2, 5)
    >>> print(mean_excess(law, dim=5, context=40, depth=1, alpha="2/7", digits=12))
    0.095590164205213617727939909002[42, 56]
    """
    setup = _Setup.of(law, dim, context, depth, alpha, beta, MAX_DEPTH)
    return expected_quotient(setup.law, setup.excess.mean(setup.moments), 2, digits)


def second_moment_of_excess(
    law: Law,
    *,
    dim: int,
    context: int,
    depth: int,
    alpha: Exact,
    beta: Exact | None = None,
    digits: int = 15,
) -> Enclosure:
    """Enclose ``E[excess²]`` over prompts, for T up to 5; see :func:`mean_excess`.

    The excess of one prompt is averaged over the query alone: this is the second moment of what a
    simulation draws.
    """
    setup = _Setup.of(law, dim, context, depth, alpha, beta, MAX_DEPTH_SQUARE)
    return expected_quotient(setup.law, setup.excess.second(setup.moments), 4, digits)


def second_moment_about_limit(
    law: Law,
    *,
    dim: int,
    context: int,
    depth: int,
    alpha: Exact,
    beta: Exact | None = None,
    digits: int = 15,
) -> Enclosure:
    """Enclose ``E[(excess - W e(Z)²)²]``, for T up to 5; see :func:`mean_excess`.

    ``W e(Z)²`` is the excess of the same task at infinite context: a control variate, of mean
    ``ℓ(α,β)``. What remains is the fluctuation of finite context alone.
    """
    setup = _Setup.of(law, dim, context, depth, alpha, beta, MAX_DEPTH_SQUARE)
    moments, excess = setup.moments, setup.excess
    limit = (_Z - 1) * excess.residual(_Z) ** 2  # Z times the control
    numerator = (
        excess.second(moments) - 2 * _Z * limit * excess.mean(moments) + _Z * _Z * limit * limit
    )
    return expected_quotient(setup.law, numerator, 4, digits)


@dataclass(frozen=True)
class _Setup:
    law: Law
    moments: Moments
    excess: Excess

    @classmethod
    def of(
        cls,
        law: Law,
        dim: int,
        context: int,
        depth: int,
        alpha: Exact,
        beta: Exact | None,
        most: int,
    ) -> _Setup:
        law = assumptions.require(law)
        moments = Moments(positive_integer(dim, "dim"), positive_integer(context, "context"))
        depth = positive_integer(depth, "depth", most=most)
        step = rational(alpha, "alpha")
        mix = -step if beta is None else rational(beta, "beta")
        return cls(law, moments, Excess(state_coefficients(step, mix, depth)))


def expected_quotient(law: Law, numerator: fmpq_poly, pole: int, digits: int) -> Enclosure:
    """``E[numerator(Z)/Z^pole]``."""
    coefficients = tuple(rational(entry) for entry in numerator.coeffs())
    target = bits_for(digits)
    bits = target + 64
    for _ in range(6):
        with precision(bits):
            try:
                value = law.expect(LinearPower(coefficients, 1, 0, 0, pole=pole))
            except UndecidedError:
                value = None
            if value is not None and accuracy(value) >= target:
                return Enclosure.of(value)
        bits *= 2
    raise UndecidedError(f"the expectation has no enclosure with {digits} digits")


def state_coefficients(alpha: Fraction, beta: Fraction, depth: int) -> list[fmpq]:
    """``P_T(s)`` from degree 0 up, by the layers of ``theory``."""
    at = {
        theory.alpha: sympy.Rational(alpha.numerator, alpha.denominator),
        theory.beta: sympy.Rational(beta.numerator, beta.denominator),
    }
    state = sympy.Integer(0)
    for _ in range(depth):
        state = sympy.expand(theory.layer(state).subs(at))
    return [to_fmpq(rational(c)) for c in reversed(sympy.Poly(state, theory.s).all_coeffs())]
