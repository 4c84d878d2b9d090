"""Reading NumPy arrays out of a pickle that nobody need trust.

A pickle is a program. Nothing that it names is given to it: ``numpy.dtype`` and the like are stand-ins
written here in Python, which only take notes. NumPy is first called when the program has ended, on a
type, a shape and bytes that have been checked. Real constructors would not do, for a program can also
change what they made: a dtype whose item size grows after an array has been made of it makes the array
reach beyond its memory.
"""

from __future__ import annotations

import io
import math
import pickle
import pickletools
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from theoryverify.errors import InputError

_TYPES = ("b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8")
_MEMO = 10_000
"""Notes that a pickle may take; it chooses their numbers, and the table is as long as the largest."""
_AXES = 8
_LEVELS, _WIDTH = 2, 16
"""How deep tuples of arrays may lie in each other, and how long each may be."""


class _Name:
    """What is found by a name: it can be called, but the pickle cannot change it."""

    __slots__ = ("_call",)

    def __init__(self, call: Callable[..., Any]) -> None:
        self._call = call

    def __call__(self, *args: Any) -> Any:
        return self._call(*args)

    def __setstate__(self, state: Any) -> None:
        raise InputError("it changes what it found by a name")


class _Dtype:
    """Notes on a ``numpy.dtype`` of plain numbers."""

    __slots__ = ("name",)

    def __init__(self, code: Any, align: Any = False, copy: Any = False) -> None:
        code = _text(code)
        if code not in _TYPES:
            raise InputError(f"type {code[:20]!r} is not one of plain numbers: {', '.join(_TYPES)}")
        self.name = code

    def __setstate__(self, state: Any) -> None:
        """``(3, byte order, None, None, None, -1, -1, 0)``: no fields, sizes or flags of its own."""
        if type(state) is not tuple or len(state) != 8 or state[2:] != (None,) * 3 + (-1, -1, 0):
            raise InputError("a type has another state than one of plain numbers")
        version, order = state[0], _text(state[1])
        if version != 3 or order not in ("<", ">", "|") or len(self.name) != 2:
            raise InputError("a type has another state than one of plain numbers")
        self.name = order + self.name


class _Array:
    """Notes on a ``numpy.ndarray``."""

    __slots__ = ("_content", "_fortran", "_name", "_shape")

    def __init__(self) -> None:
        self._shape: tuple[int, ...] | None = None

    def __setstate__(self, state: Any) -> None:
        """``(1, shape, dtype, whether in Fortran's order, content)``."""
        if type(state) is not tuple or len(state) != 5 or state[0] != 1 or self._shape is not None:
            raise InputError("an array has another state than one of plain numbers")
        _, shape, dtype, fortran, content = state
        if type(shape) is not tuple or len(shape) > _AXES:
            raise InputError(f"an array's shape is no tuple of up to {_AXES} counts")
        if any(type(n) is not int or not 0 <= n < 2**40 for n in shape):
            raise InputError("an array's shape is not made of counts")
        if type(dtype) is not _Dtype or type(content) is not bytes:
            raise InputError("an array's content is no bytes of plain numbers")
        size = math.prod(shape) * int(dtype.name[-1])
        if len(content) != size:
            raise InputError(f"an array of {size} bytes has {len(content)}")
        self._shape, self._name, self._content = shape, dtype.name, content
        self._fortran = bool(fortran)

    def array(self) -> npt.NDArray[Any]:
        """The array, read-only."""
        if self._shape is None:
            raise InputError("an array has no content")
        flat = np.frombuffer(self._content, np.dtype(self._name))
        return flat.reshape(self._shape, order="F" if self._fortran else "C")


def _text(value: Any) -> str:
    """Python 2's strings are bytes here. Nothing else is shown, as it may be large without end."""
    if type(value) is bytes:
        return value.decode("latin-1")
    if type(value) is not str:
        raise InputError(f"a text was expected, not {type(value).__name__}")
    return value


def _reconstruct(kind: Any, shape: Any, code: Any) -> _Array:
    """NumPy first makes an empty array of bytes, then gives it its state."""
    if kind is not _NDARRAY or shape != (0,) or _text(code) != "b":
        raise InputError("it makes an array that is not a plain one")
    return _Array()


def _ndarray(*args: Any) -> None:
    raise InputError("it makes an array otherwise than NumPy's pickles do")


def _encode(text: Any, encoding: Any = "utf-8") -> bytes:
    """How Python 3 writes bytes in protocol 2: as text to be encoded again in latin-1."""
    if _text(encoding) not in ("latin1", "latin-1"):
        raise InputError(f"encoding {encoding!r} is not expected in a pickled array")
    return _text(text).encode("latin-1")


def _bytes() -> bytes:
    """How Python 3 writes no bytes at all in protocol 2."""
    return b""


_NDARRAY = _Name(_ndarray)
_RECONSTRUCT = _Name(_reconstruct)
_ALLOWED: dict[tuple[str, str], _Name] = {
    ("numpy", "ndarray"): _NDARRAY,
    ("numpy", "dtype"): _Name(_Dtype),
    ("numpy.core.multiarray", "_reconstruct"): _RECONSTRUCT,
    ("numpy._core.multiarray", "_reconstruct"): _RECONSTRUCT,
    ("_codecs", "encode"): _Name(_encode),
    ("__builtin__", "bytes"): _Name(_bytes),
}


class _Notes(pickle.Unpickler):
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
    """An array of plain numbers out of a pickle, or tuples (and lists, as tuples) of arrays.

    Parameters
    ----------
    file : binary file
        A pickle of protocol 0 to 4.
    name : path
        For messages.

    Raises
    ------
    InputError
        Naming the file, and what is wrong with it.
    """
    content = file.read()
    try:
        for opcode, argument, _ in pickletools.genops(content):
            if opcode.name in ("PUT", "BINPUT", "LONG_BINPUT") and int(argument or 0) >= _MEMO:
                raise InputError(f"it takes note {argument}; fewer than {_MEMO} are expected")
        return _arrays(_Notes(io.BytesIO(content), encoding="bytes").load(), _LEVELS)
    except InputError as error:
        raise InputError(f"{name} is not read: {error}") from error
    except Exception as error:  # a damaged pickle can raise nearly anything
        raise InputError(f"{name} is no whole pickle: {type(error).__name__}: {error}") from error


def _arrays(found: Any, levels: int) -> Any:
    if type(found) is _Array:
        return found.array()
    if type(found) in (tuple, list) and levels and len(found) <= _WIDTH:
        return tuple(_arrays(part, levels - 1) for part in found)
    raise InputError("it holds something else than arrays in tuples")
