"""Link functions ``g`` of a single-index model: read, understood, and checked before use.

>>> g = link("He3(z)/sqrt(6)")
>>> g.parity, g.degree, g("1/2", backend="exact")
('odd', 3, -11*sqrt(6)/48)
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

from flint import acb, arb

from theoryverify.errors import InputError, UndecidedError
from theoryverify.exact.ball_functions import ball_function
from theoryverify.exact.balls import ball, precision
from theoryverify.exact.forms import Form
from theoryverify.exact.link_backends import evaluate_node
from theoryverify.exact.link_domain import require_real, require_square_integrable
from theoryverify.exact.link_grammar import parse
from theoryverify.exact.link_tree import Node, render
from theoryverify.exact.normal_form import is_constant, reflect, vanishes
from theoryverify.exact.pieces import Piece, split
from theoryverify.exact.points import ORIGIN, Point
from theoryverify.exact.surds import Surds, TooHardError

_LOOKS = (Fraction(1, 3), Fraction(7, 8), Fraction(3, 2), Fraction(9, 4), Fraction(1, 20))


class Link:
    """A real function of ``z`` with ``E[g(z)²] < ∞`` for ``z ~ N(0, 1)``.

    Made by :func:`link`; two links are equal where their expressions are.

    Parameters
    ----------
    node : Node
        The expression.

    Raises
    ------
    InputError
        If the expression is shown not to be real, or not square-integrable.
    UndecidedError
        If neither that nor the opposite could be shown.
    """

    def __init__(self, node: Node) -> None:
        self.node = node
        self.pieces: tuple[Piece, ...] = split(node)
        for piece in self.pieces:
            require_real(piece, self.text)
        require_square_integrable(self.pieces, self.text)

    @cached_property
    def text(self) -> str:
        """The expression in the grammar."""
        return render(self.node)

    @cached_property
    def polynomial(self) -> Surds | None:
        """The polynomial that the link is, else ``None``; coefficients in Q(√n, ...)."""
        if len(self.pieces) > 1 or self.pieces[0].form is None:
            return None
        return self.pieces[0].form.polynomial

    @property
    def degree(self) -> int | None:
        """The degree of a polynomial (-1 for zero), else ``None``."""
        return None if self.polynomial is None else self.polynomial.degree

    @property
    def break_points(self) -> tuple[Point, ...]:
        """Where kinks and jumps were found exactly."""
        return tuple(p.upper for p in self.pieces[:-1] if p.upper is not None)

    @cached_property
    def constant(self) -> bool | None:
        """Whether the link is constant almost everywhere; ``None`` if undecided."""
        form = self.pieces[0].form
        if len(self.pieces) == 1 and form is not None and _proved(is_constant, form):
            return True
        values = [v for v in self._looks() if v is not None]
        return False if any(not a.overlaps(values[0]) for a in values[1:]) else None

    @cached_property
    def parity(self) -> str:
        """``"even"``, ``"odd"``, ``"neither"`` (all three proved), or ``"undecided"``.

        The zero function is even.
        """
        if self.part_vanishes(1):
            return "even"
        if self.part_vanishes(0):
            return "odd"
        sums, differences = [], []
        for x in _LOOKS:
            right, left = self._look(x), self._look(-x)
            if right is not None and left is not None:
                sums.append(right + left)
                differences.append(right - left)
        apart = all(any(not v.contains(0) for v in values) for values in (sums, differences))
        return "neither" if apart else "undecided"

    def part(self, k: int) -> list[tuple[Point | None, Point | None, Form]] | None:
        """Pieces ``F`` with ``E[g He_j] = Σ ∫ F He_j φ`` for all ``j`` of the parity of ``k``.

        The even or odd part of a smooth link; otherwise ``g(z) ± g(-z)`` on the half-line.
        ``None`` where a piece has no normal form.
        """
        return self._even_part if k % 2 == 0 else self._odd_part

    @cached_property
    def _even_part(self) -> list[tuple[Point | None, Point | None, Form]] | None:
        return self._listed_part(0)

    @cached_property
    def _odd_part(self) -> list[tuple[Point | None, Point | None, Form]] | None:
        return self._listed_part(1)

    def _listed_part(self, odd: int) -> list[tuple[Point | None, Point | None, Form]] | None:
        try:
            return list(self._part(odd))
        except TooHardError:
            return None

    def _part(self, odd: int) -> Iterator[tuple[Point | None, Point | None, Form]]:
        half = Form.of(Surds.of(Fraction(1, 2)))
        if len(self.pieces) == 1:
            form = _form(self.pieces[0])
            mirrored = reflect(form)
            yield None, None, half * (form - mirrored if odd else form + mirrored)
            return
        cuts = [ORIGIN, *self.break_points, *(p.reflect() for p in self.break_points)]
        fine = [part for piece in self.pieces for part in piece.cut(cuts)]
        middle = len(fine) // 2
        for left, right in zip(reversed(fine[:middle]), fine[middle:], strict=True):
            form, mirrored = _form(right), reflect(_form(left))
            yield right.lower, right.upper, form - mirrored if odd else form + mirrored

    def part_vanishes(self, k: int) -> bool:
        """Whether the even (odd) part is proved to vanish, for even (odd) ``k``."""
        part = self.part(k)
        return part is not None and all(_proved(vanishes, form) for _, _, form in part)

    # Values.

    def __call__(self, z: Any, backend: str = "float64") -> Any:
        """The value at ``z``.

        Parameters
        ----------
        z : number or array
            What the backend takes. ``"exact"``: an integer, Fraction, decimal string or SymPy
            expression, giving a SymPy expression. ``"ball"``: an exact number or an ``arb``,
            giving an ``arb`` at the current precision. ``"mpmath"``: at mpmath's precision.
            ``"float64"``: a NumPy array of any shape, element by element.
        backend : str
            One of these, or a registered one.

        Raises
        ------
        InputError
            For an unknown backend.
        """
        if backend == "ball":
            return ball_function(self.node)(acb(ball(z)), False).real
        return evaluate_node(self.node, z, backend)

    @cached_property
    def sympy(self) -> Any:
        """The link as a SymPy expression in the real symbol ``z``."""
        import sympy

        return evaluate_node(self.node, sympy.Symbol("z", real=True), "exact")

    def _look(self, x: Fraction) -> arb | None:
        with precision(128):
            value = self(x, backend="ball")
        return value if value.is_finite() else None

    def _looks(self) -> list[arb | None]:
        return [self._look(sign * x) for x in _LOOKS for sign in (1, -1)]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Link) and self.node == other.node

    def __hash__(self) -> int:
        return hash(self.node)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"link({self.text!r})"


@lru_cache(maxsize=256)
def _read(text: str) -> Link:
    return Link(parse(text))


def link(text: str | Link) -> Link:
    """Read a link function.

    Parameters
    ----------
    text : str
        An expression in ``z`` with ``+ - * / **``, rationals and decimals (both exact),
        ``He3(z)`` for monic probabilists' Hermite polynomials, and
        ``sqrt exp log sin cos tanh erf abs sign relu``. A :class:`Link` is returned as it is.

    Returns
    -------
    Link

    Raises
    ------
    InputError
        For text outside the grammar (naming the column), or a function that is not real or not
        square-integrable under N(0, 1).
    UndecidedError
        Where square-integrability could not be decided.
    """
    if isinstance(text, Link):
        return text
    return _read(text) if isinstance(text, str) else Link(parse(text))


def _form(piece: Piece) -> Form:
    if piece.form is None:
        raise TooHardError(render(piece.node))
    return piece.form


def _proved(decide: Any, form: Form) -> bool:
    try:
        return bool(decide(form))
    except (TooHardError, InputError, UndecidedError):
        return False
