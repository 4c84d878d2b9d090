"""The errors that users meet.

Bad input is always an :class:`InputError` whose message names the offending value and says what
is allowed; the command line prints it as one line and exits with code 2.
"""

from __future__ import annotations

from collections.abc import Mapping


class InputError(ValueError):
    """An argument is outside what a function accepts."""


class HypothesisError(InputError):
    """A law or parameter breaks a named hypothesis of the statement that is asked about."""

    def __init__(self, hypothesis: str, why: str) -> None:
        super().__init__(f"{why} (this breaks {hypothesis})")
        self.hypothesis = hypothesis


class UndecidedError(ArithmeticError):
    """A rigorous computation ended without deciding: a ball too wide, or not finite.

    It is never a refutation. Raising the precision may decide the question.
    """


class TrainingDiverged(FloatingPointError):
    """A loss, a gradient or a parameter is not finite: the run is no result.

    Attributes
    ----------
    step : int
        The step that failed, from 0.
    checkpoint : str or None
        The last good checkpoint, which is as it was.
    """

    def __init__(self, step: int, what: str, checkpoint: str | None = None) -> None:
        last = f"; the last good checkpoint is {checkpoint}" if checkpoint else ""
        super().__init__(f"training diverged at step {step}: {what}{last}")
        self.step = step
        self.checkpoint = checkpoint


class SweepFailed(RuntimeError):
    """Some cells of a sweep raised or kept losing their workers; all the others are stored.

    Attributes
    ----------
    failures : dict of str to str
        Traces by the cells' names.
    """

    def __init__(self, experiment: str, failures: Mapping[str, str]) -> None:
        name, trace = next(iter(failures.items()))
        last = trace.strip().splitlines()[-1]
        super().__init__(
            f"{experiment}: {len(failures)} cells failed, the first of them {name!r}: {last}"
        )
        self.failures = dict(failures)


class ProcessLost(RuntimeError):
    """Another of the processes that train one model has ended; that one may have said why."""
