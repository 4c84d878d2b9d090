"""What statistical tests may get wrong, summed over the suite, and how many draws they need.

A test that errs with probability 0.3% is red somewhere in a suite of sixty tests once in six runs.
So every test states its error, the sum is bounded, and the draws are planned for the power.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from statistics import NormalDist
from threading import Lock

from theoryverify.errors import InputError

SUITE_ERROR = 1e-6
"""The probability of any wrong ``holds`` or ``refuted`` in the whole suite is at most this."""

SHARE = 1e-9
"""What one statistical test spends of it: a thousand tests fit."""


@dataclass
class ErrorBudget:
    """A sum of error probabilities that must not exceed ``total`` (a union bound).

    Shares are fixed beforehand and by name, so what a test spends depends neither on which other
    tests run nor on their order; spending the same name twice counts once.

    Examples
    --------
    >>> budget = ErrorBudget(total=1e-6)
    >>> budget.spend("risk at T = 2", 5e-7)
    5e-07
    >>> budget.left
    5e-07
    """

    total: float = SUITE_ERROR
    spent: dict[str, float] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock, repr=False)

    def spend(self, name: str, error: float = SHARE) -> float:
        """Reserve ``error`` for the test ``name`` and return it.

        Raises
        ------
        InputError
            If the budget does not have it, or the name was given another share before.
        """
        if not 0 < error < 1:
            raise InputError(f"error = {error} must lie strictly between 0 and 1")
        with self._lock:
            before = self.spent.get(name)
            if before is not None and before != error:
                raise InputError(f"{name!r} has already spent {before}, not {error}")
            # A thousand equal shares may exceed the total by rounding alone.
            if before is None and error > self.left + 1e-12 * self.total:
                raise InputError(
                    f"{name!r} asks for an error of {error}; {max(self.left, 0):.3g} is left"
                )
            self.spent[name] = error
        return error

    @property
    def left(self) -> float:
        return self.total - math.fsum(self.spent.values())


def draws_for(slack: float, deviation: float, *, error: float = SHARE, miss: float = 1e-3) -> int:
    """How many draws decide with probability ``1 - miss``, where the variance is known.

    Parameters
    ----------
    slack : float
        The margin less the distance of the true mean from the expected one (for a refutation, that
        distance less the margin).
    deviation : float
        Standard deviation of a draw, known or bounded.
    error : float
        Of a wrong verdict.
    miss : float
        Of no verdict.

    Notes
    -----
    The half-width of :class:`theoryverify.stats.VarianceMean` at its horizon, about
    ``1.11 σ√(2 log(2/error)/n)``, and the fluctuation of the mean must fit into the slack. A plan to
    leading order, no bound; the power it gives is measured in the tests.
    """
    for name, value in (("slack", slack), ("deviation", deviation)):
        if not 0 < value < math.inf:
            raise InputError(f"{name} = {value} must be positive and finite")
    for name, value in (("error", error), ("miss", miss)):
        if not 0 < value < 1:
            raise InputError(f"{name} = {value} must lie strictly between 0 and 1")
    widths = 1.11 * math.sqrt(2 * math.log(2 / error)) - NormalDist().inv_cdf(miss)
    return math.ceil((deviation * widths / slack) ** 2)
