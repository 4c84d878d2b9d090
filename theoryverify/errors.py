"""The errors that users meet.

Bad input is always an :class:`InputError` whose message names the offending value and says what
is allowed; the command line prints it as one line and exits with code 2.
"""


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
