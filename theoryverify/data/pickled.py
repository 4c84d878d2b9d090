"""Reading NumPy arrays out of a pickle that nobody need trust.

A pickle is a program. Here it may call nothing but NumPy's own constructors of plain arrays; the first
other name that it asks for ends it, before anything has been called.
"""

from __future__ import annotations

import codecs
import pickle
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy._core import multiarray

from theoryverify.errors import InputError


def _dtype(code: str, align: bool = False, copy: bool = False) -> np.dtype[Any]:
    """``numpy.dtype`` for plain numbers alone: an object array would hold what it likes."""
    found = np.dtype(code, align=bool(align), copy=bool(copy))
    if found.hasobject or found.names:
        raise InputError(f"dtype {code!r} is not one of plain numbers")
    return found


def _encode(text: str, encoding: str = "utf-8") -> bytes:
    """How Python 2 strings reach protocol 2: as text to be encoded again in latin-1."""
    if encoding not in ("latin1", "latin-1"):
        raise InputError(f"encoding {encoding!r} is not expected in a pickled array")
    return codecs.encode(text, "latin-1")


_ALLOWED: dict[tuple[str, str], Any] = {
    ("numpy", "ndarray"): np.ndarray,
    ("numpy", "dtype"): _dtype,
    ("numpy.core.multiarray", "_reconstruct"): multiarray._reconstruct,
    ("numpy._core.multiarray", "_reconstruct"): multiarray._reconstruct,
    ("_codecs", "encode"): _encode,
}


class _Arrays(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        try:
            return _ALLOWED[module, name]
        except KeyError:
            raise InputError(
                f"it asks for {module}.{name}; only NumPy's plain arrays are read"
            ) from None

    def persistent_load(self, pid: Any) -> Any:
        raise InputError("it refers to something outside itself")


def load_arrays(file: BinaryIO, name: str | Path) -> Any:
    """Containers, numbers, texts and plain NumPy arrays out of a pickle; all else is refused.

    Raises
    ------
    InputError
        Naming the file, and what it asked for.
    """
    try:
        return _Arrays(file, encoding="latin1").load()
    except InputError as error:
        raise InputError(f"{name} is not read: {error}") from error
    except Exception as error:  # a damaged pickle can raise nearly anything
        raise InputError(f"{name} is no whole pickle: {type(error).__name__}: {error}") from error
