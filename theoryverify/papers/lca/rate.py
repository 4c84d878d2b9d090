"""The first terms of α*_T and β*_T at one law and depth, enclosed (:mod:`.rate_theory`)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import Any

import sympy
from flint import arb, arb_series

from theoryverify.errors import InputError
from theoryverify.exact.balls import Enclosure, ball, bits_for, precision, sign
from theoryverify.exact.ends import EndSeries, end_series
from theoryverify.exact.evaluate import BALL, compiled
from theoryverify.exact.laws import Law
from theoryverify.exact.rationals import Exact, positive_integer, rational
from theoryverify.papers.lca import appendix_g, assumptions, rate_theory, theory, two
from theoryverify.papers.lca.alpha_star import MAX_DEPTH
from theoryverify.papers.lca.kernels import weight_polynomial
from theoryverify.papers.lca.limit import bracket_from_here_on

_MOST_TERMS = 30


@dataclass(frozen=True)
class Ends:
    """``WZ dP`` at the two ends, and ``E[W]``."""

    law: Law
    lower: EndSeries
    upper: EndSeries
    mean: arb

    @property
    def terms(self) -> int:
        """How many terms of the expansion the ends fix: 1 or 2."""
        return min(2, len(self.lower.masses), len(self.upper.masses))

    @property
    def order(self) -> Fraction:
        """The power of 1/T that two terms leave out: 3, or ``1+g`` where an end carries a power
        ``s^{k+g}`` beside its series, ``1 < g < 2``."""
        return min([Fraction(3), *(1 + g for g in (self.lower.between, self.upper.between) if g)])

    def values(self, depth: int) -> dict[str, arb]:
        """What the formulas of :mod:`.rate_theory` need, by the names of their symbols."""
        a, b = ball(self.law.lower), ball(self.law.upper)
        low, high = self.lower, self.upper
        found = {
            "a": a,
            "b": b,
            "T": ball(depth),
            "k_a": ball(low.exponent),
            "k_b": ball(high.exponent),
            "g_a": low.mass,
            "g_b": high.mass,
            "E_W": self.mean,
            "s": ball((-1) ** depth),
            "pi_a": low.mass / (a * self.mean),
            "pi_b": high.mass / (b * self.mean),
        }
        for name, end in (("a", low), ("b", high)):
            # Where it is unknown, a formula that uses it must not come to a value.
            second = end.masses[1] / end.mass if self.terms > 1 else arb("nan")
            found[f"gamma_{name}"] = (b - a) / 2 * second
            found[f"tau_{name}"] = (((b - a) / depth).log() * ball((end.exponent + 1) / 2)).exp()
        found["Lambda"] = compiled(rate_theory.log_ratio(), BALL)(found, False)
        return found


@dataclass(frozen=True)
class Expansion:
    """The known terms of ``α*_T - α*`` or ``β*_T + α*``.

    Attributes
    ----------
    terms : dict
        From the name of a term to its enclosure at this depth.
    value : Enclosure
        The limit and all terms.
    error : str
        The order of what is left out.
    bounds : Enclosure
        Where α*_T or β*_T lies for certain.
    in_range : bool
        Whether no partial sum is seen to leave the bounds. Where one does, T is too small for the
        terms to mean anything.
    """

    terms: dict[str, Enclosure]
    value: Enclosure
    error: str
    bounds: Enclosure
    in_range: bool

    def to_json(self) -> dict[str, Any]:
        return {
            "terms": {name: term.to_json() for name, term in self.terms.items()},
            "value": self.value.to_json(),
            "error": self.error,
            "bounds": self.bounds.to_json(),
            "in_range": self.in_range,
        }

    def __str__(self) -> str:
        shown = " ".join(f"{_signed(term)} ({name})" for name, term in self.terms.items())
        warning = "" if self.in_range else f"; T is too small: they leave {self.bounds}"
        return f"{shown} + {self.error}{warning}"


def _signed(term: Enclosure) -> str:
    """In eight digits, with its sign where that is known."""
    if term.sign() is None:
        return f"±{max(-float(term.lower), float(term.upper)):.1g}"
    return f"{float(term):+.8g}"


@dataclass(frozen=True)
class Rate:
    """What the command ``alpha-star`` says of the approach to the limits.

    Attributes
    ----------
    order : str
        ``"1/T"`` where both end exponents of ``WZ dP`` agree, else ``"log(T)/T"``.
    alpha : Expansion
        Of α*_T, one parameter.
    beta : Expansion or None
        Of β*_T, two parameters; none where there is no β*_T to expand, or none is seen.
    minimum : bool or None
        Whether F_T has a stationary point β*_T in the window ``(-2/Z̄, 0)``; ``None`` at T = 1, where
        all points are, and where it is not decided (from T = 10^6 to the ``T'`` of Lemma G.6).
    """

    order: str
    alpha: Expansion
    beta: Expansion | None
    minimum: bool | None

    @classmethod
    def of(cls, law: Law, depth: int, digits: int = 30) -> Rate:
        with precision(64):
            ends = law_ends(law, 1)
        equal = ends.lower.exponent == ends.upper.exponent
        minimum = _minimum_in_window(law, depth) if depth > 1 else None
        beta = beta_expansion(law, depth, digits) if minimum else None
        order = "1/T" if equal else "log(T)/T"
        return cls(order, alpha_expansion(law, depth, digits), beta, minimum)

    def to_json(self) -> dict[str, Any]:
        found = {"expansion": self.alpha.to_json(), "minimum_in_window": self.minimum}
        return found | ({"beta_expansion": self.beta.to_json()} if self.beta else {})

    def lines(self) -> list[str]:
        """For the terminal."""
        shown = [f"alpha*_T - lim {self.alpha}"]
        if self.beta:
            shown.append(f"beta*_T + lim  {self.beta}   (two parameters)")
        elif self.minimum is False:
            shown.append("beta*_T        none in (-2/Zmax, 0) at this T   (two parameters)")
        return shown


def _minimum_in_window(law: Law, depth: int) -> bool | None:
    """Whether F_T has a stationary point in ``(-2/Z̄, 0)``; from ``T'(-1/Z̄)`` on (Lemma G.6) it has."""
    if depth >= appendix_g.constants(law, -1 / law.upper).depth_bound:
        return True
    if depth > two.MAX_DEPTH:
        return None
    inside = two.interior_sign(law, depth)
    return None if inside is None else inside == -1


def law_ends(law: Law, terms: int = 2) -> Ends:
    """The end series of ``WZ dP``, at the current precision.

    Raises
    ------
    HypothesisError, InputError
        For a law outside Assumption 6.1, or one whose ends are not understood.
    """
    law = assumptions.require(law)
    weight = weight_polynomial()
    low, high = (end_series(law, side, weight, terms) for side in ("lower", "upper"))
    return Ends(law, low, high, law.expect(theory.signal_share()))


def evaluated(expression: sympy.Expr, law: Law, depth: int) -> arb:
    """A formula of :mod:`.rate_theory` at one law and depth, at the current precision."""
    return compiled(expression, BALL)(law_ends(law).values(depth), False)


def first_order_gap(law: Law, depth: int, digits: int = 15) -> Enclosure:
    """Enclose the first-order term of ``T(α*_T - α*)``.

    Raises
    ------
    HypothesisError, InputError
        For a law outside Assumption 6.1, or one whose ends are not understood.

    Examples
    --------
    >>> from theoryverify.exact.densities import Uniform
    >>> print(first_order_gap(Uniform(2, 5), 1000, digits=6))
    -0.04243758248326195771942237[61, 23]
    """
    depth = positive_integer(depth, "depth", most=MAX_DEPTH)
    with precision(bits_for(digits) + 64):
        return Enclosure.of(depth * evaluated(rate_theory.first_order(), law, depth))


def alpha_expansion(law: Law, depth: int, digits: int = 30) -> Expansion:
    """The first one or two terms of ``α*_T - α*``.

    Raises
    ------
    HypothesisError, InputError
        For a law outside Assumption 6.1, or one whose ends are not understood.

    Examples
    --------
    >>> from theoryverify.exact.densities import Uniform
    >>> found = alpha_expansion(Uniform(2, 5), 1000)
    >>> found.value.decimal(15), found.error
    (('0.285671883134101', '0.285671883134102'), 'O(1/T^3)')
    """
    depth = positive_integer(depth, "depth", most=MAX_DEPTH)
    with precision(bits_for(digits) + 64):
        ends = law_ends(law)
        names = {"first": rate_theory.first_order(), "second": rate_theory.second_order()}
        chosen = dict(list(names.items())[: ends.terms])
        equal = ends.lower.exponent == ends.upper.exponent
        if ends.terms < 2:  # a power less than one above the leading one: before T^-2
            error = "o(1/T)"
        elif equal or ends.order < 3:  # log(T)^3/T^3 is smaller than the power between
            error = f"O(1/{_power(ends.order)})"
        else:
            error = "O(log(T)^3/T^3)"
        limit = ball(2 / (law.lower + law.upper))
        return _expansion(ends, depth, limit, chosen, error, bracket_from_here_on(law, depth))


def beta_expansion(law: Law, depth: int, digits: int = 30) -> Expansion:
    """The known terms of ``β*_T + α*``, two parameters.

    Raises
    ------
    HypothesisError, InputError
        For a law outside Assumption 6.1, or one whose ends are not understood.
    """
    depth = positive_integer(depth, "depth", least=2, most=MAX_DEPTH)
    with precision(bits_for(digits) + 64):
        ends = law_ends(law)
        exponents = (ends.lower.exponent, ends.upper.exponent)
        limit = ball(-2 / (law.lower + law.upper))
        bounds = _window(law)
        if min(exponents) == -1:
            first = first_order_two(exponents)
            if depth % 2 == 0 and law.atom(law.lower) + law.atom(law.upper) == 1:
                first = sympy.Integer(0)  # β*_T = -α*: there the two powers of q are equal
            return _expansion(ends, depth, limit, {"first": first}, "o(1/T)", bounds)
        chosen = {"first": -rate_theory.first_order()}
        least, gap = min(exponents), abs(exponents[0] - exponents[1])
        if least >= 0 and ends.terms > 1:
            chosen["second"] = -rate_theory.second_order()
        if least <= 0:
            chosen["two-parameter shift"] = rate_theory.two_parameter_shift()
        # After the shift of order least+2: its square, its cross term, the next power of 1/T.
        if least > 0:
            order = min(Fraction(3), least + 2)
        elif least == 0:
            order = Fraction(3)
        else:
            order = min(2 * least + 3, Fraction(2))
        if len(chosen) == 1 or ends.terms < 2:
            error = "o(1/T)"
        else:
            power = _power(min(order, ends.order))
            error = f"O(1/{power})" if gap == 0 else f"O(log(T)^3/{power})"
        return _expansion(ends, depth, limit, chosen, error, bounds)


def _window(law: Law) -> Enclosure:
    """Where the β*_T of the window lies (``lca.uniqueness.bisection``)."""
    least = -min(1 / law.lower, 2 / law.upper)
    return Enclosure(ball(least).lower(), ball(-1 / law.upper).upper())


def _power(order: Fraction) -> str:
    return f"T^{order}" if order.denominator == 1 else f"T^({order})"


def first_order_two(exponents: tuple[Fraction, Fraction]) -> sympy.Expr:
    """The first term of ``β*_T + α*``: an atom at an end has an order-one share in the balance."""
    first = -rate_theory.first_order()
    slope = -(theory.b - theory.a) / (theory.a + theory.b) ** 2 / (2 * theory.T)
    if max(exponents) == -1:
        return slope * 2 * sympy.log(rate_theory.atoms_root())
    if exponents[0] == -1:
        return first + slope * sympy.log(1 - rate_theory.pi_a)
    if exponents[1] == -1:
        return first - slope * sympy.log(1 - rate_theory.pi_b)
    return first


def _expansion(
    ends: Ends,
    depth: int,
    limit: arb,
    chosen: dict[str, sympy.Expr],
    error: str,
    bounds: Enclosure,
) -> Expansion:
    values = ends.values(depth)
    terms = {name: compiled(term, BALL)(values, False) for name, term in chosen.items()}
    sums = list(accumulate(terms.values(), initial=limit))
    low, high = ball(bounds.lower), ball(bounds.upper)
    in_range = not any(entry < low or entry > high for entry in sums)
    return Expansion(
        {name: Enclosure.of(term) for name, term in terms.items()},
        Enclosure.of(sums[-1]),
        error,
        bounds,
        in_range,
    )


# -- every depth from one on --------------------------------------------------------------------


def within_for_all(expansion: sympy.Expr, law: Law, least: int, constant: Exact) -> bool | None:
    """Whether ``|α*_T - expansion| < constant/T³`` for *every* ``T >= least``.

    For one polynomial piece with equal exponents the balance of the two ends is an exact equation in
    ``x = 1/(2T)`` and α, whose left side falls with α (Lemma F.1):

        Φ = (1+kx)(log ρ_a - log ρ_b) + x log(Σ_i g_{a,i} ρ_a^i x^i/Π_{j<=i}(1+(k+j)x))
            - x log(Σ_i g_{b,i} ρ_b^i x^i/Π_{j<=i}(1+(k+j)x)).

    At ``α = expansion ± constant/T³`` its Taylor coefficients of order 0, 1, 2 vanish by the
    identities of the claim, so ``Φ = x³ c₃(ξ)`` with ξ between 0 and ``1/(2·least)``; one ball of
    ``c₃`` over that interval decides the sign for all T.

    Returns
    -------
    bool or None
        ``False`` if a coefficient of lower order is certified not to vanish: then the error is not
        ``O(T⁻³)``.

    Raises
    ------
    InputError
        For a law that is not one polynomial piece with equal exponents.
    """
    least = positive_integer(least, "least", most=MAX_DEPTH)
    size = ball(rational(constant, "constant"))
    with precision(200):
        ends = law_ends(law, _MOST_TERMS)
        if not (ends.lower.finite and ends.upper.finite) or (
            ends.lower.exponent != ends.upper.exponent
        ):
            raise InputError(f"{law} is not one polynomial piece with equal end exponents")
        values = ends.values(1)
        x = sympy.Symbol("x_", positive=True)
        in_x = sympy.Poly(sympy.expand(expansion.subs(theory.T, 1 / (2 * x))), x)
        series = [
            compiled(in_x.coeff_monomial(x**k), BALL)(values, False)
            for k in range(in_x.degree() + 1)
        ]
        outcome: bool | None = True
        for side in (1, -1):
            moved = [*series, *([arb(0)] * (4 - len(series)))]
            moved[3] += 8 * side * size  # constant/T³ = 8·constant·x³
            exact = [_balance(ends, moved, arb(0))[order] for order in range(3)]
            if any(sign(entry) in (1, -1) for entry in exact):
                return False
            over = _balance(ends, moved, arb(0).union(ball(Fraction(1, 2 * least))))[3]
            if sign(over) != -side:
                outcome = None
        return outcome


def _balance(ends: Ends, alpha: list[arb], x: arb) -> list[arb]:
    """The Taylor coefficients of ``Φ`` to order 3, at every point of the ball ``x``."""
    at = arb_series([x, arb(1)], 4)
    value = arb_series([alpha[-1]], 4)
    for coefficient in reversed(alpha[:-1]):
        value = value * at + coefficient
    inverse = 1 / value
    low, high = inverse - ball(ends.law.lower), ball(ends.law.upper) - inverse
    k = ball(ends.lower.exponent)

    def log_sum(end: EndSeries, distance: arb_series) -> arb_series:
        total, factor = arb_series([arb(0)], 4), arb_series([arb(1)], 4)
        for index, mass in enumerate(end.masses):
            total += mass * factor
            factor = factor * distance * at / (1 + (k + index + 1) * at)
        return total.log()

    phi = (1 + k * at) * (low.log() - high.log())
    phi += at * (log_sum(ends.lower, low) - log_sum(ends.upper, high))
    return [phi[order] for order in range(4)]
