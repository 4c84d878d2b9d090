"""Results on disk, addressed by what was computed and by the code that computed it.

An entry is a folder whose name is the SHA-256 of its configuration and of the hashes of the code
(:mod:`theoryverify.simulate.code`). It holds ``entry.json`` and one ``.npy`` file an array, each with
its checksum. It is written to a temporary folder, flushed, and renamed, so that it is whole or not
there, and so that several processes may use one store: two that compute the same entry write the
same, and the first stays. Nothing is ever unpickled. An entry that is not what it says (a missing or
changed file, another format, an array of objects) is moved aside to ``damaged/``, with a warning, and
computed again.
"""

from __future__ import annotations

import io
import math
import os
import re
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from theoryverify.errors import InputError
from theoryverify.files import clean, remove_folder, writable_folder, write_folder
from theoryverify.simulate.code import fingerprint
from theoryverify.simulate.sealed import (
    JSON,
    Damage,
    canonical,
    plain,
    read_plain,
    seal,
    sha256,
    unseal,
    versions,
)

FORMAT = 1
VARIABLE = "THEORYVERIFY_STORE"
DEFAULT = "out/store"

Array = npt.NDArray[Any]
Arrays = dict[str, Array]

_KINDS = "biufcU"
"""Truth values, integers, floats, complex numbers, and text of a fixed width; never objects."""
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.\-]{0,199}")
_HEADER = re.compile(
    rb"\x93NUMPY\x01\x00..\{'descr': '(?P<descr>[<>|][biufcU]\d{1,10})', "
    rb"'fortran_order': (?P<fortran>True|False), 'shape': \((?P<shape>[\d, ]{0,400})\), \} *\n",
    re.DOTALL,
)
_KEY = re.compile(r"[0-9a-f]{64}")


class StoreWarning(UserWarning):
    """A stored entry was damaged; it was moved aside."""


@dataclass(frozen=True)
class Entry:
    """What is stored under a key.

    Attributes
    ----------
    key : str
        64 hexadecimal digits.
    configuration, code, about : dict
        As given, the hashes of the code, and what is only recorded: versions, seconds.
    """

    key: str
    configuration: dict[str, Any]
    code: dict[str, str]
    about: dict[str, Any]


class Store:
    """A folder of results.

    Parameters
    ----------
    root : path
        Made when the first result is written.

    Raises
    ------
    InputError
        If ``root`` is there and is no folder.

    Examples
    --------
    >>> import numpy as np, tempfile
    >>> from theoryverify.simulate.store import Store
    >>> code = ("theoryverify.memory",)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = Store(folder)
    ...     one = store.compute({"n": 3}, lambda: {"x": np.arange(3)}, code=code)
    ...     two = store.compute({"n": 3}, lambda: 1 / 0, code=code)  # it is not called
    >>> two["x"]
    array([0, 1, 2])
    """

    def __init__(self, root: str | os.PathLike[str]) -> None:
        self.root = Path(root)
        if self.root.exists() and not self.root.is_dir():
            raise InputError(f"store {self.root} is not a folder")
        clean(self.root)

    @classmethod
    def open(cls, root: str | os.PathLike[str] | None = None) -> Store:
        """The store that is asked for, else that of THEORYVERIFY_STORE, else ``out/store``."""
        return cls(root or os.environ.get(VARIABLE) or DEFAULT)

    def __repr__(self) -> str:
        return f"Store({str(self.root)!r})"

    def require_writable(self) -> None:
        """Fail before hours of computing.

        Raises
        ------
        InputError
            If results cannot be written.
        """
        writable_folder(self.root)

    # -- use ------------------------------------------------------------------------------------

    def compute(
        self,
        configuration: Mapping[str, JSON],
        function: Callable[[], Mapping[str, npt.ArrayLike]],
        *,
        code: Sequence[str],
        about: Mapping[str, JSON] | None = None,
    ) -> Arrays:
        """The stored arrays, or those that ``function()`` gives, stored.

        Parameters
        ----------
        configuration : mapping
            All that decides the result: sizes, laws as text, the seed, the device if it matters.
            Truth values, integers, finite floats, text, lists and mappings with text keys; 1 and
            1.0 are different.
        function : callable
            Without arguments; returns arrays by name.
        code : sequence of str
            Modules whose source, with all they import, decides the result.
        about : mapping, optional
            Recorded beside the result, without deciding anything.

        Raises
        ------
        InputError
            For a configuration that is not such a value, names or dtypes that cannot be stored, or
            a folder that cannot be written to: that is found out before ``function`` is called.
        """
        found = self.get(configuration, code=code)
        if found is not None:
            return found
        self.require_writable()
        start = time.perf_counter()
        arrays = function()
        noted = {"seconds": round(time.perf_counter() - start, 6), **(about or {})}
        return self.put(configuration, arrays, code=code, about=noted)

    def get(self, configuration: Mapping[str, JSON], *, code: Sequence[str]) -> Arrays | None:
        """The stored arrays, or None. A damaged entry is moved aside with a warning."""
        return self._load(self.key(configuration, code=code))

    def has(self, configuration: Mapping[str, JSON], *, code: Sequence[str]) -> bool:
        """Whether there is an entry; it is not read."""
        return self._folder(self.key(configuration, code=code)).is_dir()

    def put(
        self,
        configuration: Mapping[str, JSON],
        arrays: Mapping[str, npt.ArrayLike],
        *,
        code: Sequence[str],
        about: Mapping[str, JSON] | None = None,
    ) -> Arrays:
        """Store arrays; returns what is stored, which is what was there if it is whole.

        Raises
        ------
        InputError
            As :meth:`compute`; on a full disk nothing is left half-written.
        """
        checked = {name: _storable(name, value) for name, value in arrays.items()}
        hashes = fingerprint(code)
        settings = plain(configuration)
        key = _key(settings, hashes)
        files = {f"{i}.npy": _npy(array) for i, array in enumerate(checked.values())}
        document = {
            "format": FORMAT,
            "configuration": settings,
            "code": hashes,
            "about": {**versions(), **plain(about or {}, "about")},
            "arrays": [
                {
                    "name": name,
                    "dtype": array.dtype.str,
                    "shape": list(array.shape),
                    "bytes": len(content),
                    "sha256": sha256(content),
                }
                for (name, array), content in zip(checked.items(), files.values(), strict=True)
            ],
        }
        files["entry.json"] = seal(document)
        while True:
            try:
                write_folder(self._folder(key), files, beside=self.root)
                return checked
            except FileExistsError:
                there = self._load(key)  # moves it aside if it is damaged
                if there is not None:
                    return there

    def key(self, configuration: Mapping[str, JSON], *, code: Sequence[str]) -> str:
        """The address of a result: 64 hexadecimal digits."""
        return _key(plain(configuration), fingerprint(code))

    def keys(self) -> Iterator[str]:
        """The addresses of all entries, sorted. Nothing is read or verified."""
        for folder in sorted(self.root.glob("[0-9a-f][0-9a-f]")):
            for entry in sorted(folder.iterdir()):
                if _KEY.fullmatch(entry.name) and (entry / "entry.json").is_file():
                    yield entry.name

    def entries(self) -> Iterator[Entry]:
        """What is stored, read and verified one by one; damaged ones are moved aside."""
        for key in self.keys():
            found = self._read(key)
            if found is not None:
                yield found[0]

    def remove(self, configuration: Mapping[str, JSON], *, code: Sequence[str]) -> None:
        """Forget a result; one that is not there is no error."""
        remove_folder(self._folder(self.key(configuration, code=code)))

    # -- reading --------------------------------------------------------------------------------

    def _folder(self, key: str) -> Path:
        return self.root / key[:2] / key

    def _load(self, key: str) -> Arrays | None:
        found = self._read(key)
        return None if found is None else found[1]

    def _read(self, key: str) -> tuple[Entry, Arrays] | None:
        folder = self._folder(key)
        if not folder.is_dir():
            return None
        try:
            return _read(folder, key)
        except Damage as damage:
            if not folder.is_dir():  # another process was quicker
                return None
            self._set_aside(folder, key, str(damage))
            return None

    def _set_aside(self, folder: Path, key: str, why: str) -> None:
        shelf = self.root / "damaged"
        target = shelf / f"{key}-{time.time_ns()}"
        try:
            shelf.mkdir(exist_ok=True)
            os.rename(folder, target)
        except FileNotFoundError:
            return
        except OSError as error:
            raise InputError(
                f"stored result {folder} is damaged ({why}) and cannot be moved aside: "
                f"{error.strerror}"
            ) from error
        warnings.warn(
            f"stored result {key[:12]} is damaged ({why}); it was moved to {target} and will be "
            "computed again",
            StoreWarning,
            stacklevel=2,
        )


def _read(folder: Path, key: str) -> tuple[Entry, Arrays]:
    document = _document(folder / "entry.json", key)
    arrays: Arrays = {}
    for index, row in enumerate(document["arrays"]):
        content = read_plain(folder / f"{index}.npy", row["bytes"])
        if sha256(content) != row["sha256"]:
            raise Damage(f"the checksum of array {row['name']!r} is wrong")
        array = _from_npy(content)
        if array.dtype.str != row["dtype"] or list(array.shape) != row["shape"]:
            raise Damage(f"array {row['name']!r} has another type or shape than recorded")
        arrays[row["name"]] = array
    entry = Entry(key, document["configuration"], document["code"], document["about"])
    return entry, arrays


def _document(path: Path, key: str) -> dict[str, Any]:
    """``entry.json``, every field of which has the type that is used."""
    document = unseal(read_plain(path), formats=[FORMAT])
    for field in ("configuration", "code", "about"):
        if not isinstance(document.get(field), dict):
            raise Damage(f"{field!r} is no object")
    rows = document.get("arrays")
    if not isinstance(rows, list) or not all(_row(row) for row in rows):
        raise Damage("'arrays' is malformed")
    if len({row["name"] for row in rows}) != len(rows):
        raise Damage("two arrays have one name")
    if _key(document["configuration"], document["code"]) != key:
        raise Damage("it belongs to another key")
    return document


def _row(row: object) -> bool:
    return (
        isinstance(row, dict)
        and isinstance(row.get("name"), str)
        and isinstance(row.get("dtype"), str)
        and isinstance(row.get("sha256"), str)
        and isinstance(row.get("shape"), list)
        and type(row.get("bytes")) is int
    )


def _key(configuration: dict[str, Any], code: dict[str, str]) -> str:
    return sha256(canonical({"format": FORMAT, "configuration": configuration, "code": code}))


# -- arrays -------------------------------------------------------------------------------------


def _storable(name: str, value: npt.ArrayLike) -> Array:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise InputError(f"array name {name!r} must be letters, digits, '_', '.' and '-'")
    array = np.array(value)  # a copy: what is returned is what was stored
    if array.dtype.kind not in _KINDS:
        raise InputError(
            f"array {name!r} has dtype {array.dtype}; only truth values, integers, floats, complex "
            "numbers and text are stored"
        )
    return array


def _npy(array: Array) -> bytes:
    target = io.BytesIO()
    np.lib.format.write_array(target, array, version=(1, 0), allow_pickle=False)
    return target.getvalue()


def _from_npy(content: bytes) -> Array:
    """An array from the bytes of an ``.npy`` file as :func:`_npy` writes them; nothing is believed.

    ``np.load`` evaluates the header as a Python literal and allocates whatever it asks for. Here the
    header must have the one form that NumPy writes, and announce the bytes that are there.
    """
    found = _HEADER.match(content)
    if found is None:
        raise Damage("an .npy header is not as NumPy writes it")
    try:
        dtype = np.dtype(found["descr"].decode())
        shape = tuple(int(n) for n in found["shape"].replace(b",", b" ").split())
    except (TypeError, ValueError) as error:
        raise Damage(f"an .npy header cannot be read: {error}") from error
    data = content[found.end() :]
    if math.prod(shape) * dtype.itemsize != len(data):
        raise Damage(f"{len(data)} bytes of data for shape {shape} of {dtype}")
    order: Literal["C", "F"] = "F" if found["fortran"] == b"True" else "C"
    try:
        flat = np.frombuffer(data, dtype) if data else np.zeros(0, dtype)
        return flat.reshape(shape, order=order).copy(order)
    except ValueError as error:  # an empty array of impossible sizes
        raise Damage(f"no array has shape {shape} of {dtype}") from error
