"""The risk at finite context, exactly: a polynomial in d, 1/L, |m|², α, β for each depth.

``ŵ_T = P_T(Σ̂) Xy/L`` with ``P_T`` from ``theory.layer``. In the Krylov chain of the prompt
(:mod:`theoryverify.simulate.exact_law`) ``ŵ·m`` and ``|ŵ|²`` are polynomials in *independent* chi
and normal variables, so their expectations are read off monomial by monomial:
``E n^{2k} = (2k-1)!!`` and ``E (χ²_f)^k = f(f+2)...(f+2k-2)``. Nothing is guessed or fitted.

With the query averaged out, ``E(y_q - ŷ_q)²/ζ² = Var(u)(1 - ŵ·m)² + Var(μ)|ŵ|²`` given the prompt.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import sympy
from flint import arb
from sympy.polys.rings import PolyElement, PolyRing

from theoryverify.errors import InputError
from theoryverify.exact.balls import Enclosure, ball, bits_for, precision
from theoryverify.exact.integrands import Z
from theoryverify.exact.laws import Law
from theoryverify.exact.rationals import Exact, positive_integer, rational
from theoryverify.papers.lca import theory
from theoryverify.papers.lca.theory import M, alpha, beta

d, L = sympy.symbols("d L", positive=True, integer=True)
j = sympy.Symbol("j", positive=True, integer=True)

MAX_EXACT_DEPTH = 3


@dataclass(frozen=True)
class ChainDegrees:
    """The degrees of freedom of the chain's chi variables, as expressions in d, L and j.

    ``labels``: ``|u|² ~ χ²``. ``across``: what ``a_j²`` has beside its part along m.
    ``down``: ``b_j²``. ``spike`` is the size of m's share in the first vector: 1, and 0 in the
    wrong chain that forgets the spike.
    """

    labels: sympy.Expr = L
    across: sympy.Expr = d - j
    down: sympy.Expr = L - j
    spike: sympy.Expr = sympy.Integer(1)


CHAIN = ChainDegrees()


@dataclass(frozen=True)
class PromptMoments:
    """Expectations given m, as polynomials in d, 1/L, M = |m|², α, β.

    ``risk = E[Var(u)(1-ŵ·m)² + Var(μ)|ŵ|²]``, Bayes risk included; ``along = E[ŵ·m]``,
    ``along_square = E[(ŵ·m)²]``, ``square = E|ŵ|²``.
    """

    risk: sympy.Expr
    along: sympy.Expr
    along_square: sympy.Expr
    square: sympy.Expr


def prompt_moments(
    depth: int, setting: theory.Setting = theory.PAPER, degrees: ChainDegrees = CHAIN
) -> PromptMoments:
    """The exact moments of T layers, for every d, L, |m|², α, β at once.

    Parameters
    ----------
    depth : int
        T, from 1 to 3. (The method has no such limit; the number of terms grows fast.)
    setting : theory.Setting
        The variances of (3.1).
    degrees : ChainDegrees
        The chain's degrees of freedom: an argument, so that a wrong chain can be examined.

    Raises
    ------
    InputError
        For a depth out of range.

    Notes
    -----
    Where a chi's degrees ``d-j`` or ``L-j`` are negative (a chain longer than d or L) the formula
    still holds: the polynomial ``f(f+2)...`` is multiplied by an earlier factor that vanishes.
    """
    depth = positive_integer(depth, "depth", most=MAX_EXACT_DEPTH)
    return _prompt_moments(depth, setting, degrees)


def prompt_moments_at(
    depth: int, at: dict[sympy.Symbol, sympy.Expr], degrees: ChainDegrees = CHAIN
) -> PromptMoments:
    """The same at given d, L, α, β (see :func:`prompt_point`): polynomials in M alone, faster.

    Raises
    ------
    InputError
        For a depth above 3.
    """
    depth = positive_integer(depth, "depth", most=MAX_EXACT_DEPTH)
    return _moments_of(_SymbolicChain(depth, theory.PAPER, degrees, at))


@lru_cache(maxsize=32)
def _prompt_moments(depth: int, setting: theory.Setting, degrees: ChainDegrees) -> PromptMoments:
    return _moments_of(_SymbolicChain(depth, setting, degrees))


def _moments_of(chain: _SymbolicChain) -> PromptMoments:
    setting = chain.setting
    along, square = chain.along(), chain.square()
    first, second, length = (chain.mean(p) for p in (along, along**2, square))
    risk = setting.variance_u * (1 - 2 * first + second) + setting.variance_noise * length
    return PromptMoments(sympy.expand(risk), first, second, length)


def second_moment_of_risk(depth: int, at: dict[sympy.Symbol, sympy.Expr]) -> sympy.Expr:
    """``E[((1-ŵ·m)² + |ŵ|²)² | m]`` at given d, L, α, β, as a polynomial in M; T = 1 or 2.

    Raises
    ------
    InputError
        For a depth out of range.
    """
    depth = positive_integer(depth, "depth", most=2)
    chain = _SymbolicChain(depth, theory.PAPER, CHAIN, at)
    given = (1 - chain.along()) ** 2 + chain.square()
    return chain.mean(given**2).subs(at)


class _SymbolicChain:
    """``ŵ`` in the chain, as polynomials in its independent variables.

    The vector ``S^k c`` (``S = LΣ̂``, ``c = Xû = a_1 q_1``) has the coordinate
    ``a_1 (b_1 a_2) ... (b_{j-1} a_j) x_j`` along ``q_j``, and ``x`` obeys

        (Sx)_j = (a_j² + b_j²) x_j + (b_j a_{j+1})² x_{j+1} + x_{j-1}.

    On m that coordinate counts ``|m| (Π_{i<j} b_i) e_1 ... e_{j-1} n_j x_j`` for ``j >= 2``, and
    ``|m| (|u||m| + n_1) x_1`` for ``j = 1``, where ``a_j² = n_j² + e_j²`` (``n_1`` shifted).
    """

    def __init__(
        self,
        depth: int,
        setting: theory.Setting,
        degrees: ChainDegrees,
        at: dict[sympy.Symbol, sympy.Expr] | None = None,
    ) -> None:
        parameters = ["alpha", "beta", "inverse_L", "r"]
        random = ["u", *(f"{kind}{i}" for i in range(1, depth + 1) for kind in ("n", "e", "b"))]
        self.ring = PolyRing([*parameters, *random], sympy.QQ, sympy.polys.orderings.lex)
        self.gen = dict(zip([*parameters, *random], self.ring.gens, strict=True))
        self.depth, self.setting, self.degrees = depth, setting, degrees
        self.values = {} if at is None else at
        extra = (setting.variance_u.free_symbols | setting.variance_noise.free_symbols) - {d, L}
        self.sizes = PolyRing([d, L, *sorted(extra, key=str)], sympy.QQ)
        self._moments: dict[tuple[str, int], PolyElement] = {}
        self._x = self._coordinates()

    def _variable(self, kind: str, index: int) -> PolyElement:
        return self.gen[f"{kind}{index}"]

    def _a_square(self, index: int) -> PolyElement:
        along = self._variable("n", index)
        if index == 1:
            along = along + self._from_sympy(self.degrees.spike) * self.gen["u"] * self.gen["r"]
        return along**2 + self._variable("e", index) ** 2

    def _coordinates(self) -> list[PolyElement]:
        """``x`` of ``ŵ / (|u|/L)``: the state polynomial of ``theory`` applied to ``c``."""
        power = [self.ring.one] + [self.ring.zero] * (self.depth - 1)
        total = [self.ring.zero] * self.depth
        for coefficient in _state_coefficients(self.depth):
            factor = self._from_sympy(coefficient)
            total = [t + factor * x for t, x in zip(total, power, strict=True)]
            power = [self.gen["inverse_L"] * entry for entry in self._apply(power)]
        return total

    def _apply(self, x: list[PolyElement]) -> list[PolyElement]:
        result = []
        for index in range(1, self.depth + 1):
            b_square = self._variable("b", index) ** 2
            entry = (self._a_square(index) + b_square) * x[index - 1]
            if index < self.depth:
                entry += b_square * self._a_square(index + 1) * x[index]
            if index > 1:
                entry += x[index - 2]
            result.append(entry)
        return result

    def along(self) -> PolyElement:
        """``ŵ·m``."""
        u, r = self.gen["u"], self.gen["r"]
        spike = self._from_sympy(self.degrees.spike) * u * r
        total = self._x[0] * (spike + self._variable("n", 1))
        reach = self.ring.one
        for index in range(2, self.depth + 1):
            reach *= self._variable("b", index - 1) * self._variable("e", index - 1)
            total += reach * self._variable("n", index) * self._x[index - 1]
        return total * u * r * self.gen["inverse_L"]

    def square(self) -> PolyElement:
        """``|ŵ|²``."""
        size, total = self._a_square(1), self.ring.zero
        for index in range(1, self.depth + 1):
            if index > 1:
                size *= self._variable("b", index - 1) ** 2 * self._a_square(index)
            total += size * self._x[index - 1] ** 2
        return total * self.gen["u"] ** 2 * self.gen["inverse_L"] ** 2

    def mean(self, polynomial: PolyElement) -> sympy.Expr:
        """The expectation, with d, L, M, α, β left as symbols (or at the given values)."""
        names = list(self.gen)
        total: dict[tuple[int, ...], PolyElement] = {}
        for powers, coefficient in polynomial.terms():
            if any(power % 2 for power in powers[3:]):
                continue  # an odd power of a symmetric variable, or of r beside one
            value = self.sizes.ground_new(coefficient)
            for name, power in zip(names[4:], powers[4:], strict=True):
                if power:
                    value *= self._moment(name, power // 2)
            total[powers[:4]] = total.get(powers[:4], self.sizes.zero) + value
        return sympy.Add(
            *(
                sympy.expand(value.as_expr() * (alpha**p * beta**q * L**-i).subs(self.values))
                * M ** (r // 2)
                for (p, q, i, r), value in total.items()
            )
        ).expand()

    def _moment(self, name: str, half: int) -> PolyElement:
        """``E v^{2 half}``, in the ring of the sizes."""
        if (name, half) not in self._moments:
            self._moments[name, half] = self.sizes.from_expr(sympy.expand(self._even(name, half)))
        return self._moments[name, half]

    def _even(self, name: str, half: int) -> sympy.Expr:
        kind, index = name[0], int(name[1:] or 0)
        noise = self.setting.variance_noise**half
        if kind == "n":
            return sympy.factorial2(2 * half - 1) * noise
        if kind == "u":
            labels = self.degrees.labels.subs(self.values)
            return _chi_moment(labels, half) * self.setting.variance_u**half
        degrees = self.degrees.across if kind == "e" else self.degrees.down
        return _chi_moment(degrees.subs(j, index).subs(self.values), half) * noise

    def _from_sympy(self, expression: sympy.Expr) -> PolyElement:
        """A polynomial in α and β, at the given values."""
        poly = sympy.Poly(sympy.sympify(expression).subs(self.values), alpha, beta)
        total = self.ring.zero
        for (p, q), c in poly.terms():
            total += sympy.QQ(int(c.p), int(c.q)) * self.gen["alpha"] ** p * self.gen["beta"] ** q
        return total


def _chi_moment(degrees: sympy.Expr, order: int) -> sympy.Expr:
    """``E (χ²_f)^k = f(f+2)...(f+2k-2)``."""
    return sympy.Mul(*(degrees + 2 * i for i in range(order)))


@lru_cache(maxsize=8)
def _state_coefficients(depth: int) -> tuple[sympy.Expr, ...]:
    """``P_T(s)`` from degree 0 up, by the layers of ``theory``."""
    state = sympy.Integer(0)
    for _ in range(depth):
        state = sympy.expand(theory.layer(state))
    return tuple(reversed(sympy.Poly(state, theory.s).all_coeffs()))


def first_depth_excess() -> sympy.Expr:
    """T = 1 given Z: ``W(1-αZ)² + (α²/L)(d - 1 + 2Z² - Z)``."""
    W = theory.signal_share()
    return W * (1 - alpha * Z) ** 2 + alpha**2 / L * (d - 1 + 2 * Z**2 - Z)


# -- at a law -----------------------------------------------------------------------------------


def finite_risk(
    law: Law,
    *,
    dim: int,
    context: int,
    depth: int,
    alpha: Exact,
    beta: Exact | None = None,
    digits: int = 30,
) -> tuple[Enclosure, Enclosure]:
    """Enclose the risk and the excess risk at finite context, T <= 3, in units of ``E[ζ²]``.

    Parameters
    ----------
    law : Law
        The law of Z.
    dim, context, depth : int
        d, L and T (from 1 to 3).
    alpha, beta : exact numbers
        ``beta=None`` is ``β = -α``.
    digits : int
        Relative digits of the risk.

    Returns
    -------
    risk, excess : Enclosure
        ``E(y_q-ŷ_q)²`` and the same less the Bayes risk ``E[1/Z]``.

    Raises
    ------
    InputError
        For sizes that are not positive integers, a depth above 3, or floats.

    Examples
    --------
    >>> from theoryverify.exact.densities import Uniform
    >>> law = Uniform(2, 5)
    >>> risk, excess = finite_risk(law, dim=5, context=40, depth=1, alpha="2/7", digits=12)
    >>> round(float(excess), 12)
    0.095590164205
    """
    point = prompt_point(dim, context, alpha, beta)
    polynomial = sympy.Poly(prompt_moments_at(depth, point).risk.subs(M, Z - 1), Z)
    with precision(bits_for(positive_integer(digits, "digits", most=2000)) + 64):
        risk = mean_of_polynomial(law, polynomial)
        return Enclosure.of(risk), Enclosure.of(risk - law.expect(theory.noise_share()))


def prompt_point(
    dim: int, context: int, at_alpha: Exact, at_beta: Exact | None
) -> dict[sympy.Symbol, sympy.Expr]:
    """The symbols d, L, α, β at exact values."""
    step = rational(at_alpha, "alpha")
    mix = -step if at_beta is None else rational(at_beta, "beta")
    return {
        d: sympy.Integer(positive_integer(dim, "dim")),
        L: sympy.Integer(positive_integer(context, "context")),
        alpha: sympy.Rational(step.numerator, step.denominator),
        beta: sympy.Rational(mix.numerator, mix.denominator),
    }


def mean_of_polynomial(law: Law, polynomial: sympy.Poly) -> arb:
    """``E[p(Z)]`` from the law's moments: exact ones where they are rational, else balls."""
    if polynomial.gens != (Z,):
        raise InputError(f"{polynomial} is not a polynomial in {Z}")
    total = arb(0)
    for (order,), coefficient in polynomial.terms():
        moment: Any = law.moment(order)
        value = law.expect(Z**order) if moment is None else ball(moment)
        total += ball(rational(coefficient)) * value
    return total
