"""``theoryverify train``: results, exact resume, two processes, and clear refusals."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("safetensors")

from tests.two_processes import in_two_processes  # noqa: E402
from theoryverify.cli import main  # noqa: E402
from theoryverify.errors import InputError  # noqa: E402
from theoryverify.simulate import icl_config, icl_training  # noqa: E402
from theoryverify.simulate.icl_config import configuration  # noqa: E402
from theoryverify.simulate.icl_training import (  # noqa: E402
    build,
    last_quarter,
    train_in_context,
)

torch.set_num_threads(1)

SMALL: dict[str, Any] = {
    "task": {"d": 2, "r": 1},
    "model": {"width": 8, "layers": 1, "states": 4, "heads": 2},
    "optimizer": {"rate": 0.01, "warmup": 2},
    "context": 8,
    "steps": 6,
    "batch": 4,
    "checkpoint_every": 2,
    "observe_every": 3,
    "test_context": 10,
    "test_tasks": 20,
}


def file(folder: Path, **change: Any) -> Path:
    path = folder / "run.json"
    path.write_text(json.dumps({**SMALL, **change}))
    return path


def train(path: Path, out: Path, *more: str) -> int:
    return main(["train", str(path), "--out", str(out), *more])


# -- what it learns -----------------------------------------------------------------------------


def test_the_quick_model_learns_in_context() -> None:
    """Few steps of the preset ``quick``, with small batches; the error is that of the longest contexts.

    The measure is robust: the median of squared errors, whose value for the prediction 0 is 0.33.
    """
    quick = icl_config.PRESETS["quick"]
    document = quick.json() | {"steps": 200, "batch": 24, "observe_every": 200}
    document["optimizer"] |= {"warmup": 50}
    found = train_in_context(configuration(document))
    before, after = found.run.observed["errors"]
    assert before.shape == (256, 8)
    trivial = 0.33
    assert np.median(before) > 0.7 * trivial
    assert np.median(after) < 0.5 * trivial
    # and it comes from the context: at its beginning the same model errs
    assert np.median(after) < 0.6 * 0.25


@pytest.mark.parametrize("kind", ["mamba", "gpt2"])
def test_the_verb_reports_and_goes_on(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = file(tmp_path, model=SMALL["model"] | {"kind": kind})
    assert train(path, tmp_path / "out", "--json") == 0
    out, err = capsys.readouterr()
    first = json.loads(out)
    assert "6 steps of 4 prompts, about" in err
    assert first["resumed_from"] == 0
    sizes = [row["examples"] for row in first["test"]["curve"]]
    assert sizes[0] == 1
    assert sizes[-1] == 9
    assert 7 in sizes  # N_pt - 1
    assert json.loads((tmp_path / "out/result.json").read_text()) == first
    assert train(path, tmp_path / "out", "--json") == 0
    out, err = capsys.readouterr()
    assert "about" not in err  # nothing is left to do
    again = json.loads(out)
    assert again["resumed_from"] == 6
    assert again["test"] == first["test"]
    assert train(path, tmp_path / "out") == 0
    text = capsys.readouterr().out
    assert "beyond N_pt" in text
    assert "trivial" in text


def test_a_stopped_run_says_how_to_go_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """By Ctrl-C before the first checkpoint and after it; then only the rest is announced."""
    from theoryverify.simulate import loop

    honest = loop.step_rng

    def stopped_at(last: int) -> None:
        def stop(seed: int, step: int) -> np.random.Generator:
            if seed == 7 and step == last:
                raise KeyboardInterrupt
            return honest(seed, step)

        monkeypatch.setattr(loop, "step_rng", stop)

    path = file(tmp_path, seed=7)
    for step, said in (
        (1, "interrupted; there is no checkpoint yet, the same command begins anew"),
        (5, "interrupted; the same command goes on from step 4"),
    ):
        stopped_at(step)
        assert train(path, tmp_path / "out") == 130
        assert said in capsys.readouterr().err
    monkeypatch.undo()
    assert train(path, tmp_path / "out", "--json") == 0
    out, err = capsys.readouterr()
    assert "2 more of 6 steps of 4 prompts, about a second or two here" in err
    assert json.loads(out)["resumed_from"] == 4


def test_a_seed_is_another_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = file(tmp_path, steps=2)
    losses = []
    for seed in ("0", "1"):
        assert train(path, tmp_path / seed, "--seed", seed, "--json") == 0
        losses.append(json.loads(capsys.readouterr().out)["loss"]["first"])
    assert losses[0] != losses[1]


def test_show_prints_what_can_be_edited(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train", "paper", "--model", "gpt2", "--show"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert configuration(document).model.layers == 6
    # the preset as it is, though it cannot run like this on the CPU here
    assert (document["precision"], document["compiled"]) == ("bfloat16", True)


def test_what_all_processes_know_the_first_says_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from theoryverify.simulate import loop, processes

    def stop(seed: int, step: int) -> np.random.Generator:
        raise KeyboardInterrupt

    for code, settings in (
        (1, {"optimizer": {"kind": "sgd", "rate": 1e30, "clip": None}}),
        (130, {}),
    ):
        path = file(tmp_path, **settings)
        if code == 130:
            monkeypatch.setattr(loop, "step_rng", stop)
        assert train(path, tmp_path / f"first-{code}") == code
        assert capsys.readouterr().err.count("theoryverify: ") == 1
        with monkeypatch.context() as within:
            within.setattr(processes, "speaks", lambda: False)
            with pytest.raises(SystemExit) as end:
                train(path, tmp_path / f"second-{code}")
        assert end.value.code == code
        assert capsys.readouterr() == ("", "")


# -- resume -------------------------------------------------------------------------------------


def weights(folder: Path) -> dict[str, Any]:
    from safetensors.torch import load_file

    newest = max((folder / "checkpoints").glob("step-*"))
    return load_file(newest / "tensors.safetensors")


def test_killed_and_resumed_it_is_the_same_bit_for_bit(tmp_path: Path) -> None:
    path = file(
        tmp_path, steps=4000, checkpoint_every=20, observe_every=1000,
        curriculum={"d": 1, "context": 4, "every": 30},
    )  # fmt: skip
    document = json.loads(path.read_text())
    command = [sys.executable, "-m", "theoryverify", "train", str(path)]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    killed = subprocess.Popen(
        [*command, "--out", str(tmp_path / "killed")], env=environment, stderr=subprocess.DEVNULL
    )
    try:
        checkpoints = tmp_path / "killed/checkpoints"
        deadline = time.monotonic() + 120
        while not list(checkpoints.glob("step-*")) and time.monotonic() < deadline:
            time.sleep(0.05)
    finally:
        killed.send_signal(signal.SIGKILL)
        killed.wait()
    there = max(checkpoints.glob("step-*"))
    reached = int(there.name.removeprefix("step-"))
    assert 0 < reached < 4000
    # a run as far as the kill, and the killed one taken up where it was: 40 more steps each
    settings = configuration(document)
    target = reached + 40

    class Enough(Exception):
        pass

    def until(step: int) -> Any:
        draw = icl_training.batches(settings.task, settings.context, 4, settings.curriculum)

        def batch(at: int, rng: np.random.Generator) -> Any:
            if at == step:
                raise Enough
            return draw(at, rng)

        return lambda *_: batch

    states = []
    patch = pytest.MonkeyPatch()
    with patch.context() as within:
        within.setattr(icl_training, "batches", until(target))
        for folder in (None, checkpoints):
            built: list[Any] = []

            def keep(s: Any, device: Any, built: list[Any] = built) -> Any:
                built.append(build(s, device))
                return built[0]

            within.setattr(icl_training, "build", keep)
            with pytest.raises(Enough):
                train_in_context(settings, folder=folder)
            states.append(built[0].state_dict())
    assert all(torch.equal(a, b) for a, b in zip(*(s.values() for s in states), strict=True))


def test_two_processes_train_one_model(tmp_path: Path) -> None:
    """As ``torchrun`` starts them, connected by gloo; the batch is shared, the loss is its mean."""

    def both(path: Path) -> tuple[list[int], list[tuple[str, str]]]:
        command = [sys.executable, "-m", "theoryverify", "train", str(path), "--json"]
        return in_two_processes([*command, "--out", str(tmp_path / "two")])

    path = file(tmp_path, steps=3)
    assert train(path, tmp_path / "one") == 0
    started, outs = both(path)
    assert started == [0, 0], outs
    assert outs[0][1].count("timed on cpu, for 2 processes") == 1
    assert outs[1] == ("", "")
    assert "Grad strides" not in outs[0][1]
    one = json.loads((tmp_path / "one/result.json").read_text())
    two = json.loads((tmp_path / "two/result.json").read_text())
    assert json.loads(outs[0][0]) == two
    assert two["loss"]["last"] == pytest.approx(one["loss"]["last"], rel=1e-4)
    # a checkpoint of another run: both refuse, and the first says why
    started, outs = both(file(tmp_path, steps=4))
    assert started == [2, 2], outs
    assert "steps is 3 there and 4 here" in outs[0][1]
    assert outs[0][1].count("\n") == 1  # no time is announced for what is refused
    assert outs[1] == ("", "")


# -- refusals -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["huge"], "configuration 'huge' is unknown; choose quick, laptop, paper or a file"),
        (["quick", "--model", "rnn"], "model 'rnn' is unknown"),
        (["none.json"], "cannot read none.json"),
        (["quick", "--seed", "-1"], "seed"),
        (["quick", "--device", "tpu"], "device 'tpu' is unknown"),
    ],
)
def test_bad_arguments(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["train", *arguments]) == 2
    err = capsys.readouterr().err
    assert message in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"task": {"d": 2, "r": 3}}, "r = 3 is larger than d = 2"),
        ({"stps": 1}, "unknown key 'stps'"),
        ({"precision": "bfloat16"}, "is for CUDA"),
        ({"model": {"width": 100_000, "layers": 10_000}}, "GiB"),
        ({"test_tasks": 10**9}, "a test of 1000000000 tasks needs about"),
        (
            {"task": {"d": 10**6, "r": 1}, "context": 99, "test_context": 10**5, "test_tasks": 1},
            "a test of 1 tasks needs about",
        ),
        ({"model": SMALL["model"] | {"states": 10**6, "width": 1000}}, "a training step needs"),
        ({"optimizer": {"rate": 10**400}}, "must be a finite number"),
        ({"task": {"d": 2, "r": 1, "noise": "1e400"}}, "noise = 1e400"),
    ],
)
def test_bad_files(
    change: dict[str, Any], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert train(file(tmp_path, **change), tmp_path / "out") == 2
    err = capsys.readouterr().err
    assert message in err
    assert err.count("\n") == 1


def test_the_validation_set_counts_also_where_steps_are_small() -> None:
    task = {"d": 10**6, "r": 1}
    settings = configuration(
        {**SMALL, "task": task, "batch": 1, "context": 10**4} | {"test_context": 10**4}
    )
    with pytest.raises(InputError, match="a batch and the validation set needs about"):
        icl_training.require_fits(settings, torch.device("cpu"))


def test_a_name_given_twice_and_a_pipe(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "twice.json"
    path.write_text('{"task": {"d": 2, "r": 1, "d": 3}}')
    assert train(path, tmp_path / "out") == 2
    assert "'d' is there twice" in capsys.readouterr().err
    os.mkfifo(tmp_path / "pipe.json")
    assert train(tmp_path / "pipe.json", tmp_path / "out") == 2
    assert "is no plain file" in capsys.readouterr().err


@pytest.fixture
def trained(tmp_path: Path) -> Path:
    train_in_context(configuration(SMALL), folder=tmp_path / "out/checkpoints")
    return tmp_path / "out"


def newest(out: Path) -> Path:
    return max((out / "checkpoints").glob("step-*"))


def test_a_checkpoint_of_another_run_is_refused_and_stays(
    trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = weights(trained)
    for change, what in (
        ({"model": SMALL["model"] | {"width": 16}}, "is of another run: model."),
        ({"task": {"d": 3, "r": 1}}, "is of another run: model."),
        ({"optimizer": {"rate": 0.02, "warmup": 2}}, "optimizer.rate is 0.01 there and 0.02 here"),
    ):
        assert train(file(tmp_path, **change), trained) == 2
        err = capsys.readouterr().err
        assert what in err
        assert err.count("optimizer.rate") <= 1
    assert all(torch.equal(value, weights(trained)[name]) for name, value in before.items())


def test_another_format_is_refused(
    trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from theoryverify.simulate.sealed import seal

    state = newest(trained) / "state.json"
    document = json.loads(state.read_text())
    document.pop("sha256")
    state.write_bytes(seal(document | {"format": 2}))
    assert train(file(tmp_path), trained) == 2
    assert "has format 2; this version of theoryverify reads format 1" in capsys.readouterr().err


def test_damage_is_put_aside_and_hostile_files_are_not_believed(
    trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tensors = newest(trained) / "tensors.safetensors"
    whole = tensors.read_bytes()
    tensors.write_bytes(whole[: len(whole) // 2])
    with pytest.warns(UserWarning, match="is damaged"):
        assert train(file(tmp_path), trained, "--json") == 0
    assert json.loads(capsys.readouterr().out)["resumed_from"] == 4  # from the one before
    for folder in (trained / "checkpoints").glob("step-*"):  # a pickle in the place of all of them
        (folder / "tensors.safetensors").write_bytes(b"\x80\x04cos\nsystem\n(S'exit 1'\ntR.")
    assert train(file(tmp_path), trained) == 2
    err = capsys.readouterr().err
    assert "is damaged" in err
    assert "no older one that is whole" in err
    assert err.splitlines()[-1].startswith("theoryverify: checkpoint ")


def test_a_full_disk_is_one_line_and_the_old_checkpoint_stays(
    trained: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shutil.rmtree(newest(trained))  # the one before is left: step 4 of 6
    before = weights(trained)
    from theoryverify.simulate import checkpoint

    def full(path: Path, *_: Any, **__: Any) -> None:
        raise InputError(f"cannot write {path}: No space left on device")

    monkeypatch.setattr(checkpoint, "write_folder", full)
    assert train(file(tmp_path), trained) == 2
    err = capsys.readouterr().err
    assert "No space left on device" in err
    assert "the last good checkpoint is" in err
    assert all(torch.equal(value, weights(trained)[name]) for name, value in before.items())


def test_a_diverged_run_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = file(tmp_path, optimizer={"kind": "sgd", "rate": 1e30, "clip": None})
    assert train(path, tmp_path / "out") == 1
    assert "training diverged at step" in capsys.readouterr().err


# -- small parts --------------------------------------------------------------------------------


def test_the_start_is_a_function_of_the_seed() -> None:
    one, same, other = (
        build(configuration(SMALL | {"seed": seed})).state_dict() for seed in (3, 3, 4)
    )
    assert all(torch.equal(one[name], same[name]) for name in one)
    assert not torch.equal(one["read_in.weight"], other["read_in.weight"])


def test_last_quarter() -> None:
    assert last_quarter(np.arange(8.0)).tolist() == [6, 7]
    assert last_quarter(np.arange(3.0)).tolist() == [2]
