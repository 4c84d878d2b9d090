"""``pytest --theorems=lca``: one test a check, marked with its paper and rung.

``pytest --theorems --papers=my_paper.py`` runs the checks of a paper file.

The checks run one after another in a worker process, as ``theoryverify check`` runs them: one that
loops or ends its process is an error, after its time limit, and the others go on. A test speaks of
its own check alone; what a claim takes in from those that it rests on, ``check`` says.

Only the standard library and pytest are imported until the option is used.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from theoryverify.claims.claim import Check, Claim
    from theoryverify.claims.results import CheckResult
    from theoryverify.claims.runner import Workers

_HERE = Path(__file__).resolve()
_RUNGS = ("proved", "certified", "computed", "simulated")


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("theoryverify")
    group.addoption(
        "--theorems",
        nargs="?",
        const="all",
        metavar="PAPER[,CLAIM...]",
        help="collect one test for each check of these papers or claims; without a value, of the "
        "files given by --papers, or of every paper",
    )
    group.addoption(
        "--papers",
        action="append",
        default=[],
        metavar="FILE",
        help="a paper of your own, my_paper.py (may be given again)",
    )
    group.addoption(
        "--theorems-seed", type=int, default=0, metavar="N", help="seed of random checks (0)"
    )


def pytest_configure(config: pytest.Config) -> None:
    chosen = config.getoption("--theorems")
    if not chosen:
        return
    from theoryverify.claims.discovery import papers, use_files
    from theoryverify.claims.registry import select
    from theoryverify.errors import InputError

    try:
        use_files(config.getoption("--papers"))
        select(_names(chosen))
    except InputError as error:
        raise pytest.UsageError(f"--theorems={chosen}: {error}") from error
    for name in (*_RUNGS, *papers()):
        config.addinivalue_line("markers", f"{name}: theorem checks of this rung or paper")
    # This file stands for the theorems among the things to collect; without a path of its own on
    # the command line, the run is about them alone.
    explicit = config.args_source is pytest.Config.ArgsSource.ARGS
    config.args = [*(config.args if explicit else []), str(_HERE)]


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    if file_path == _HERE and parent.config.getoption("--theorems"):
        return Theorems.from_parent(parent, path=file_path, name="theorems", nodeid="theorems")
    return None


def _names(chosen: str) -> list[str]:
    return [] if chosen == "all" else [name.strip() for name in chosen.split(",")]


_WORKERS = pytest.StashKey["Workers"]()


def _workers(config: pytest.Config) -> Workers:
    """One worker process, started with the first check."""
    from theoryverify.claims.runner import Workers

    if _WORKERS not in config.stash:
        config.stash[_WORKERS] = Workers(1)
    return config.stash[_WORKERS]


def pytest_unconfigure(config: pytest.Config) -> None:
    if _WORKERS in config.stash:
        config.stash[_WORKERS].close()


class Theorems(pytest.File):
    """Collects the checks of the chosen papers and claims."""

    def collect(self) -> Iterator[pytest.Item]:
        from theoryverify.claims.registry import select

        claims, asked = select(_names(self.config.getoption("--theorems")))
        for claim in claims.values():
            for check in claim.checks:
                if claim.id in asked and check.preset == "quick":
                    yield TheoremItem.from_parent(
                        self, name=f"{claim.id}/{check.name}", claim=claim, check=check
                    )


class TheoremItem(pytest.Item):
    """A check as a test: it passes if the verdict is the expected one and each control refuted."""

    def __init__(self, *, claim: Claim, check: Check, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.claim, self.check = claim, check
        self.add_marker(str(check.rung))
        self.add_marker(claim.paper)

    def runtest(self) -> None:
        from theoryverify.claims.claim import Context
        from theoryverify.claims.ladder import REFUTED

        context = Context(seed=self.config.getoption("--theorems-seed"))
        (result,) = _workers(self.config).run([(self.claim, self.check)], context).values()
        refuted = sum(control.verdict is REFUTED for control in result.controls)
        self.user_properties += [
            ("rung", str(result.rung)),
            ("verdict", str(result.verdict)),
            ("scope", result.scope),
            ("controls", f"{refuted}/{len(result.controls)}"),
            ("mutants", str(result.mutants)),
        ]
        if not result.sound or result.verdict is not self.claim.expected:
            raise TheoremFailed(self._message(result))

    def _message(self, result: CheckResult) -> str:
        lines = [
            f"{self.claim.id} ({self.claim.place}): {result.verdict}, "
            f"expected {self.claim.expected}",
            f"  {self.claim.title}",
            f"  {result.why}",
        ]
        lines += [
            f"  control {control.name!r}: {control.verdict} {control.reason}"
            for control in result.controls
        ]
        return "\n".join(lines)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        if isinstance(excinfo.value, TheoremFailed):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        return self.path, None, ""


class TheoremFailed(AssertionError):
    """A check did not come out as its claim expects."""
