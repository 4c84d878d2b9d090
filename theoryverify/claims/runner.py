"""Running many checks in worker processes, and drawing the claims' verdicts from them."""

from __future__ import annotations

import contextlib
import json
import os
import platform
import selectors
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from theoryverify.claims.claim import Check, Claim, Context
from theoryverify.claims.ladder import ERROR, HOLDS, INCONCLUSIVE, OUTSIDE, REFUTED, Rung, Verdict
from theoryverify.claims.results import CheckResult, ClaimResult, Report, own_verdict

Progress = Callable[[str, int, int, CheckResult | None], None]
"""Called with ``claim/check``, how many are done, how many there are, and the result once known."""

_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")
_POLL = 0.2


def run(
    claims: dict[str, Claim],
    context: Context,
    *,
    rung: Rung | None = None,
    jobs: int | None = None,
    certificates: Path | None = None,
    progress: Progress = lambda name, done, total, result: None,
) -> Report:
    """Run the checks of some claims and report.

    Parameters
    ----------
    claims : dict
        By id, with everything they depend on (see :func:`theoryverify.claims.registry.select`).
    context : Context
        Preset, seed, device.
    rung : Rung, optional
        Run only the checks of this rung; claims without one are left out, and named by those that
        rest on them, as not run.
    jobs : int, optional
        Worker processes, by default one a core. Results do not depend on it.
    certificates : Path, optional
        An existing folder: every proved or certified check that holds writes a certificate there.
    """
    tasks = [
        (claim, check)
        for claim in claims.values()
        for check in claim.checks
        if runs(check, context.preset, rung)
    ]
    # The lower the rung the longer a check takes; long ones last would leave the other cores idle.
    tasks.sort(key=lambda task: task[1].rung.height)
    with Workers(jobs or _cores()) as workers:
        results = workers.run(tasks, context, progress, certificates)
    return Report(
        tuple(_conclude(claims, results).values()),
        context.preset,
        context.seed,
        _versions(),
        rung,
        dict(context.parameters),
    )


def runs(check: Check, preset: str, rung: Rung | None) -> bool:
    """Whether a check is among those that a preset runs, of one rung or of all."""
    return rung in (None, check.rung) and (preset == "full" or check.preset == "quick")


def no_check_runs(preset: str, rung: Rung | None) -> str:
    """Why a claim that has checks was left out of such a run."""
    at = "" if preset == "full" else f" at the preset {preset}"
    return f"no check{'' if rung is None else f' of rung {rung}'}{at}"


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for name in ("theoryverify", "python-flint", "sympy", "mpmath", "numpy", "scipy", "torch"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


# -- processes ---------------------------------------------------------------------------------


@dataclass
class _Worker:
    process: subprocess.Popen[str]
    task: tuple[Claim, Check] | None = None
    deadline: float = 0.0

    @classmethod
    def start(cls) -> _Worker:
        environment = os.environ | dict.fromkeys(_ONE_THREAD, "1")
        # What this process imports the worker finds too: pytest, say, puts folders on the path.
        environment["PYTHONPATH"] = os.pathsep.join(p for p in sys.path if isinstance(p, str) and p)
        process = subprocess.Popen(
            [sys.executable, "-m", "theoryverify.claims.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            env=environment,
        )
        return cls(process)

    def give(self, task: tuple[Claim, Check], context: Context, certificates: Path | None) -> None:
        claim, check = task
        message = {
            "paper": claim.paper,
            "claim": claim.id,
            "check": check.name,
            "preset": context.preset,
            "seed": context.seed,
            "device": context.device,
            "parameters": dict(context.parameters),
        }
        if certificates is not None:
            message |= {"certificates": str(certificates), "versions": _versions()}
        self.task, self.deadline = task, time.monotonic() + check.timeout
        assert self.process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # its end is noticed on its output
            self.process.stdin.write(json.dumps(message) + "\n")
            self.process.stdin.flush()

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            with contextlib.suppress(OSError):
                if pipe is not None:
                    pipe.close()


class Workers:
    """Some worker processes; one that ends, or is ended by a time limit, is replaced.

    Parameters
    ----------
    jobs : int
        How many checks run at a time.
    """

    def __init__(self, jobs: int) -> None:
        self._jobs = jobs
        self._workers: list[_Worker] = []
        self._selector = selectors.DefaultSelector()

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *reason: object) -> None:
        self.close()

    def close(self) -> None:
        """End them all."""
        for worker in self._workers:
            worker.stop()
        self._selector.close()

    def run(
        self,
        tasks: Sequence[tuple[Claim, Check]],
        context: Context,
        progress: Progress = lambda name, done, total, result: None,
        certificates: Path | None = None,
    ) -> dict[tuple[str, str], CheckResult]:
        """The results of some checks, by claim and name."""
        waiting = list(reversed(tasks))
        results: dict[tuple[str, str], CheckResult] = {}

        def finish(worker: _Worker, result: CheckResult) -> None:
            worker.task = None
            results[(result.claim, result.name)] = result
            progress(f"{result.claim}/{result.name}", len(results), len(tasks), result)

        try:
            while len(results) < len(tasks):
                self._staff(min(self._jobs, len(tasks)))
                for worker in self._workers:
                    if worker.task is None and waiting:
                        task = waiting.pop()
                        progress(f"{task[0].id}/{task[1].name}", len(results), len(tasks), None)
                        worker.give(task, context, certificates)
                for key, _ in self._selector.select(timeout=_POLL):
                    worker = key.data
                    if worker.task is None:  # it ended between two tasks
                        self._dismiss(worker)
                        continue
                    line = worker.process.stdout.readline()
                    result = _answer(line, worker.task[0])
                    if result is None:
                        code = self._dismiss(worker, patience=1.0)
                        said = f"said {line[:80]!r}, which is no result" if line else ""
                        why = f"its process {said or f'ended with code {code}'}"
                        result = _broken(worker.task, why)
                    finish(worker, result)
                now = time.monotonic()
                for worker in self._workers:
                    if worker.task is not None and now > worker.deadline:
                        limit = worker.task[1].timeout
                        self._dismiss(worker)
                        finish(worker, _broken(worker.task, f"no answer within {limit:g} s"))
        finally:
            for worker in self._workers:
                if worker.task is not None:  # interrupted: its answer is to nobody's question
                    worker.task = None
                    self._dismiss(worker)
        return results

    def _dismiss(self, worker: _Worker, patience: float = 0.0) -> int:
        """End a worker that has not ended by itself in some seconds; gives its process's code."""
        with contextlib.suppress(KeyError, ValueError):
            self._selector.unregister(worker.process.stdout)  # type: ignore[arg-type]
        with contextlib.suppress(subprocess.TimeoutExpired):
            worker.process.wait(timeout=patience)
        worker.stop()
        return int(worker.process.returncode)

    def _staff(self, wanted: int) -> None:
        self._workers = [w for w in self._workers if w.process.poll() is None or w.task]
        while len(self._workers) < wanted:
            worker = _Worker.start()
            assert worker.process.stdout is not None
            self._selector.register(worker.process.stdout, selectors.EVENT_READ, worker)
            self._workers.append(worker)


def _answer(line: str, claim: Claim) -> CheckResult | None:
    """The result in a line of a worker; None if it is none, as at the end of its output."""
    try:
        data = json.loads(line)
        data["reason"] = data.pop("raw_reason")
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
    return CheckResult.from_json(claim.id, data)


def _broken(task: tuple[Claim, Check], reason: str) -> CheckResult:
    claim, check = task
    seconds = check.timeout if "within" in reason else 0.0
    return CheckResult(claim.id, check.name, check.rung, ERROR, "", reason, (), (), seconds, ())


# -- verdicts ----------------------------------------------------------------------------------


def _conclude(
    claims: dict[str, Claim], results: dict[tuple[str, str], CheckResult]
) -> dict[str, ClaimResult]:
    concluded: dict[str, ClaimResult] = {}
    for claim in _dependencies_first(claims):
        checks = tuple(
            results[(claim.id, check.name)]
            for check in claim.checks
            if (claim.id, check.name) in results
        )
        if checks:
            concluded[claim.id] = _claim_result(claim, checks, claims, concluded)
    return {key: concluded[key] for key in claims if key in concluded}


def _dependencies_first(claims: dict[str, Claim]) -> Iterable[Claim]:
    done: set[str] = set()

    def visit(claim: Claim) -> Iterable[Claim]:
        if claim.id in done:
            return
        done.add(claim.id)
        for other in claim.depends_on:
            yield from visit(claims[other])
        yield claim

    for claim in claims.values():
        yield from visit(claim)


def _claim_result(
    claim: Claim,
    checks: tuple[CheckResult, ...],
    claims: dict[str, Claim],
    concluded: dict[str, ClaimResult],
) -> ClaimResult:
    own, reason = own_verdict(checks)
    verdict = own
    for name in claim.depends_on:
        if name in concluded:
            verdict, reason = _inherited(verdict, reason, concluded[name])
    counted = [check.rung for check in checks if check.verdict is own]
    rung = max(counted, key=lambda r: r.height) if own in (HOLDS, REFUTED) and counted else None
    assumes = [fact for check in checks for fact in check.assumes]
    for name in _foundations(claim, claims, concluded):
        assumes += _given(claims[name], concluded.get(name), rung)
    return ClaimResult(
        claim.id,
        claim.paper,
        claim.title,
        claim.place,
        claim.statement,
        claim.expected,
        own,
        verdict,
        reason,
        rung,
        tuple(dict.fromkeys(assumes)),
        checks,
        tuple((hypothesis.name, hypothesis.statement) for hypothesis in claim.hypotheses),
        tuple(claim.depends_on),
        claim.note,
    )


def _foundations(
    claim: Claim, claims: dict[str, Claim], concluded: dict[str, ClaimResult]
) -> list[str]:
    """What a claim rests on, however far away; beyond one that did not run nothing was seen."""
    found: dict[str, None] = {}

    def visit(names: Iterable[str]) -> None:
        for name in names:
            if name not in found:
                found[name] = None
                if name in concluded:
                    visit(claims[name].depends_on)

    visit(claim.depends_on)
    return list(found)


def _given(claim: Claim, result: ClaimResult | None, rung: Rung | None) -> list[str]:
    """What a claim of this rung takes as given where it rests on another: the facts that the other
    assumes; the other itself if it holds on a lower rung alone, is not checked, or did not run."""
    if result is None:
        named = f"{claim.id} ({claim.title})"
        return [f"{named}, not run" if claim.checks else named]
    given = [fact for check in result.checks for fact in check.assumes]
    lower = rung is not None and result.rung is not None and result.rung.height < rung.height
    if lower and result.verdict is HOLDS:
        given.insert(0, f"{claim.id} (only {result.rung})")
    return given


def _inherited(verdict: Verdict, reason: str, other: ClaimResult) -> tuple[Verdict, str]:
    """A claim cannot stand higher than what it rests on."""
    if verdict is not HOLDS or other.verdict is HOLDS:
        return verdict, reason
    if other.verdict in (REFUTED, OUTSIDE):
        return OUTSIDE, f"it rests on {other.id}, which is {other.verdict}"
    return INCONCLUSIVE, f"it rests on {other.id}, which is {other.verdict}"


def run_here(claims: Collection[Claim], context: Context) -> dict[tuple[str, str], CheckResult]:
    """Run all checks in this process, without time limits: for tests and small scripts."""
    from theoryverify.claims.examine import run_check

    return {
        (claim.id, check.name): run_check(claim, check, context)
        for claim in claims
        for check in claim.checks
    }
