"""A small kernel for inequalities that hold for every value of their symbols, exponents included.

A :class:`Theorem` says: where its hypotheses ``h_i > 0`` (or ``>= 0``) hold, its expression is
``> 0`` (or ``>= 0``). It can only be made by an :class:`Argument`, from five rules:

* what is given is a fact;
* a polynomial with nonnegative coefficients in facts is a fact, and so is a quotient of two such,
  if an identity of rational functions says that it is the expression (``decide_identity``; powers
  with a symbolic exponent are treated as new symbols);
* squares are ``>= 0``, and powers of a positive fact are positive;
* a theorem may be used at other arguments, once its hypotheses are facts there; like what is squared
  and exponents, they are sums, products and integer powers of real symbols and rational numbers;
* induction on an integer symbol.

So a proof is a list of such steps, each decided in exact arithmetic, and nothing else. A step that
does not go through raises :class:`ProofError`: a broken proof is never a refutation.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import InitVar, dataclass, field
from typing import Any, NamedTuple

import sympy

from theoryverify.exact.identities import decide_identity, decide_nonnegative, exact_expression


class ProofError(AssertionError):
    """A step of a proof does not follow by the rules."""


class Sign(NamedTuple):
    """``expression > 0`` if ``strict``, else ``expression >= 0``."""

    expression: sympy.Expr
    strict: bool = True

    def __str__(self) -> str:
        return f"{self.expression} {'>' if self.strict else '>='} 0"


def positive(expression: sympy.Expr) -> Sign:
    """The statement ``expression > 0``."""
    return Sign(exact_expression(expression), True)


def nonnegative(expression: sympy.Expr) -> Sign:
    """The statement ``expression >= 0``."""
    return Sign(exact_expression(expression), False)


_OF_REALS = frozenset(sympy.Symbol("x", real=True).assumptions0)
"""What every real symbol is declared to be."""
_KEY = object()  # only this module makes facts and theorems


class Fact:
    """A sign that was derived within one :class:`Argument`."""

    __slots__ = ("argument", "sign", "why")

    def __init__(self, key: object, argument: Argument, sign: Sign, why: str) -> None:
        if key is not _KEY:
            raise ProofError("facts are made by an Argument only")
        self.argument, self.sign, self.why = argument, sign, why

    @property
    def expression(self) -> sympy.Expr:
        return self.sign.expression

    @property
    def strict(self) -> bool:
        return self.sign.strict


@dataclass(frozen=True)
class Theorem:
    """Where all ``hypotheses`` hold, ``conclusion`` holds.

    Attributes
    ----------
    name : str
    hypotheses : tuple of Sign
    conclusion : Sign
    steps : tuple of str
        How it was derived, to be read.
    """

    name: str
    hypotheses: tuple[Sign, ...]
    conclusion: Sign
    steps: tuple[str, ...]
    key: InitVar[object] = None
    record: Any = field(default=(), compare=False, repr=False)
    """The same steps as data, for a certificate: ``(rule, parts)`` each and the concluded fact's
    place, or the parts of an induction."""

    def __post_init__(self, key: object) -> None:
        if key is not _KEY:
            raise ProofError("theorems are made by an Argument only")

    @property
    def expression(self) -> sympy.Expr:
        return self.conclusion.expression

    @property
    def used(self) -> tuple[Theorem, ...]:
        """The theorems that its derivation rests on."""
        if isinstance(self.record, Mapping):
            return self.record["base"], self.record["step"]
        return tuple(parts["theorem"] for rule, parts in self.record[:-1] if rule == "use")


class Argument:
    """One line of reasoning under fixed hypotheses.

    Parameters
    ----------
    *hypotheses : Sign
        What is given; :attr:`given` holds them as facts in the same order.

    Examples
    --------
    >>> import sympy
    >>> x, y = sympy.symbols("x y")
    >>> argument = Argument(positive(y), positive(x - y))
    >>> low, gap = argument.given
    >>> fact = argument.fact(x**2 - y**2, lambda g, l: g * (2 * l + g), gap, low)
    >>> theorem = argument.conclude("x² > y²", fact)
    >>> str(theorem.conclusion)
    'x**2 - y**2 > 0'
    """

    def __init__(self, *hypotheses: Sign) -> None:
        self._hypotheses = hypotheses
        self._steps: list[str] = []
        self._record: list[tuple[str, dict[str, Any]]] = []
        self._facts: list[Fact] = []
        self.given = tuple(self._note(sign, "given") for sign in hypotheses)

    def fact(
        self,
        expression: sympy.Expr,
        combination: Callable[..., sympy.Expr],
        *facts: Fact,
        why: str = "",
    ) -> Fact:
        """``expression`` is a nonnegative combination of facts.

        Parameters
        ----------
        expression : sympy.Expr
            What is shown to be >= 0, or > 0 where the combination has a term of strict facts.
        combination : callable
            A rational function with nonnegative coefficients, of as many arguments as ``facts``.
        *facts : Fact
        why : str
            For the reader.

        Raises
        ------
        ProofError
            If a coefficient is negative, a denominator is not known to be positive, or the two
            sides are not identical.
        InputError
            For text or rounded numbers.
        """
        names = list(inspect.signature(combination).parameters)
        symbols = [sympy.Symbol(f"{name}_", positive=True) for name in names]
        formal = exact_expression(combination(*symbols))
        numerator, denominator = sympy.fraction(sympy.together(formal))
        strict = {s for s, fact in zip(symbols, facts, strict=True) if fact.strict}
        if not _nonnegative(numerator, set(symbols)):
            raise ProofError(f"{formal} has a negative coefficient")
        if not (_nonnegative(denominator, set(symbols)) and _has_strict_term(denominator, strict)):
            raise ProofError(f"the denominator of {formal} is not known to be positive")
        for fact in facts:
            self._own(fact)
        values = [fact.expression for fact in facts]
        actual = formal.subs(dict(zip(symbols, values, strict=True)), simultaneous=True)
        expression = exact_expression(expression)
        decision = decide_identity(expression, actual)
        if decision.holds is not True:
            raise ProofError(f"{expression} = {formal}: {decision.reason} {decision.witness}")
        for base in _denominators(expression) | _denominators(actual):
            self._require_nonzero(base)
        sign = Sign(expression, _has_strict_term(numerator, strict))
        named = ", ".join(f"{s} = {value}" for s, value in zip(symbols, values, strict=True))
        parts = {"formal": formal, "letters": symbols, "expression": expression}
        self._keep("combination", facts, **parts)
        return self._note(sign, f"it is {formal}" + (f" with {named}" if named else ""), why)

    def square(self, expression: sympy.Expr) -> Fact:
        """``expression² >= 0``, for an expression that is real wherever its symbols are: of
        ``√x`` it would say ``x >= 0``."""
        expression = _real(expression)
        self._keep("square", (), of=expression)
        return self._note(Sign(expression**2, False), "a square")

    def power(self, base: Fact, exponent: sympy.Expr) -> Fact:
        """``base^exponent > 0`` for a positive base."""
        self._own(base)
        if not base.strict:
            raise ProofError(f"a power needs a positive base, not {base.sign}")
        exponent = _real(exponent)
        self._keep("power", (base,), exponent=exponent)
        return self._note(Sign(base.expression**exponent, True), "a power of a positive number")

    def use(self, theorem: Theorem, at: Mapping[sympy.Symbol, sympy.Expr], *facts: Fact) -> Fact:
        """A theorem at other arguments; ``facts`` are its hypotheses there, in order."""
        if len(facts) != len(theorem.hypotheses):
            raise ProofError(f"{theorem.name} has {len(theorem.hypotheses)} hypotheses")
        if not all(isinstance(symbol, sympy.Symbol) for symbol in at):
            raise ProofError("only symbols have other values")
        at = {symbol: _real(value) for symbol, value in at.items()}
        for hypothesis, fact in zip(theorem.hypotheses, facts, strict=True):
            self._own(fact)
            wanted = _at(hypothesis.expression, at)
            if hypothesis.strict and not fact.strict:
                raise ProofError(f"{theorem.name} needs {wanted} > 0")
            if decide_identity(wanted, fact.expression).holds is not True:
                raise ProofError(f"{theorem.name} needs {wanted}, not {fact.expression}")
            for base in _denominators(wanted):
                self._require_nonzero(base)
        for symbol, value in at.items():
            if not _is_all_of(symbol, value):
                raise ProofError(f"{symbol} was declared more than {value} is known to be")
        self._keep("use", facts, theorem=theorem, at=at)
        shown = ", ".join(f"{symbol} = {value}" for symbol, value in at.items())
        sign = Sign(_at(theorem.expression, at), theorem.conclusion.strict)
        if sign.expression.has(sympy.zoo, sympy.nan, sympy.oo, -sympy.oo):
            raise ProofError(f"{theorem.name} says nothing there")
        for base in _denominators(sign.expression):
            self._require_nonzero(base)
        return self._note(sign, f"by {theorem.name}" + (f" at {shown}" if shown else ""))

    def conclude(self, name: str, fact: Fact) -> Theorem:
        """The theorem that the hypotheses imply this fact."""
        self._own(fact)
        record = (*self._record, self._place(fact))
        return Theorem(name, self._hypotheses, fact.sign, tuple(self._steps), _KEY, record)

    def _keep(self, rule: str, facts: Sequence[Fact], **parts: Any) -> None:
        """The step as data, just before its fact is noted."""
        self._record.append((rule, {"facts": [self._place(fact) for fact in facts], **parts}))

    def _place(self, fact: Fact) -> int:
        return next(i for i, known in enumerate(self._facts) if known is fact)

    def _note(self, sign: Sign, rule: str, why: str = "") -> Fact:
        fact = Fact(_KEY, self, sign, why or rule)
        self._facts.append(fact)
        self._steps.append(f"{sign}: {rule}" + (f" ({why})" if why else ""))
        return fact

    def _own(self, fact: Fact) -> None:
        if fact.argument is not self:
            raise ProofError("a fact of another argument was used")

    def _require_nonzero(self, base: sympy.Expr) -> None:
        """A denominator, up to sign, or its square must be a positive fact: where one vanishes,
        identities say nothing."""
        if base.is_nonzero:
            return
        known = [fact.expression for fact in self._facts if fact.strict]
        if any(entry in (base, -base, base**2) for entry in known):
            return
        for entry in known:
            if any(decide_identity(base, s * entry).holds is True for s in (1, -1)):
                return
        raise ProofError(f"the denominator {base} is not known to be different from zero")


def induction(name: str, n: sympy.Symbol, start: int, base: Theorem, step: Theorem) -> Theorem:
    """For every integer ``n >= start``: from ``base`` at ``start`` and ``step``, ``n`` to ``n+1``.

    The hypotheses of ``step`` are those of ``base``, then ``n - start >= 0``, then the statement at
    ``n``; its conclusion is the statement at ``n+1``.

    Raises
    ------
    ProofError
        If the two do not fit together.
    """
    if not n.is_integer:
        raise ProofError(f"{n} is not an integer symbol")
    if not (_is_all_of(n, sympy.Integer(start)) and _is_all_of(n, n + 1)):
        raise ProofError(f"{n} does not stand for every integer from {start} on")
    *common, bound, hypothesis = step.hypotheses
    if tuple(common) != base.hypotheses or any(sign.expression.has(n) for sign in common):
        raise ProofError(f"{name}: base and step have different hypotheses")
    if bound != nonnegative(n - start):
        raise ProofError(f"{name}: the step must be given n - {start} >= 0, not {bound}")
    statement = hypothesis.expression
    for found, wanted in (
        (base.expression, statement.subs(n, start)),
        (step.expression, statement.subs(n, n + 1)),
    ):
        if decide_identity(found, wanted).holds is not True:
            raise ProofError(f"{name}: {found} is not {wanted}")
    strict = base.conclusion.strict and step.conclusion.strict
    if hypothesis.strict and not strict:
        raise ProofError(f"{name}: the step uses more than is shown")
    steps = (*base.steps, *step.steps, f"{Sign(statement, strict)}: induction from {n} = {start}")
    record = {"symbol": n, "start": start, "base": base, "step": step}
    return Theorem(name, (*common, bound), Sign(statement, strict), steps, _KEY, record)


def _real(value: sympy.Expr) -> sympy.Expr:
    """An expression that is plainly real wherever it is defined and its symbols are real."""
    expression = exact_expression(value)

    def real(node: sympy.Expr) -> bool:
        if node.is_Add or node.is_Mul:
            return all(map(real, node.args))
        if node.is_Pow:
            return real(node.base) and bool(node.exp.is_integer)
        return bool(node.is_Rational or (node.is_Symbol and node.is_real is not False))

    if not real(expression):
        raise ProofError(f"{expression} is not known to be real")
    return expression


def _is_all_of(symbol: sympy.Symbol, value: sympy.Expr) -> bool:
    """Whether a value is known to be all that a symbol is declared to be, beyond real."""
    return all(
        getattr(value, f"is_{kind}") is there
        for kind, there in symbol.assumptions0.items()
        if kind not in _OF_REALS
    )


def _at(expression: sympy.Expr, at: Mapping[sympy.Symbol, sympy.Expr]) -> sympy.Expr:
    return expression.subs(dict(at), simultaneous=True)


def _nonnegative(expression: sympy.Expr, symbols: set[sympy.Symbol]) -> bool:
    free = expression.free_symbols
    if not free <= symbols:
        return False
    if not free:
        return bool(expression >= 0)
    return decide_nonnegative(expression, _ordered(free)).holds is True


def _has_strict_term(expression: sympy.Expr, strict: set[sympy.Symbol]) -> bool:
    """Whether some term with a positive coefficient consists of strict facts only."""
    if not expression.free_symbols:
        return bool(expression > 0)
    symbols = _ordered(expression.free_symbols)
    return any(
        coefficient > 0
        and all(s in strict for s, power in zip(symbols, powers, strict=True) if power)
        for powers, coefficient in sympy.Poly(expression, *symbols).terms()
    )


def _ordered(symbols: set[sympy.Symbol]) -> Sequence[sympy.Symbol]:
    return sorted(symbols, key=lambda symbol: str(symbol.name))


def _denominators(expression: sympy.Expr) -> set[sympy.Expr]:
    """The bases of all powers with a negative exponent, or one whose sign is open."""
    return {
        node.base
        for node in sympy.preorder_traversal(expression)
        if node.is_Pow and (node.exp.is_negative or node.exp.could_extract_minus_sign())
    }
