"""A broken file is refused in one line that names it, however it is broken."""

from __future__ import annotations

import gzip
import io
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from theoryverify.cli import main
from theoryverify.data import archive, prepared
from theoryverify.data.fsdd import load_fsdd
from theoryverify.data.mnist import load_mnist
from theoryverify.errors import InputError

IMAGES = np.arange(20 * 784, dtype=np.int64).astype(np.uint8).reshape(20, 28, 28)
LABELS = np.arange(20, dtype=np.uint8) % 10


def whole(**changes: Any) -> bytes:
    file = io.BytesIO()
    arrays = {"x_train": IMAGES, "y_train": LABELS, "x_test": IMAGES, "y_test": LABELS}
    np.savez_compressed(file, **arrays | changes)
    return file.getvalue()


def npy() -> bytes:
    file = io.BytesIO()
    np.save(file, IMAGES)
    return file.getvalue()


def damaged_member() -> bytes:
    """The first compressed bytes of the first member are overwritten."""
    content = bytearray(whole())
    start = 30 + len("x_train.npy") + struct.unpack("<H", content[28:30])[0]
    content[start : start + 40] = b"\xff" * 40
    return bytes(content)


def text_member() -> bytes:
    file = io.BytesIO(whole())
    with zipfile.ZipFile(file, "a") as zipped:
        names = [name for name in zipped.namelist() if name != "y_test.npy"]
        kept = {name: zipped.read(name) for name in names}
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as zipped:
        for name, content in kept.items():
            zipped.writestr(name, content)
        zipped.writestr("y_test", "text")
    return out.getvalue()


def names_it_or_reads(load: Callable[[Path], object], where: Path, file: Path) -> bool:
    """Whether it is refused, which must be in a message that names the file."""
    told = ""
    try:
        load(where)
    except InputError as error:
        told = str(error)
    assert not told or str(file) in told
    return bool(told)


BROKEN: dict[str, Callable[[], bytes]] = {
    "empty": lambda: b"",
    "a damaged member": damaged_member,
    "a .npy": npy,
    "no array": text_member,
    "cut": lambda: whole()[:500],
    "text": lambda: b"x",
    "objects": lambda: whole(x_train=np.array([None])),
}


@pytest.mark.parametrize("how", BROKEN)
def test_a_broken_npz(tmp_path: Path, how: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "m.npz"
    path.write_bytes(BROKEN[how]())
    with pytest.raises(InputError, match=r"m\.npz is no \.npz of plain arrays: .") as told:
        load_mnist(path)
    assert "unsafely" not in str(told.value)  # NumPy's advice
    with pytest.raises(InputError, match=r"m\.npz is no \.npz of plain arrays: .*; make it with"):
        prepared.load(path)
    assert main(["data", "prepare", "--mnist", str(path), "--out", str(tmp_path / "o.npz")]) == 2
    assert str(path) in capsys.readouterr().err


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"x_train": np.array(3.0)}, r"m\.npz: x_train has shape \(\), not \(n, 28, 28\)"),
        ({"x_test": IMAGES[:3]}, r"m\.npz: y_test has shape \(20,\) .* 3 whole numbers expected"),
        ({"y_train": np.array(3)}, r"m\.npz: y_train has shape \(\)"),
        ({"y_test": LABELS + 1}, r"m\.npz: y_test: labels must be 0 to 9"),
        ({"x_test": IMAGES.astype(complex)}, r"m\.npz: x_test is of type complex128"),
        ({"x_test": IMAGES.astype(float)}, r"m\.npz: x_test: float images must lie in \[0, 1\]"),
        ({"x_test": IMAGES * np.nan}, r"m\.npz: x_test is of type float64; bytes or finite"),
    ],
)
def test_arrays_that_do_not_fit(tmp_path: Path, changes: dict[str, Any], told: str) -> None:
    (tmp_path / "m.npz").write_bytes(whole(**changes))
    with pytest.raises(InputError, match=told):
        load_mnist(tmp_path / "m.npz")


def test_every_damaged_byte_is_answered(tmp_path: Path) -> None:
    path = tmp_path / "m.npz"
    content = whole()
    rng = np.random.default_rng(0)
    refused = 0
    for place in rng.choice(len(content), 300, replace=False):
        broken = bytearray(content)
        broken[place] ^= int(rng.integers(1, 256))
        path.write_bytes(broken)
        refused += names_it_or_reads(load_mnist, path, path)
    assert refused > 100


def test_a_prepared_file_of_another_kind(tmp_path: Path) -> None:
    path = tmp_path / "p.npz"
    for head in (b"{}", b"[" * 100_000, b"\xff", b'{"format": 1, "about": 3}'):
        arrays = {name: np.zeros(1, np.uint8) for name in prepared._ARRAYS}
        np.savez(path, head=np.frombuffer(head, np.uint8), **arrays)
        with pytest.raises(InputError, match=r"p\.npz is not of format 1"):
            prepared.load(path)


# -- IDX ----------------------------------------------------------------------------------------


def write(folder: Path, images: np.ndarray[Any, Any], labels: np.ndarray[Any, Any]) -> None:
    for prefix in ("train", "t10k"):
        for name, magic, array in (("images-idx3", 2051, images), ("labels-idx1", 2049, labels)):
            head = struct.pack(f">{1 + array.ndim}I", magic, *array.shape)
            (folder / f"{prefix}-{name}-ubyte").write_bytes(head + array.tobytes())


def test_an_idx_file_that_does_not_fit_is_named(tmp_path: Path) -> None:
    write(tmp_path, IMAGES, LABELS[:15])
    with pytest.raises(InputError, match=r"labels-idx1-ubyte has .* of .*train-images-idx3-ubyte"):
        load_mnist(tmp_path)
    write(tmp_path, IMAGES[:, :20], LABELS)
    with pytest.raises(InputError, match=r"train-images-idx3-ubyte has shape \(20, 20, 28\)"):
        load_mnist(tmp_path)
    write(tmp_path, IMAGES, LABELS + 3)
    with pytest.raises(InputError, match="train-labels-idx1-ubyte: labels must be"):
        load_mnist(tmp_path)


def test_a_damaged_gzip_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, IMAGES, LABELS)
    plain = tmp_path / "train-images-idx3-ubyte"
    zipped = tmp_path / "train-images-idx3-ubyte.gz"
    content = bytearray(gzip.compress(plain.read_bytes()))
    plain.unlink()
    for broken in (content[:10] + b"\xff" * 40 + content[50:], content[:60], content[:5]):
        zipped.write_bytes(broken)
        with pytest.raises(InputError, match=r"train-images-idx3-ubyte\.gz cannot be read"):
            load_mnist(tmp_path)
    zipped.write_bytes(content)
    assert load_mnist(tmp_path).images.shape == (40, 28, 28)
    monkeypatch.setattr(archive, "LARGEST", 10_000)
    with pytest.raises(InputError, match=r"ubyte\.gz has more than 10000 bytes of content"):
        load_mnist(tmp_path)
    (tmp_path / "m.npz").write_bytes(whole())
    with pytest.raises(InputError, match=r"m\.npz is no .*more than 10000 bytes of content"):
        load_mnist(tmp_path / "m.npz")


# -- WAV ----------------------------------------------------------------------------------------


def test_every_damaged_byte_of_a_wav_is_answered(tmp_path: Path) -> None:
    path = tmp_path / "7_anna_0.wav"
    rng = np.random.default_rng(0)
    samples = rng.integers(-9, 9, 300).astype("<i2").tobytes()
    form = struct.pack("<HHIIHH", 1, 1, 8000, 16000, 2, 16)
    body = b"WAVEfmt " + struct.pack("<I", 16) + form + b"data" + struct.pack("<I", 600) + samples
    content = b"RIFF" + struct.pack("<I", len(body)) + body
    path.write_bytes(content)
    assert len(load_fsdd(tmp_path).waves[0]) == 300
    refused = 0
    for place in range(44):
        for value in (0, 1, 255):
            path.write_bytes(content[:place] + bytes([value]) + content[place + 1 :])
            refused += names_it_or_reads(load_fsdd, tmp_path, path)
    assert refused > 80
