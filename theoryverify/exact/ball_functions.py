"""Links as functions of complex balls, ready for the rigorous integrator.

Constants are rounded outward once, at the precision at which the function is made; polynomials
are evaluated by FLINT in one go. Every function passes the integrator's ``analytic`` flag on:
where it is set, a branch point or kink inside the ball must give a non-finite answer.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from flint import acb, acb_poly, arb

from theoryverify.exact.link_tree import Call, HermiteCall, Node, Number, Power, Product, Sum
from theoryverify.exact.normal_form import normal_form
from theoryverify.exact.quadrature import Integrand
from theoryverify.exact.surds import Surds, TooHardError, hermite

_FUNCTIONS: dict[str, Callable[[acb, bool], acb]] = {
    "exp": lambda u, a: u.exp(),
    "sin": lambda u, a: u.sin(),
    "cos": lambda u, a: u.cos(),
    "tanh": lambda u, a: u.tanh(),
    "erf": lambda u, a: u.erf(),
    "log": lambda u, a: u.log(analytic=a),
    "abs": lambda u, a: u.real_abs(analytic=a),
    "sign": lambda u, a: u.real_sgn(analytic=a),
    "relu": lambda u, a: (u + u.real_abs(analytic=a)) / 2,
    "logistic": lambda u, a: logistic(u),
}
# From this degree on the monomial form of He_k is worse than its recurrence.
_MONOMIAL_DEGREE = 24


def logistic(u: acb) -> acb:
    """``1/(1 + e^{-u})`` without overflow; the two formulas are one function."""
    if u.real.mid() < 0:
        e = u.exp()
        return e / (1 + e)
    return 1 / (1 + (-u).exp())


def polynomial_function(polynomial: Surds) -> Callable[[acb], acb]:
    """A polynomial with its coefficients rounded outward at the current precision."""
    value: Callable[[acb], acb] = acb_poly(polynomial.coefficients())
    return value


def hermite_function(k: int) -> Callable[[acb], acb]:
    """``He_k`` by whichever of its two formulas is the tighter one in balls."""
    if k < _MONOMIAL_DEGREE:
        return polynomial_function(hermite(k))

    def recurrence(u: acb) -> acb:
        before, value = acb(1), u
        for n in range(1, k):
            before, value = value, u * value - n * before
        return value

    return recurrence


def ball_function(node: Node) -> Integrand:
    """The function ``(z, analytic) -> ball`` of an expression, at the current precision."""
    polynomial = _low_polynomial(node)
    if polynomial is not None:
        plain = polynomial_function(polynomial)
        return lambda z, a: plain(z)
    match node:
        case Number(value):
            constant = acb(arb(value.numerator) / value.denominator)
            return lambda z, a: constant
        case Sum(terms):
            return _sum([ball_function(t) for t in terms])
        case Product(factors):
            return _product([ball_function(f) for f in factors])
        case Power(base, exponent):
            return _power(ball_function(base), exponent)
        case Call(name, argument):
            outer, inner = _FUNCTIONS[name], ball_function(argument)
            return lambda z, a: outer(inner(z, a), a)
        case HermiteCall(order, argument):
            polynomial_of, inner = hermite_function(order), ball_function(argument)
            return lambda z, a: polynomial_of(inner(z, a))
        case _:
            return lambda z, a: z


def _low_polynomial(node: Node) -> Surds | None:
    try:
        polynomial = normal_form(node).polynomial
    except TooHardError:
        return None
    if polynomial is None or polynomial.degree >= _MONOMIAL_DEGREE:
        return None
    return polynomial


def _sum(functions: list[Integrand]) -> Integrand:
    def total(z: acb, a: bool) -> acb:
        value = functions[0](z, a)
        for function in functions[1:]:
            value += function(z, a)
        return value

    return total


def _product(functions: list[Integrand]) -> Integrand:
    def total(z: acb, a: bool) -> acb:
        value = functions[0](z, a)
        for function in functions[1:]:
            value *= function(z, a)
        return value

    return total


def _power(base: Integrand, exponent: Fraction) -> Integrand:
    whole, index = exponent.numerator, exponent.denominator
    if index == 1:
        return lambda z, a: base(z, a) ** whole
    if index == 2:
        return lambda z, a: base(z, a).sqrt(analytic=a) ** whole

    def root(z: acb, a: bool) -> acb:
        # The principal branch: its cut is where the logarithm's is.
        return base(z, a).pow(acb(arb(whole) / index), analytic=a)

    return root
