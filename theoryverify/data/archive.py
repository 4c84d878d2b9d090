"""Reading files that nobody need trust: bytes, zipped or not, and ``.npz`` of plain arrays."""

from __future__ import annotations

import gzip
import zipfile
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from theoryverify.errors import InputError

LARGEST = 2**31
"""Bytes of content; a small file can unpack to more than any memory holds."""


def read_bytes(path: Path) -> bytes:
    """The content of a file, unpacked if it is a gzip.

    Raises
    ------
    InputError
        If it cannot be read, is damaged, or has more than 2 GiB.
    """
    try:
        with open(path, "rb") as file:
            zipped = file.read(2) == b"\x1f\x8b"
            file.seek(0)
            content = (gzip.GzipFile(fileobj=file) if zipped else file).read(LARGEST + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{path} cannot be read: {error}") from error
    if len(content) > LARGEST:
        raise InputError(f"{path} has more than {LARGEST} bytes of content")
    return content


def read_npz(path: Path, names: Iterable[str]) -> dict[str, npt.NDArray[Any]]:
    """The arrays of those names in an ``.npz``; object arrays are refused unread.

    Raises
    ------
    InputError
        If the file is no such archive, is damaged, or lacks a name; the message names the file.
    """
    try:
        if not zipfile.is_zipfile(path):
            raise InputError("it is no zip archive, or is cut short")
        with zipfile.ZipFile(path) as archive:
            size = sum(member.file_size for member in archive.infolist())
        if size > LARGEST:
            raise InputError(f"it has more than {LARGEST} bytes of content")
        with np.load(path, allow_pickle=False) as file:
            missing = set(names) - set(file.files)
            if missing:
                raise InputError(f"it lacks {', '.join(sorted(missing))}")
            arrays = {name: file[name] for name in names}
        if not all(isinstance(array, np.ndarray) for array in arrays.values()):
            raise InputError("a member of it is no array")
    except Exception as error:  # a damaged archive can raise nearly anything
        why = str(error) or type(error).__name__
        raise InputError(f"{path} is no .npz of plain arrays: {why}") from error
    return arrays
