"""JSON documents that carry their own checksum, and files that are read without being believed."""

from __future__ import annotations

import hashlib
import json
import math
import os
import platform
import stat
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from theoryverify.errors import InputError

JSON = None | bool | int | float | str | Sequence["JSON"] | Mapping[str, "JSON"]

_LARGEST_JSON = 2**26


class Damage(Exception):
    """Why something on the disk cannot be used. Never reaches a user as such."""


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def canonical(document: Mapping[str, Any]) -> bytes:
    """The one spelling of a JSON document that hashes are taken of."""
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return text.encode("ascii")


def seal(document: Mapping[str, Any]) -> bytes:
    """A JSON file with a field ``sha256`` of all the others."""
    sealed = {**document, "sha256": sha256(canonical(document))}
    return json.dumps(sealed, indent=1).encode("ascii")


def unseal(content: bytes, *, formats: Sequence[int]) -> dict[str, Any]:
    """The document of a sealed file, without its checksum.

    Raises
    ------
    Damage
        If it is no JSON object, its field ``format`` is none of ``formats``, or it was changed.
    """
    try:
        document = json.loads(content.decode("ascii"))
        if not isinstance(document, dict):
            raise Damage("the JSON is no object")
        claimed = document.pop("sha256", None)
        actual = sha256(canonical(document))  # refuses NaN and infinities
    except (ValueError, RecursionError) as error:
        raise Damage(f"the JSON cannot be read: {type(error).__name__}") from error
    if claimed != actual:
        raise Damage("the checksum of the JSON is wrong")
    if type(document.get("format")) is not int or document["format"] not in formats:
        raise Damage(f"format {document.get('format')!r} is none of {list(formats)}")
    return document


def read_plain(path: Path, size: int | None = None) -> bytes:
    """The bytes of a regular file, of the size that is expected, before anything is parsed.

    Raises
    ------
    Damage
        If it is missing, of another size (or, where none is given, of more than 64 MiB), a link or
        a pipe.
    InputError
        If it may not be read.
    """
    try:
        status = os.lstat(path)
        if not stat.S_ISREG(status.st_mode):
            raise Damage(f"{path.name} is no plain file")
        if size is None and status.st_size > _LARGEST_JSON:
            raise Damage(f"{path.name} has {status.st_size} bytes")
        if size is not None and status.st_size != size:
            raise Damage(f"{path.name} has {status.st_size} bytes instead of {size}")
        return path.read_bytes()
    except FileNotFoundError as error:
        raise Damage(f"{path.name} is missing") from error
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from error


def plain(value: Mapping[str, JSON], where: str = "configuration") -> dict[str, Any]:
    """A copy of a configuration that JSON gives back as it was.

    Raises
    ------
    InputError
        Naming the first value that is no truth value, integer, finite float, text, list or mapping
        with text keys.
    """
    if not isinstance(value, Mapping):
        raise InputError(f"{where} = {value!r} must be a mapping")
    found: dict[str, Any] = _plain(value, where, 0)
    return found


def _plain(value: object, where: str, depth: int) -> Any:
    if depth > 50:
        raise InputError(f"{where} is nested too deeply")
    if type(value) is int and abs(value) >= 10**1000:
        raise InputError(f"{where} is an integer of more than 1000 digits; write it as text")
    if value is None or type(value) in (bool, int, str):
        return value
    if type(value) is float:
        if not math.isfinite(value):
            raise InputError(f"{where} = {value} is not finite")
        return value
    if isinstance(value, Mapping):
        for name in value:
            if not isinstance(name, str):
                raise InputError(f"{where} has the key {name!r}; keys must be text")
        return {name: _plain(item, f"{where}.{name}", depth + 1) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item, f"{where}[{i}]", depth + 1) for i, item in enumerate(value)]
    raise InputError(
        f"{where} = {value!r} is a {type(value).__name__}; write numbers, text, lists and mappings "
        "(a fraction or a law as text)"
    )


def differences(there: object, here: object, where: str = "") -> Iterator[str]:
    """What differs between two configurations, one sentence each."""
    if isinstance(there, dict) and isinstance(here, dict):
        for name in sorted(there.keys() | here.keys()):
            inner = f"{where}.{name}" if where else name
            if name not in there:
                yield f"{inner} is not in it"
            elif name not in here:
                yield f"{inner} is only in it"
            else:
                yield from differences(there[name], here[name], inner)
    elif type(there) is not type(here) or there != here:
        yield f"{where} is {there!r} there and {here!r} here"


@lru_cache(maxsize=1)
def versions() -> dict[str, JSON]:
    """Versions of Python and of the packages that compute, and the machine's kind."""
    found: dict[str, JSON] = {"python": platform.python_version(), "machine": platform.machine()}
    for name in ("theoryverify", "numpy", "scipy", "torch", "python-flint"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    found["byteorder"] = sys.byteorder
    return found
