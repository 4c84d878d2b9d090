"""The prepared pairs as one checksummed ``.npz``: plain arrays, no pickle."""

from __future__ import annotations

import hashlib
import io
import json
from pathlib import Path

import numpy as np

from theoryverify.data.archive import read_npz
from theoryverify.data.avmnist import Pairs
from theoryverify.errors import InputError
from theoryverify.files import write_bytes

FORMAT = 1
_ARRAYS = (
    "images",
    "corrupted_images",
    "sounds",
    "corrupted_sounds",
    "image",
    "clip",
    "copy",
    "label",
    "split",
    "speaker",
)


def digest(pairs: Pairs) -> str:
    """SHA-256 of all arrays, with their types and shapes, and of what is said about them."""
    found = hashlib.sha256(json.dumps(pairs.about, sort_keys=True).encode())
    for name in _ARRAYS:
        array = np.ascontiguousarray(getattr(pairs, name))
        found.update(f"{name} {array.dtype.str} {array.shape}".encode())
        found.update(array.tobytes())
    return found.hexdigest()


def save(pairs: Pairs, path: Path) -> str:
    """Write the file, whole or not at all; returns the checksum that stands in it."""
    checksum = digest(pairs)
    head = json.dumps({"format": FORMAT, "sha256": checksum, "about": pairs.about}, sort_keys=True)
    content = io.BytesIO()
    np.savez_compressed(
        content,
        head=np.frombuffer(head.encode(), np.uint8),
        **{name: getattr(pairs, name) for name in _ARRAYS},
    )
    write_bytes(path, content.getvalue())
    return checksum


def load(path: str | Path) -> Pairs:
    """Read a file that :func:`save` wrote, and check its sum.

    Raises
    ------
    InputError
        If it is missing, no such file, of another format, or its content has changed.
    """
    path = Path(path)
    if not path.is_file():
        raise InputError(f"{path} does not exist; make it with `theoryverify data prepare`")
    try:
        arrays = read_npz(path, ["head", *_ARRAYS])
    except InputError as error:
        raise InputError(f"{error}; make it with `theoryverify data prepare`") from error
    try:
        head = json.loads(arrays.pop("head").tobytes())
    except (ValueError, RecursionError):
        head = None
    known = isinstance(head, dict) and head.get("format") == FORMAT
    if not known or not isinstance(head.get("about"), dict):
        raise InputError(f"{path} is not of format {FORMAT}, which this version reads")
    pairs = Pairs(**arrays, about=head["about"])
    if digest(pairs) != head.get("sha256"):
        raise InputError(f"{path} is damaged: its checksum does not fit; prepare it again")
    return pairs
