"""A paper, as all the rest of the tool knows it: some lists, loaded when first needed.

``theoryverify --help`` must not wait for SymPy, so each list may be given as an import path
``"module:attribute"``.
"""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from theoryverify.claims.told import described
from theoryverify.errors import InputError


@dataclass(frozen=True)
class Outcome:
    """What a command found: a JSON document, its text form, and the exit code."""

    document: dict[str, Any]
    text: str
    exit_code: int = 0


@dataclass(frozen=True)
class Command:
    """A verb that a paper adds to the command line.

    ``configure`` adds arguments to a parser and must not import heavy modules; ``run`` does the
    work. Every command gets ``--json`` from the command line itself.
    """

    name: str
    help: str
    configure: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], Outcome]


@dataclass(frozen=True)
class DerivationStep:
    """One line of a derivation: what is done, the formula it gives, and whether it was verified."""

    text: str
    formula: Any = None
    holds: bool | None = None

    def _repr_html_(self) -> str:
        from theoryverify.claims.display import step_html

        return step_html(self)

    def _repr_latex_(self) -> str:
        from theoryverify.claims.display import step_latex

        return step_latex(self)


@dataclass(frozen=True)
class Derivation:
    """A derivation that can be printed step by step; ``steps`` recomputes and asserts each.

    ``claims`` are the ids of the claims whose formulas it derives.
    """

    name: str
    title: str
    steps: Callable[[], Iterator[DerivationStep]]
    claims: Sequence[str] = ()


@dataclass(frozen=True)
class Paper:
    """A paper under examination.

    Parameters
    ----------
    name : str
        The first part of its claims' ids.
    title, source : str
        Its title, and where it is to be had (an arXiv id with version).
    claims, derivations, experiments, figures, commands, searches, references : sequence or str
        Lists, or ``"module:attribute"`` import paths of them.
    """

    name: str
    title: str
    source: str
    claims: Sequence[Any] | str = ()
    derivations: Sequence[Derivation] | str = ()
    experiments: Sequence[Any] | str = ()
    figures: Sequence[Any] | str = ()
    commands: Sequence[Command] | str = ()
    searches: Sequence[Any] | str = ()
    references: Sequence[Any] | str = ()
    _loaded: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    def load(self, what: str) -> Sequence[Any]:
        """One of the lists, imported on first use.

        Raises
        ------
        InputError
            If it does not import, is no list, or holds something else.
        """
        value = getattr(self, what)
        if isinstance(value, str):
            if what not in self._loaded:
                module, _, attribute = value.partition(":")
                try:
                    found = getattr(importlib.import_module(module), attribute)
                except KeyboardInterrupt:
                    raise
                except BaseException as error:  # sys.exit too
                    raise InputError(
                        f"{what} of paper {self.name!r} ({value}) do not import: {described(error)}"
                    ) from error
                self._loaded[what] = found
            value = self._loaded[what]
        if not isinstance(value, Sequence) or isinstance(value, str):
            raise InputError(f"{what} of paper {self.name!r} is not a list")
        kind = _KINDS.get(what, object)
        for item in value:
            if not isinstance(item, kind):
                raise InputError(
                    f"{item!r} in the {what} of paper {self.name!r} is no {kind.__name__}"
                )
        return value


_KINDS = {"derivations": Derivation, "commands": Command}
"""Of the lists whose kind is known here; the others are looked at by those who use them."""
