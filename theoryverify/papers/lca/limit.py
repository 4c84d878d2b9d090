"""Theorem F.3 for every depth at once: α*_T between two explicit numbers.

With ``r = (b-a)/(b+a)``, ``R_T(α*_T) <= R_T(α*) <= E[W] r^{2T}`` because ``|1-α*z| <= r`` on the
support. On the other side ``R_T(α) >= E[W; Z >= b-ε] (α(b-ε)-1)^{2T}`` where ``α(b-ε) > 1``, and
``R_T(α) >= E[W; Z <= a+ε] (1-α(a+ε))^{2T}`` where ``α(a+ε) < 1``. Hence, for every ε and T,

    (1 - r K_a^{1/2T})/(a+ε)  <=  α*_T  <=  (1 + r K_b^{1/2T})/(b-ε),
    K_a = E[W]/E[W; Z <= a+ε],   K_b = E[W]/E[W; Z >= b-ε].

For fixed ε both ends move monotonically to ``(1 ± r)/(·)`` as T grows (K >= 1), so a bracket at T_0
holds for all T >= T_0; and with ε -> 0 they close on ``α* = (1+r)/b = (1-r)/a``.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from flint import arb

from theoryverify.errors import UndecidedError
from theoryverify.exact.balls import Enclosure, ball, bits_for, precision
from theoryverify.exact.laws import Discrete, Law
from theoryverify.exact.rationals import Exact, positive_integer, rational
from theoryverify.papers.lca import assumptions, theory
from theoryverify.papers.lca.alpha_star import MAX_DEPTH

_HALVINGS = 48


@dataclass(frozen=True)
class Bracket:
    """``lower <= α*_T <= upper`` for every ``T >= depth``."""

    law: Law
    depth: int
    epsilon_lower: Fraction
    epsilon_upper: Fraction
    enclosure: Enclosure


def limit_bracket(
    law: Law,
    depth: int,
    *,
    epsilon: Exact | None = None,
    digits: int = 20,
) -> Bracket:
    """The bracket of Theorem F.3, with the best ``ε = (b-a) 2^{-k}`` unless one is given.

    Raises
    ------
    HypothesisError
        If the law breaks Assumption 6.1.
    """
    law = assumptions.require(law)
    depth = positive_integer(depth, "depth", most=MAX_DEPTH)
    return _bracket(law, depth, None if epsilon is None else rational(epsilon, "epsilon"), digits)


@lru_cache(maxsize=256)
def _bracket(law: Law, depth: int, epsilon: Fraction | None, digits: int) -> Bracket:
    width = law.upper - law.lower
    if epsilon is None:
        choices = [width / 2**k for k in range(1, _HALVINGS)]
        if law.atom(law.lower) and law.atom(law.upper):
            choices = [Fraction(0)]
        elif law.atom(law.lower) or law.atom(law.upper):
            choices.append(Fraction(0))
    else:
        choices = [epsilon]
    with precision(bits_for(digits) + 24):
        mean = law.expect(theory.signal_share())
        low = _best([_lower_end(law, depth, mean, e) for e in choices], largest=True)
        high = _best([_upper_end(law, depth, mean, e) for e in choices], largest=False)
        if low is None or high is None:
            raise UndecidedError(f"no mass of {law} was certified near an end of its support")
        return Bracket(
            law,
            depth,
            choices[low[0]],
            choices[high[0]],
            Enclosure(low[1].lower(), high[1].upper()),
        )


def bracket_from_here_on(law: Law, depth: int) -> Enclosure:
    """The bracket of Theorem F.3, within the ``(1/Z̄, 1/Z̲)`` of Lemma F.1."""
    bracket = limit_bracket(law, depth).enclosure
    with precision(256):
        low = max(ball(bracket.lower), (1 / ball(law.upper)).lower())
        high = min(ball(bracket.upper), (1 / ball(law.lower)).upper())
        return Enclosure(low, high)


def ratio(law: Law) -> Fraction:
    """``r = (b-a)/(b+a)``."""
    return (law.upper - law.lower) / (law.upper + law.lower)


def _upper_end(law: Law, depth: int, mean: arb, epsilon: Fraction) -> arb | None:
    mass = (
        _mass_at(law, law.upper)
        if epsilon == 0
        else law.expect(theory.signal_share(), on=(law.upper - epsilon, None))
    )
    if not mass > 0:
        return None
    growth = ((mean / mass).log() / (2 * depth)).exp()
    return (1 + ball(ratio(law)) * growth) / ball(law.upper - epsilon)


def _lower_end(law: Law, depth: int, mean: arb, epsilon: Fraction) -> arb | None:
    mass = (
        _mass_at(law, law.lower)
        if epsilon == 0
        else law.expect(theory.signal_share(), on=(None, law.lower + epsilon))
    )
    if not mass > 0:
        return None
    growth = ((mean / mass).log() / (2 * depth)).exp()
    return (1 - ball(ratio(law)) * growth) / ball(law.lower + epsilon)


def _mass_at(law: Law, point: Fraction) -> arb:
    return ball(law.atom(point)) * Discrete({point: 1}).expect(theory.signal_share())


def _best(ends: list[arb | None], *, largest: bool) -> tuple[int, arb] | None:
    found: tuple[int, arb] | None = None
    for index, end in enumerate(ends):
        if end is None or not end.is_finite():
            continue
        if found is None or (end > found[1] if largest else end < found[1]):
            found = (index, end)
    return found
