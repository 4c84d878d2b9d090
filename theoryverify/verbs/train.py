"""``theoryverify train``: an in-context learner, on fresh tasks at every step."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from theoryverify.claims.paper import Command, Outcome
from theoryverify.verbs.options import device, seed_number

if TYPE_CHECKING:
    from theoryverify.simulate.icl_config import Configuration

_CHECKPOINTS = "checkpoints"


def _configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "config", metavar="CONFIG", help="quick, laptop, paper, or a file .json or .toml"
    )
    parser.add_argument("--model", metavar="M", help="mamba or gpt2, for a preset (mamba)")
    parser.add_argument("--seed", metavar="N", help="instead of the configuration's")
    parser.add_argument("--device", default="cpu", metavar="D", help="cpu or cuda")
    parser.add_argument(
        "--out",
        metavar="DIR",
        help="folder of checkpoints and results, from which a stopped run goes on (out/train/...)",
    )
    parser.add_argument(
        "--show", action="store_true", help="print the configuration, to be edited, and stop"
    )


def _run(args: argparse.Namespace) -> Outcome:
    settings, name = _settings(args)
    if not _first():
        args.json = False  # one document, from the process that speaks
    if args.show:
        if not _first():
            return Outcome({}, "")
        return Outcome(settings.json(), json.dumps(settings.json(), indent=2, ensure_ascii=False))
    place, folder = device(args.device), Path(args.out or f"out/train/{name}")
    from theoryverify.errors import ProcessLost, TrainingDiverged
    from theoryverify.files import writable_folder
    from theoryverify.simulate.processes import RefusedElsewhere, processes

    _require_test(settings)
    writable_folder(folder)
    try:
        with processes(place) as own:
            return _train(settings, name, own, folder)
    except RefusedElsewhere:
        raise SystemExit(2) from None  # another process has said why, here and below
    except TrainingDiverged:
        if _first():
            raise
        raise SystemExit(1) from None
    except KeyboardInterrupt:
        if _first():
            raise KeyboardInterrupt(_how_to_go_on(folder / _CHECKPOINTS)) from None
        raise SystemExit(130) from None
    except ProcessLost as lost:  # perhaps nobody else could say it
        raise ProcessLost(f"{lost}; {_how_to_go_on(folder / _CHECKPOINTS)}") from None


def _how_to_go_on(checkpoints: Path) -> str:
    from theoryverify.simulate.checkpoint import steps_done

    done = steps_done(checkpoints)
    if done:
        return f"the same command goes on from step {done}"
    return "there is no checkpoint yet, the same command begins anew"


def _first() -> bool:
    """Whether this is the process that speaks, of those that torchrun has started."""
    from theoryverify.simulate.processes import speaks

    return speaks()


def _announce(settings: Configuration, name: str, place: str, done: int) -> None:
    """How long what is left of the run will take; nothing of a run that is finished."""
    from theoryverify.simulate.icl_estimate import estimated_seconds, span
    from theoryverify.simulate.processes import count

    if done >= settings.steps:
        return
    seconds = estimated_seconds(settings, done=done, device=place)
    if not _first():
        return
    steps, several = f"{settings.steps} steps", count()
    if done:
        steps = f"{settings.steps - done} more of {steps}"
    print(
        f"{name}: {steps} of {settings.batch} prompts, about {span(seconds)} here "
        f"(a few timed on {place}{f', for {several} processes' if several > 1 else ''})",
        file=sys.stderr,
    )


def _settings(args: argparse.Namespace) -> tuple[Configuration, str]:
    from theoryverify.errors import InputError
    from theoryverify.simulate.icl_config import PRESETS, read, with_model

    text = args.config.strip()
    if text in PRESETS:
        settings = with_model(PRESETS[text], args.model or "mamba")
        if settings.precision == "bfloat16" and args.device.strip() == "cpu" and not args.show:
            settings = replace(settings, precision="full", compiled=False)
            if _first():
                print(
                    f"{text}: on a CPU in full precision and not compiled, unlike the preset",
                    file=sys.stderr,
                )
    elif Path(text).suffix in (".json", ".toml"):
        if args.model is not None:
            raise InputError("--model is for presets; the file names its model")
        settings = read(Path(text))
    else:
        raise InputError(
            f"configuration {text!r} is unknown; choose {', '.join(PRESETS)} or a file that ends in "
            ".json or .toml"
        )
    if args.seed is not None:
        settings = replace(settings, seed=seed_number(args.seed))
    stem = text if text in PRESETS else Path(text).stem
    return settings, f"{stem}-{settings.model.kind}-{settings.seed}"


def _train(settings: Configuration, name: str, place: str, folder: Path) -> Outcome:
    import numpy as np

    from theoryverify.errors import TrainingDiverged
    from theoryverify.files import write_text
    from theoryverify.simulate.icl_curves import summary
    from theoryverify.simulate.icl_test_set import sequence_errors, shared_test
    from theoryverify.simulate.icl_training import train_in_context

    found = train_in_context(
        settings,
        device=place,
        folder=folder / _CHECKPOINTS,
        progress=name if _first() else None,
        begin=lambda done: _announce(settings, name, place, done),
    )
    if not _first():
        return Outcome({}, "")
    prompts = shared_test(settings.task, settings.test_context, settings.test_tasks)
    errors = sequence_errors(found.model, prompts)
    if not np.isfinite(errors).all():
        raise TrainingDiverged(settings.steps, "a test error is not finite")
    document: dict[str, Any] = {
        "name": name,
        "configuration": settings.json(),
        "device": place,
        "resumed_from": found.run.resumed_from,
        "loss": {"first": float(found.run.losses[0]), "last": float(found.run.losses[-1])},
        "test": summary(errors, prompts, settings.context),
        "folder": str(folder),
    }
    write_text(folder / "result.json", json.dumps(document, indent=1, allow_nan=False) + "\n")
    return Outcome(document, "\n".join(_lines(document, settings)))


def _require_test(settings: Configuration) -> None:
    """Refuse a test that would not fit, before hours of training."""
    import torch

    from theoryverify.models.precision import require_memory

    # x and y, copied when blocks are put together; tokens, predictions, errors and their summaries
    numbers = settings.test_tasks * settings.test_context * (4 * settings.task.d + 8)
    require_memory(numbers, torch.float64, f"a test of {settings.test_tasks} tasks", "cpu")


def _lines(document: dict[str, Any], settings: Configuration) -> list[str]:
    test = document["test"]
    shown = [f"{document['name']}: {settings.steps} steps, {settings.test_tasks} test tasks"]
    shown.append(f"{'examples':>10} {'mean':>8} {'trimmed':>8} {'median':>8}")
    for row in test["curve"]:
        late = " beyond N_pt" if row["examples"] >= settings.context else ""
        shown.append(
            f"{row['examples']:>10} {row['mean']:8.3f} {row['trimmed']:8.3f} "
            f"{row['median']:8.4f}{late}"
        )
    zero = test["trivial"]
    shown.append(
        f"{'trivial':>10} {zero['mean']:8.3f} {zero['trimmed']:8.3f} {zero['median']:8.4f}"
    )
    shown.append(f"written to {document['folder']}")
    return shown


COMMAND = Command("train", "train an in-context learner, resumably", _configure, _run)
