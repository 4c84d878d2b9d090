"""How expression trees are brought to the normal form of :mod:`~theoryverify.exact.forms`.

Every rule is an identity of real functions almost everywhere. ``tanh`` is the only sigmoid
(logistic functions and ``1/(e^P + e^Q)`` are written with it), so that odd parts show.
"""

from __future__ import annotations

from fractions import Fraction

from theoryverify.errors import InputError
from theoryverify.exact.forms import PLAIN, Atom, Form, Key
from theoryverify.exact.link_tree import (
    Call,
    HermiteCall,
    Node,
    Number,
    Power,
    Product,
    Sum,
    Variable,
)
from theoryverify.exact.surds import IMAGINARY, ONE, ZERO, Surds, Z, hermite

_HALF = Form.of(Surds.of(Fraction(1, 2)))
_ODD = ("tanh", "erf", "sign", "sin")
_EVEN = ("abs", "cos")


def normal_form(node: Node) -> Form:
    """The normal form of an expression tree.

    Raises
    ------
    TooHardError
        Where the form would be too large, or a number has no exact place in it.
    """
    match node:
        case Number(value):
            return Form.of(Surds.of(value))
        case Variable():
            return Form.of(Z)
        case Sum(terms):
            total = Form({})
            for term in terms:
                total += normal_form(term)
            return total
        case Product(factors):
            product = Form.of(ONE)
            for factor in factors:
                product = product * normal_form(factor)
            return product
        case Power(base, exponent):
            return raised(normal_form(base), exponent)
        case Call(name, argument):
            return apply(name, normal_form(argument))
        case HermiteCall(order, argument):
            return _compose(hermite(order), normal_form(argument))


def raised(base: Form, exponent: Fraction) -> Form:
    """A rational power."""
    if exponent < 0:
        return apply("inverse", raised(base, -exponent))
    if exponent.denominator == 1:
        return base ** int(exponent)
    root = _root(base, exponent.denominator)
    return root**exponent.numerator


def apply(name: str, u: Form) -> Form:
    """A function of a form, with the identities that the normal form knows."""
    plain = u.polynomial
    if name == "exp":
        return _exponential(u)
    if name in ("sin", "cos") and plain is not None:
        turn = Form.of(IMAGINARY)
        forth, back = _exponential(turn * u), _exponential(-(turn * u))
        return _HALF * (forth + back) if name == "cos" else -(turn * _HALF) * (forth - back)
    if name == "logistic":
        return _HALF + _HALF * apply("tanh", _HALF * u)
    if name == "relu":
        return _HALF * (u + apply("abs", u))
    if name == "inverse":
        return _inverse(u)
    if name == "log":
        return _logarithm(u)
    if name.startswith("root"):
        return _root(u, int(name[4:]))
    if name in _ODD:
        if plain is not None and plain.is_zero:
            return Form({})
        return Form.atom(name, u) if _upright(u) else -Form.atom(name, -u)
    if name in _EVEN:
        return Form.atom(name, u if _upright(u) else -u)
    return Form.atom(name, u)


def _upright(u: Form) -> bool:
    """One of ``u`` and ``-u``, whatever order their terms came in."""
    if not u.terms:
        return True
    key = min(u.terms, key=lambda k: (str(k[0]), str(k[1])))
    first = next(iter(u.terms[key].parts.values()))
    return bool(first.leading_coefficient() > 0)


def _exponential(u: Form) -> Form:
    plain = u.terms.get(PLAIN, ZERO)
    result = Form({(plain, ()): ONE})
    rest = u - Form.of(plain)
    return result * Form.atom("exp", rest) if rest.terms else result


def _single(u: Form) -> tuple[Surds, Surds] | None:
    """``(c, P)`` where the form is ``c·exp(P)`` with a number ``c``."""
    if len(u.terms) != 1:
        return None
    (((exponent, atoms), coefficient),) = u.terms.items()
    return (coefficient, exponent) if coefficient.is_constant and not atoms else None


def _inverse(u: Form) -> Form:
    if not u.terms:
        raise InputError("the link divides by zero")
    if single := _single(u):
        coefficient, exponent = single
        return Form({(-exponent, ()): coefficient.inverse()})
    if len(u.terms) == 2 and u.is_plain:
        # c(e^P + e^Q): its reciprocal is a logistic function.
        ((p, _), a), ((q, _), b) = u.terms.items()
        if a == b and a.is_constant and (q - p).is_real:
            outer = Form({(-p, ()): a.inverse()})
            return outer * apply("logistic", Form.of(p - q))
    plain = u.polynomial
    if plain is not None:  # monic, so that equal denominators look equal
        scale = plain.leading.inverse()
        return Form.of(scale) * Form.atom("inverse", Form.of(plain * scale))
    return Form.atom("inverse", u) if _upright(u) else -Form.atom("inverse", -u)


def _logarithm(u: Form) -> Form:
    single = _single(u)
    if single is None or not single[1].is_real:
        return Form.atom("log", u)
    coefficient, exponent = single
    if coefficient == ONE:
        return Form.of(exponent)
    return Form.of(exponent) + Form.atom("log", Form.of(coefficient))


def _root(u: Form, index: int) -> Form:
    single = _single(u)
    if index == 2 and single is not None and single[1].is_real:
        coefficient, exponent = single
        value = coefficient.as_fraction()
        if value is not None and value >= 0:
            half = Surds.of(Fraction(1, 2))
            return Form({(exponent * half, ()): Surds.root(value)})
    if not u.terms:
        return u
    return Form.atom(f"root{index}", u)


def _compose(outer: Surds, inner: Form) -> Form:
    plain = inner.polynomial
    if plain is not None:
        return Form.of(outer(plain))
    total = Form({})
    for power in range(outer.degree, -1, -1):
        total = total * inner + Form.of(outer[power])
    return total


# Deciding.


def vanishes(form: Form) -> bool:
    """Whether a form is proved to be zero. Without atoms, ``False`` proves that it is not."""
    return not form.terms or not _cleared(form).terms


def is_constant(form: Form) -> bool:
    """Whether a form is proved to be a constant."""
    return form.is_number or vanishes(form - at(form, ONE))


def _cleared(form: Form) -> Form:
    """The form times nonzero denominators that make ``tanh`` and reciprocals disappear."""
    for _ in range(16):
        atom = next((a for _, atoms in form.terms for a, _ in atoms if _clears(a)), None)
        if atom is None:
            break
        form = _without(form, atom)
    return form


def _clears(atom: Atom) -> bool:
    plain = atom.argument.polynomial is not None
    return atom.name == "inverse" or (atom.name == "tanh" and plain)


def _without(form: Form, atom: Atom) -> Form:
    """``D^J · form`` with ``atom = N/D`` put in, ``J`` its highest power."""
    if atom.name == "inverse":
        numerator, denominator = Form.of(ONE), atom.argument
    else:
        squared = apply("exp", atom.argument + atom.argument)
        numerator, denominator = squared - Form.of(ONE), squared + Form.of(ONE)
    slices: dict[int, dict[Key, Surds]] = {}
    for (exponent, atoms), a in form.terms.items():
        power = dict(atoms).get(atom, 0)
        rest = tuple(item for item in atoms if item[0] != atom)
        slices.setdefault(power, {})[(exponent, rest)] = a
    highest, total = max(slices), Form({})
    for power, terms in slices.items():
        total += Form(terms) * numerator**power * denominator ** (highest - power)
    return total


# Substituting.


def reflect(form: Form) -> Form:
    """``z → -z``."""
    return _compose_terms(form, -Z)


def at(form: Form, point: Surds) -> Form:
    """The number at an exact point."""
    return _compose_terms(form, point)


def _compose_terms(form: Form, inner: Surds) -> Form:
    total = Form({})
    for (exponent, atoms), a in form.terms.items():
        term = Form({(exponent(inner), ()): a(inner)})
        for atom, power in atoms:
            term = term * apply(atom.name, _compose_terms(atom.argument, inner)) ** power
        total += term
    return total
