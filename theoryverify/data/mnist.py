"""MNIST from the forms in which it lies about: IDX files, ``.npz``, or the old pickle."""

from __future__ import annotations

import io
import math
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from theoryverify.data.archive import read_bytes, read_npz
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
    path : str
        Where they were read, for messages.
    """

    images: Bytes
    labels: Bytes
    split: Bytes
    source: str
    path: str = ""


def load_mnist(path: str | Path) -> Digits:
    """MNIST from a folder of IDX files (plain or gzip), an ``.npz``, or ``mnist.pkl.gz``.

    Parameters
    ----------
    path : path
        The ``.npz`` has ``x_train, y_train, x_test, y_test``. The pickle is a triple of pairs
        (images in [0, 1], labels); nothing that it names is given to it, see
        :mod:`theoryverify.data.pickled`. Images of floats are ``k/256`` if all are, as in the old
        pickle, else ``k/255``; both come back as the bytes ``k``.

    Raises
    ------
    InputError
        For a file that is missing, cut short, of another kind (a wrong magic number), whose images
        are not 28 x 28 or whose labels are not 0 to 9; the message names the file.
    """
    path = Path(path)
    if path.is_dir():
        parts = [_idx_pair(path, which) for which in _NAMES]
    elif not path.is_file():
        raise InputError(f"{path} does not exist; give MNIST's IDX folder, .npz or .pkl.gz")
    elif path.suffix == ".npz":
        parts = _from_npz(path)
    elif path.name.endswith((".pkl", ".pkl.gz")):
        parts = _from_pickle(path)
    else:
        raise InputError(f"{path}: a folder of IDX files, an .npz or a .pkl.gz was expected")
    return _assembled(parts, path)


class _Part(NamedTuple):
    """Images and labels that belong together, and where each was read."""

    images: npt.NDArray[Any]
    labels: npt.NDArray[Any]
    images_from: str
    labels_from: str


def _idx_pair(folder: Path, which: str) -> _Part:
    images, labels = (_find(folder, name) for name in _NAMES[which])
    return _Part(read_idx(images, _IMAGES), read_idx(labels, _LABELS), str(images), str(labels))


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
    content = read_bytes(path)
    dimensions = magic & 0xFF
    header = 4 * (1 + dimensions)
    if len(content) < header:
        raise InputError(f"{path} is cut short: {len(content)} bytes are no IDX header")
    found, *shape = struct.unpack(f">{1 + dimensions}I", content[:header])
    if found != magic:
        raise InputError(f"{path} has magic number {found}, not {magic}")
    expected = math.prod(shape)
    if len(content) - header != expected:
        raise InputError(f"{path} has {len(content) - header} bytes of data, not {expected}")
    return np.frombuffer(content, np.uint8, offset=header).reshape(shape)


def _from_npz(path: Path) -> list[_Part]:
    found = read_npz(path, [f"{kind}_{which}" for which in _NAMES for kind in "xy"])
    return [
        _Part(found[f"x_{which}"], found[f"y_{which}"], f"{path}: x_{which}", f"{path}: y_{which}")
        for which in _NAMES
    ]


def _from_pickle(path: Path) -> list[_Part]:
    found = load_arrays(io.BytesIO(read_bytes(path)), path)
    if not isinstance(found, tuple) or len(found) != 3:
        raise InputError(f"{path} does not hold (train, valid, test)")
    parts = []
    for which, part in zip(("training", "validation", "test"), found, strict=True):
        if not isinstance(part, tuple) or len(part) != 2:
            raise InputError(f"{path}: each part must be a pair of arrays (images, labels)")
        parts.append(_Part(*part, f"{path}: {which} images", f"{path}: {which} labels"))
    return parts


def _assembled(parts: list[_Part], path: Path) -> Digits:
    """Training, (validation,) and test images as bytes, with their splits."""
    for part in parts:
        _check(part)
    # Not by part: a few images may be a multiple of 1/256 by chance.
    scale = 256 if all(_whole_256ths(part.images) for part in parts) else 255
    images = [_as_bytes(part.images, scale) for part in parts]
    labels = [np.asarray(part.labels, np.uint8) for part in parts]
    sizes = [len(part) for part in labels]
    if len(parts) == 2:
        held = min(_VALID, sizes[0] // 6)
        sizes = [sizes[0] - held, held, sizes[1]]
    split = np.repeat(np.arange(3, dtype=np.uint8), sizes)
    return Digits(np.concatenate(images), np.concatenate(labels), split, "MNIST", str(path))


def _check(part: _Part) -> None:
    images, labels = part.images, part.labels
    if images.shape[1:] not in ((SIDE * SIDE,), (SIDE, SIDE)):
        raise InputError(
            f"{part.images_from} has shape {images.shape}, not (n, {SIDE}, {SIDE}) "
            f"or (n, {SIDE * SIDE})"
        )
    if images.dtype != np.uint8:
        if images.dtype.kind != "f" or not np.isfinite(images).all():
            raise InputError(
                f"{part.images_from} is of type {images.dtype}; bytes or finite floats expected"
            )
        if images.size and (images.min() < 0 or images.max() > 1):
            raise InputError(f"{part.images_from}: float images must lie in [0, 1]")
    if labels.shape != (len(images),) or labels.dtype.kind not in "iu":
        raise InputError(
            f"{part.labels_from} has shape {labels.shape} and type {labels.dtype}; "
            f"{len(images)} whole numbers expected, one for each image of {part.images_from}"
        )
    if labels.size and (labels.min() < 0 or labels.max() > 9):
        raise InputError(f"{part.labels_from}: labels must be 0 to 9")


def _whole_256ths(images: npt.NDArray[Any]) -> bool:
    if images.dtype == np.uint8:
        return True
    scaled = images * 256
    return bool((scaled <= 255).all() and (scaled == np.rint(scaled)).all())


def _as_bytes(images: npt.NDArray[Any], scale: int) -> Bytes:
    if images.dtype != np.uint8:
        images = np.rint(images * scale)
    return np.asarray(images, np.uint8).reshape(len(images), SIDE, SIDE)
