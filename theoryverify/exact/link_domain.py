"""Is a link real almost everywhere, and is its square integrable under N(0, 1)?

Three answers: shown, refuted (an :class:`~theoryverify.errors.InputError`, with the reason), or
not decided (an :class:`~theoryverify.errors.UndecidedError`).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from fractions import Fraction

from flint import acb, arb

from theoryverify.errors import InputError, UndecidedError
from theoryverify.exact.ball_functions import ball_function
from theoryverify.exact.balls import precision
from theoryverify.exact.forms import Atom, Form
from theoryverify.exact.growth import Envelope, Ray, UnboundedError
from theoryverify.exact.link_tree import Call, Node, Power, render
from theoryverify.exact.normal_form import at
from theoryverify.exact.pieces import Piece, children, reflected
from theoryverify.exact.points import Point, real_roots
from theoryverify.exact.surds import Surds, TooHardError

_BITS = 64


def require_real(piece: Piece, text: str) -> None:
    """Refuse even roots and logarithms of what is negative, and poles."""
    for node in _walk(piece.node):
        if isinstance(node, Power) and node.exponent.denominator > 1:
            _require_nonnegative(node.base, piece, "root", text)
        if isinstance(node, Call) and node.name == "log":
            _require_nonnegative(node.argument, piece, "logarithm", text)
    if piece.form is not None:
        _refuse_poles(piece.form, piece, text)


def _walk(node: Node) -> Iterator[Node]:
    yield node
    for child in children(node):
        yield from _walk(child)


class _Inside(Ray):
    """Ranges of values inside a piece instead of far out."""

    def __init__(self, piece: Piece) -> None:
        super().__init__()
        self.piece = piece

    def range(self, node: Node) -> tuple[arb | None, arb | None]:
        low, high = super().range(node)
        sign = self.piece.sign_of(node) if low is None or high is None else None
        if low is None and sign is not None and sign >= 0:
            low = arb(0)
        if high is None and sign is not None and sign <= 0:
            high = arb(0)
        return low, high

    def _polynomial_range(self, polynomial: Surds) -> tuple[arb | None, arb | None]:
        if polynomial.is_constant:
            return super()._polynomial_range(polynomial)
        return None, None


def _require_nonnegative(argument: Node, piece: Piece, what: str, text: str) -> None:
    with precision(_BITS):
        low, high = _Inside(piece).range(argument)
        if high is not None and high <= 0 and what == "logarithm":
            raise InputError(
                f"link '{_short(text)}' is not real: the logarithm of {_short(render(argument))}"
            )
        if low is not None and low >= 0:
            return
        function = ball_function(argument)
        for x in _points_inside(piece):
            if function(acb(x), False).real < 0:
                shown = x.mid().str(4, radius=False)
                raise InputError(
                    f"link '{_short(text)}' is not real: the {what} of {_short(render(argument))} "
                    f"is taken where it is negative, as at z = {shown}"
                )
    raise UndecidedError(
        f"link '{_short(text)}': not decided whether {_short(render(argument))} stays above zero"
    )


def _points_inside(piece: Piece) -> Iterator[arb]:
    left = None if piece.lower is None else piece.lower.ball()
    right = None if piece.upper is None else piece.upper.ball()
    if left is None and right is None:
        left, right = arb(-4), arb(4)
    elif left is None and right is not None:
        left = right - 4
    elif right is None and left is not None:
        right = left + 4
    assert left is not None
    assert right is not None
    for step in range(1, 40):
        yield (left + (right - left) * step / 40).mid()


def _refuse_poles(form: Form, piece: Piece, text: str) -> None:
    """Refuse a pole; where a zero of the numerator may tame it, leave it undecided."""
    for denominator, root in _poles(form, piece):
        if len(form.terms) == 1 or _numerator_at(form, denominator, root):
            raise InputError(
                f"link '{_short(text)}' is not square-integrable: it has a pole at z = {root}"
            )
        raise _unbounded(text, root)
    for atom in _atoms(form):
        if atom.name == "exp":
            for _, root in _poles(atom.argument, piece):
                raise _unbounded(text, root)


def _unbounded(text: str, root: Point) -> UndecidedError:
    return UndecidedError(f"link '{_short(text)}': not decided whether it is bounded near {root}")


def _atoms(form: Form) -> set[Atom]:
    return {atom for _, atoms in form.terms for atom, _ in atoms}


def _poles(form: Form, piece: Piece) -> Iterator[tuple[Form, Point]]:
    """The polynomial denominators with a root in the closure of the piece."""
    for atom in _atoms(form):
        denominator = atom.argument.polynomial if atom.name == "inverse" else None
        if denominator is None:
            continue
        with suppress(TooHardError):
            for root, _ in real_roots(denominator):
                if piece.contains(root) or root in (piece.lower, piece.upper):
                    yield atom.argument, root


def _numerator_at(form: Form, denominator: Form, root: Point) -> bool:
    """Whether the terms divided by the highest power of the denominator add up to nonzero."""
    if root.value is None:
        return False
    powers: dict[int, Form] = {}
    for (exponent, atoms), a in form.terms.items():
        power = sum(n for atom, n in atoms if atom.argument == denominator)
        rest = tuple(x for x in atoms if x[0].argument != denominator)
        powers[power] = powers.get(power, Form({})) + Form({(exponent, rest): a})
    with precision(_BITS):
        value = at(powers[max(powers)], root.value).number()
        return not value.contains(0)


def require_square_integrable(pieces: tuple[Piece, ...], text: str) -> None:
    """Refuse links that grow at least like ``exp(z²/4)``."""
    for side in (1, -1):
        with precision(_BITS):
            try:
                bound = envelope(pieces, side)[0]
                if 4 * bound.q < 1:
                    continue
            except UnboundedError:
                pass
        piece = pieces[-1 if side > 0 else 0]
        node = piece.node if side > 0 else reflected(piece.node)
        explodes = piece.form is not None and _grows_too_fast(piece.form, side)
        with precision(_BITS):
            explodes = explodes or Ray().explodes(node)
        if explodes:
            raise InputError(
                f"link '{_short(text)}' is not square-integrable under N(0,1): E[g²] is infinite"
            )
        raise UndecidedError(f"link '{_short(text)}': not decided whether E[g²] is finite")


def envelope(pieces: tuple[Piece, ...], side: int) -> tuple[Envelope, int]:
    """A bound of the link on the ray to the right (1) or, reflected, to the left (-1).

    Returns
    -------
    tuple
        The envelope and the integer from which on it holds; a bound at the current precision.

    Raises
    ------
    UnboundedError
        Where none is found.
    """
    piece = pieces[-1 if side > 0 else 0]
    ray = Ray()
    bound = ray.envelope(piece.node if side > 0 else reflected(piece.node))
    end = piece.lower if side > 0 else piece.upper
    if end is not None:
        ray.start = max(ray.start, int(abs(end.ball()).upper().ceil().unique_fmpz()))
    return bound, ray.start


def _grows_too_fast(form: Form, side: int) -> bool:
    """Whether a form without atoms is proved to grow at least like ``exp(z²/4)``.

    Its fastest terms are an exponential times an almost periodic polynomial, which is not zero,
    so that they do not cancel.
    """
    if not form.is_plain:
        return False
    for exponent, _ in form.terms:
        real = Surds({n: p for n, p in exponent.parts.items() if n > 0})
        if side < 0:
            real = real.reflect()
        if real.degree > 2 and real.leading.real_sign() > 0:
            return True
        if real.degree <= 2 and (real[2] - Surds.of(Fraction(1, 4))).real_sign() >= 0:
            # exp(z²/4 - |a|z) is integrable on this side, and then so is its square.
            slope = real[1].real_sign()
            if (real[2] - Surds.of(Fraction(1, 4))).real_sign() > 0 or slope >= 0:
                return True
    return False


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:60] + "..."
