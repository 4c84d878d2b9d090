"""Checkpoints: whole or refused, and the good one stays."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("safetensors")

from theoryverify import files as writers  # noqa: E402
from theoryverify.errors import InputError  # noqa: E402
from theoryverify.simulate.checkpoint import Checkpoints, CheckpointWarning  # noqa: E402
from theoryverify.simulate.sealed import canonical  # noqa: E402

CONFIGURATION = {"model": {"w": ["float64", 3]}, "steps": 10}


def tensors(step: int) -> dict[str, Any]:
    shared = torch.arange(6.0).reshape(2, 3)
    return {
        "w": torch.full((3,), step, dtype=torch.float64),
        "transposed": shared.T,
        "tied": shared,
        "scalar": torch.tensor(0.1 + step),
        "half": torch.ones(2, dtype=torch.bfloat16),
    }


def saved(folder: Path, steps: tuple[int, ...] = (1, 2, 3)) -> Checkpoints:
    checkpoints = Checkpoints(folder, CONFIGURATION)
    for step in steps:
        checkpoints.save(step, tensors(step), {"observed_at": [0, step]})
    return checkpoints


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_the_newest_comes_back_and_the_one_before_is_kept(tmp_path: Path) -> None:
    checkpoints = saved(tmp_path)
    assert names(tmp_path) == ["step-000000002", "step-000000003"]
    found = Checkpoints(tmp_path, CONFIGURATION).latest()
    assert found is not None
    assert found.step == 3
    assert found.state == {"observed_at": [0, 3]}
    for name, tensor in tensors(3).items():
        assert found.tensors[name].dtype == tensor.dtype
        assert torch.equal(found.tensors[name], tensor)
    assert checkpoints.path() == found.path
    assert Checkpoints(tmp_path / "none", CONFIGURATION).latest() is None


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def forged(path: Path, **changes: Any) -> None:
    document = json.loads((path / "state.json").read_text()) | changes
    document.pop("sha256", None)
    sealed = document | {"sha256": hashlib.sha256(canonical(document)).hexdigest()}
    (path / "state.json").write_text(json.dumps(sealed))


def other_tensors(path: Path, content: bytes) -> None:
    """Other bytes with a checksum that fits: the reader of the format has to refuse them."""
    (path / "tensors.safetensors").write_bytes(content)
    forged(path, bytes=len(content), tensors_sha256=hashlib.sha256(content).hexdigest())


HUGE = json.dumps({"w": {"dtype": "F64", "shape": [10**12], "data_offsets": [0, 8 * 10**12]}})
DAMAGES: dict[str, Callable[[Path], Any]] = {
    "tensors cut": lambda p: os.truncate(p / "tensors.safetensors", 50),
    "tensors flipped": lambda p: flip(p / "tensors.safetensors"),
    "tensors missing": lambda p: (p / "tensors.safetensors").unlink(),
    "tensors of rubbish": lambda p: other_tensors(p, b"rubbish"),
    "tensors pickled": lambda p: other_tensors(p, b"\x80\x04cos\nsystem\n."),
    "tensors huge": lambda p: other_tensors(
        p, len(HUGE).to_bytes(8, "little") + HUGE.encode() + b"x" * 8
    ),
    "state cut": lambda p: os.truncate(p / "state.json", 50),
    "state flipped": lambda p: flip(p / "state.json"),
    "state missing": lambda p: (p / "state.json").unlink(),
    "state not text": lambda p: (p / "state.json").write_bytes(b"\xff" * 9),
    "state deep": lambda p: (p / "state.json").write_text("[" * 10**5),
    "step of another": lambda p: forged(p, step=7),
    "step no number": lambda p: forged(p, step="3"),
    "format no number": lambda p: forged(p, format=True),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_damage_is_found_and_the_one_before_is_used(tmp_path: Path, name: str) -> None:
    checkpoints = saved(tmp_path)
    DAMAGES[name](tmp_path / "step-000000003")
    with pytest.warns(CheckpointWarning, match=r"step-000000003 is damaged .* is used"):
        found = checkpoints.latest()
    assert found is not None
    assert found.step == 2
    assert torch.equal(found.tensors["w"], tensors(2)["w"])
    assert [n.split("-step")[0] for n in names(tmp_path)] == ["damaged", "step-000000002"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        checkpoints.save(3, tensors(3), {})
        again = checkpoints.latest()
    assert again is not None
    assert again.step == 3


def test_nothing_whole_is_left(tmp_path: Path) -> None:
    checkpoints = saved(tmp_path)
    for path in tmp_path.iterdir():
        flip(path / "tensors.safetensors")
    before = names(tmp_path)
    with pytest.raises(InputError, match=r"step-000000003 is damaged .*no older one"):
        checkpoints.latest()
    assert names(tmp_path) == before


def test_another_run_another_format(tmp_path: Path) -> None:
    saved(tmp_path)
    changed = {"model": {"w": ["float64", 4]}, "steps": 10, "more": 1}
    with pytest.raises(InputError) as error:
        Checkpoints(tmp_path, changed).latest()
    assert "model.w is ['float64', 3] there and ['float64', 4] here" in str(error.value)
    assert "more is not in it" in str(error.value)
    forged(tmp_path / "step-000000003", format=2)
    with pytest.raises(InputError, match="has format 2; this version of theoryverify reads"):
        Checkpoints(tmp_path, CONFIGURATION).latest()
    assert names(tmp_path) == ["step-000000002", "step-000000003"]


def test_other_versions_are_said(tmp_path: Path) -> None:
    checkpoints = saved(tmp_path)
    path = tmp_path / "step-000000003"
    there = json.loads((path / "state.json").read_text())["versions"]
    forged(path, versions=there | {"torch": "1.0"})
    with pytest.warns(CheckpointWarning, match=r"torch 1\.0 is now"):
        assert checkpoints.latest() is not None


@pytest.mark.parametrize("call", range(1, 5))
def test_a_full_disk_leaves_the_old_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: int
) -> None:
    """The disk is full at the first, second, ... flush of the new checkpoint."""
    checkpoints = saved(tmp_path, (1, 2))
    calls = 0

    def full(handle: int) -> None:
        nonlocal calls
        calls += 1
        if calls == call:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(writers.os, "fsync", full)
    with pytest.raises(InputError, match=r"No space left on device; the last good checkpoint is"):
        checkpoints.save(3, tensors(3), {})
    monkeypatch.undo()
    assert not [n for n in names(tmp_path) if n.startswith(".writing")]
    found = checkpoints.latest()
    assert found is not None
    # Only the last flush, of the folder, comes after the new checkpoint is whole.
    assert found.step == (3 if call == 4 else 2)
    assert torch.equal(found.tensors["w"], tensors(found.step)["w"])


LIMITED = """
import resource, sys, torch
from theoryverify.errors import InputError
from theoryverify.simulate.checkpoint import Checkpoints
checkpoints = Checkpoints(sys.argv[1], {})
checkpoints.save(1, {"w": torch.ones(10)}, {})
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
import signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
try:
    checkpoints.save(2, {"w": torch.ones(10_000)}, {})
except InputError as error:
    print(error)
print(checkpoints.latest().step)
"""


def test_a_write_that_the_system_really_refuses(tmp_path: Path) -> None:
    out = subprocess.run(
        [sys.executable, "-c", LIMITED, str(tmp_path)], capture_output=True, text=True, check=True
    ).stdout
    assert "File too large; the last good checkpoint is" in out
    assert out.endswith("\n1\n")
    assert names(tmp_path) == ["step-000000001"]


def test_folders_that_cannot_be_used(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for folder in ("/proc/nowhere", tmp_path / "file"):
        with pytest.raises(InputError, match="cannot write to folder"):
            Checkpoints(folder, {})
    with pytest.raises(InputError, match="not finite"):
        Checkpoints(tmp_path, {"x": float("inf")})


def test_two_processes_in_one_folder(tmp_path: Path) -> None:
    one, two = (Checkpoints(tmp_path, CONFIGURATION) for _ in range(2))
    half = tmp_path / f".writing-elsewhere-1-{'0' * 16}"
    half.mkdir()
    with one.locked():
        assert not half.exists()  # nobody else can be writing it
        with pytest.raises(InputError, match="another process is training"), two.locked():
            pass
    with two.locked():
        pass


def test_fuzzed_checkpoints_never_load_something_else(tmp_path: Path) -> None:
    """Random bytes changed in either file: refused, or the tensors are what was saved."""
    rng = np.random.default_rng(0)
    checkpoints = saved(tmp_path, (1,))
    path = tmp_path / "step-000000001"
    whole = {name: (path / name).read_bytes() for name in ("state.json", "tensors.safetensors")}
    for _ in range(150):
        name = list(whole)[rng.integers(2)]
        content = bytearray(whole[name])
        content[rng.integers(len(content))] = rng.integers(256)
        (path / name).write_bytes(content)
        try:
            found = checkpoints.latest()
        except InputError:
            found = None
        if found is not None:
            assert found.step == 1
            assert torch.equal(found.tensors["w"], tensors(1)["w"])
        (path / name).write_bytes(whole[name])
    assert checkpoints.latest() is not None


def test_a_missing_safetensors_is_named_before_the_first_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("theoryverify.simulate.checkpoint.find_spec", lambda _: None)
    with pytest.raises(InputError, match=r"checkpoints need safetensors: pip install"):
        Checkpoints(tmp_path, {})
