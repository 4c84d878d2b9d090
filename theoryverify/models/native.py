"""Shared libraries built from C++ when first asked for, and kept; ``None`` wherever that fails.

Nothing is built at import time. The environment variable ``THEORYVERIFY_NATIVE=0`` turns native code
off, ``CXX`` names a compiler other than the first of ``c++``, ``g++``, ``clang++`` on the path. A
library is kept in ``$XDG_CACHE_HOME/theoryverify`` (``~/.cache``) under a hash of its source, the
flags, and all the compiler says of itself and of this processor, so neither a new compiler nor
another machine with the same home folder meets a stale one. Processes that need it at once wait for
one build behind a lock. Where the folder cannot be written, or others could write into it, each
process builds its own.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import hashlib
import os
import shlex
import shutil
import subprocess
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path

_FLAGS = ("-std=c++17", "-O3", "-march=native", "-ffp-contract=fast", "-fPIC", "-shared", "-w")
_SECONDS = 120


class BuildError(RuntimeError):
    """The compiler is there but did not make the library."""


@functools.cache
def load(source: Path) -> ctypes.CDLL | None:
    """The library made from ``source``, or ``None``: switched off, no compiler, or it failed.

    A failure of a compiler that is there is a warning, once a process.
    """
    compiler = find_compiler()
    if compiler is None:
        return None
    try:
        try:
            return _load(source, compiler, (*_FLAGS, "-fopenmp"))
        except BuildError:
            return _load(source, compiler, _FLAGS)  # one thread: Apple's clang has no OpenMP
    except (BuildError, OSError, subprocess.SubprocessError) as error:
        warnings.warn(
            f"{source.name} could not be built with {compiler[0]}, so a slower path is taken "
            f"(THEORYVERIFY_NATIVE=0 silences this): {error}",
            RuntimeWarning,
            stacklevel=2,
        )
        return None


def find_compiler() -> tuple[str, ...] | None:
    """The command of the C++ compiler; ``None`` if there is none or native code is off."""
    if os.environ.get("THEORYVERIFY_NATIVE", "1") == "0" or os.name != "posix":
        return None
    named = os.environ.get("CXX")
    if named:
        return tuple(shlex.split(named))
    found = next(filter(None, map(shutil.which, ("c++", "g++", "clang++"))), None)
    return None if found is None else (found,)


def _load(source: Path, compiler: tuple[str, ...], flags: tuple[str, ...]) -> ctypes.CDLL:
    text = source.read_bytes()
    # The predefined macros hold the compiler's version and the processor's instruction sets.
    about = _run([*compiler, *flags, "-dM", "-E", "-x", "c++", os.devnull])
    key = hashlib.sha256(b"\0".join((text, about, repr((compiler, flags)).encode()))).hexdigest()
    with _folder() as folder:
        library = folder / f"{source.stem}-{key[:32]}.so"
        if not library.exists():
            with _locked(folder / f"{source.stem}.lock"):
                if not library.exists():  # another process may have built it meanwhile
                    _build(source, library, compiler, flags)
        return ctypes.CDLL(str(library))


def _build(source: Path, library: Path, compiler: tuple[str, ...], flags: tuple[str, ...]) -> None:
    handle, unfinished = tempfile.mkstemp(suffix=".so", dir=library.parent)
    os.close(handle)
    try:
        _run([*compiler, *flags, str(source), "-o", unfinished])
        if os.path.getsize(unfinished) == 0:
            raise BuildError(f"{compiler[0]} made an empty file")
        os.replace(unfinished, library)
    except BaseException:
        os.unlink(unfinished)
        raise


def _run(command: list[str]) -> bytes:
    done = subprocess.run(
        command, capture_output=True, timeout=_SECONDS, stdin=subprocess.DEVNULL, check=False
    )
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().splitlines() or ["no message"]
        raise BuildError(said[0])
    return done.stdout


@contextlib.contextmanager
def _folder() -> Iterator[Path]:
    """Where libraries are kept: nobody else may write there, since what lies there is run."""
    home = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    kept = Path(home) / "theoryverify"
    try:
        kept.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = kept.stat()
        ours = status.st_uid == os.getuid() and not status.st_mode & 0o022
        ours = ours and os.access(kept, os.W_OK | os.X_OK)
    except (OSError, RuntimeError):
        ours = False
    if ours:
        yield kept
    else:
        with tempfile.TemporaryDirectory() as private:  # a loaded library may be deleted
            yield Path(private)


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    import fcntl  # POSIX only, as is all of this

    with open(path, "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
