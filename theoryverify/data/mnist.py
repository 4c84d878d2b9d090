"""MNIST from the forms in which it lies about: IDX files, ``.npz``, or the old pickle."""

from __future__ import annotations

import gzip
import io
import struct
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from theoryverify.data.pickled import load_arrays
from theoryverify.errors import InputError

SIDE = 28
_IMAGES, _LABELS = 2051, 2049
_NAMES = {
    "train": ("train-images-idx3-ubyte", "train-labels-idx1-ubyte"),
    "test": ("t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"),
}
_VALID = 10_000
"""Without a validation set of their own, the last so many (or a sixth) of the training images."""

Bytes = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class Digits:
    """Images of digits.

    Attributes
    ----------
    images : ndarray of uint8 (n, 28, 28)
    labels : ndarray of uint8 (n,)
    split : ndarray of uint8 (n,)
        0 training, 1 validation, 2 test.
    source : str
        What they are, for captions.
    """

    images: Bytes
    labels: Bytes
    split: Bytes
    source: str


def load_mnist(path: str | Path) -> Digits:
    """MNIST from a folder of IDX files (plain or gzip), an ``.npz``, or ``mnist.pkl.gz``.

    Parameters
    ----------
    path : path
        The ``.npz`` has ``x_train, y_train, x_test, y_test``. The pickle is a triple of pairs
        (images in [0, 1], labels); it is read through a whitelist of NumPy's own names, so a
        hostile file is refused before it can do anything.

    Raises
    ------
    InputError
        For a file that is missing, cut short, of another kind (a wrong magic number), whose images
        are not 28 x 28 or whose labels are not 0 to 9; the message names the file.
    """
    path = Path(path)
    if path.is_dir():
        parts = [_idx_pair(path, which) for which in ("train", "test")]
        return _assembled([parts[0], None, parts[1]], path)
    if not path.is_file():
        raise InputError(f"{path} does not exist; give MNIST's IDX folder, .npz or .pkl.gz")
    if path.suffix == ".npz":
        return _assembled(_from_npz(path), path)
    if path.name.endswith((".pkl", ".pkl.gz")):
        return _assembled(_from_pickle(path), path)
    raise InputError(f"{path}: a folder of IDX files, an .npz or a .pkl.gz was expected")


Pair = tuple[npt.NDArray[Any], npt.NDArray[Any]]


def _idx_pair(folder: Path, which: str) -> Pair:
    images, labels = (_find(folder, name) for name in _NAMES[which])
    return read_idx(images, _IMAGES), read_idx(labels, _LABELS)


def _find(folder: Path, name: str) -> Path:
    dotted = name.replace("-idx", ".idx")  # some copies are unpacked so
    for candidate in (name, f"{name}.gz", dotted, f"{dotted}.gz"):
        if (folder / candidate).is_file():
            return folder / candidate
    raise InputError(f"{folder} has no {name} (or {name}.gz)")


def read_idx(path: Path, magic: int) -> Bytes:
    """One IDX file of bytes: a big-endian magic number, the dimensions, the data.

    Raises
    ------
    InputError
        For another magic number, or a file that is shorter or longer than its header says.
    """
    content = _unzipped(path)
    dimensions = magic & 0xFF
    header = 4 * (1 + dimensions)
    if len(content) < header:
        raise InputError(f"{path} is cut short: {len(content)} bytes are no IDX header")
    found, *shape = struct.unpack(f">{1 + dimensions}I", content[:header])
    if found != magic:
        raise InputError(f"{path} has magic number {found}, not {magic}")
    expected = int(np.prod([int(n) for n in shape], dtype=object))
    if len(content) - header != expected:
        raise InputError(f"{path} has {len(content) - header} bytes of data, not {expected}")
    return np.frombuffer(content, np.uint8, offset=header).reshape(shape)


def _unzipped(path: Path) -> bytes:
    try:
        content = path.read_bytes()
        return gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content
    except (OSError, EOFError) as error:
        raise InputError(f"{path} cannot be read: {error}") from error


def _from_npz(path: Path) -> list[Pair | None]:
    try:
        with np.load(path, allow_pickle=False) as file:
            missing = {"x_train", "y_train", "x_test", "y_test"} - set(file.files)
            if missing:
                raise InputError(f"{path} lacks {', '.join(sorted(missing))}")
            train, test = ((file[f"x_{which}"], file[f"y_{which}"]) for which in ("train", "test"))
    except (OSError, ValueError, zipfile.BadZipFile) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path} is no .npz of plain arrays: {error}") from error
    return [train, None, test]


def _from_pickle(path: Path) -> list[Pair | None]:
    found = load_arrays(io.BytesIO(_unzipped(path)), path)
    if not isinstance(found, (tuple, list)) or len(found) != 3:
        raise InputError(f"{path} does not hold (train, valid, test)")
    pairs: list[Pair | None] = []
    for part in found:
        if not (
            isinstance(part, (tuple, list))
            and len(part) == 2
            and all(isinstance(array, np.ndarray) and array.dtype != object for array in part)
        ):
            raise InputError(f"{path}: each part must be a pair of arrays (images, labels)")
        pairs.append((part[0], part[1]))
    return pairs


def _assembled(parts: list[Pair | None], path: Path) -> Digits:
    train, valid, test = parts
    assert train is not None
    assert test is not None
    if valid is None:
        held = min(_VALID, len(train[0]) // 6)
        valid = (train[0][-held:], train[1][-held:]) if held else (train[0][:0], train[1][:0])
        train = (train[0][: len(train[0]) - held], train[1][: len(train[1]) - held])
    images, labels, split = [], [], []
    for number, (pictures, names) in enumerate((train, valid, test)):
        images.append(_as_bytes(pictures, path))
        labels.append(_as_labels(names, len(pictures), path))
        split.append(np.full(len(names), number, np.uint8))
    return Digits(np.concatenate(images), np.concatenate(labels), np.concatenate(split), "MNIST")


def _as_bytes(images: npt.NDArray[Any], path: Path) -> Bytes:
    if images.shape[1:] not in ((SIDE * SIDE,), (SIDE, SIDE)):
        raise InputError(f"{path}: images of shape {images.shape[1:]}, not {SIDE} x {SIDE}")
    images = images.reshape(len(images), SIDE, SIDE)
    if images.dtype == np.uint8:
        return np.asarray(images, np.uint8)
    if images.dtype.kind != "f" or not np.isfinite(images).all():
        raise InputError(f"{path}: images of type {images.dtype}; bytes or finite floats expected")
    if images.size and (images.min() < 0 or images.max() > 1):
        raise InputError(f"{path}: float images must lie in [0, 1]")
    return np.asarray(np.rint(images * 255), np.uint8)


def _as_labels(labels: npt.NDArray[Any], count: int, path: Path) -> Bytes:
    if labels.shape != (count,) or labels.dtype.kind not in "iu":
        raise InputError(f"{path}: {count} images and labels of shape {labels.shape}")
    if count and (labels.min() < 0 or labels.max() > 9):
        raise InputError(f"{path}: labels must be 0 to 9")
    return np.asarray(labels, np.uint8)
