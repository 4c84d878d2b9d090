"""Writing files and folders so that a crash leaves the old one or the new one, never half of one."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import shutil
import socket
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from theoryverify.errors import InputError

_HALF = re.compile(r"\.writing-(?P<host>[^/]*)-(?P<pid>\d+)-[0-9a-f]{16}")
_MINUTE, _DAY = 60.0, 86400.0


def writable_folder(path: Path) -> Path:
    """The folder, made if need be, known to take files.

    Raises
    ------
    InputError
        If it cannot be made or written to.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            pass
    except FileExistsError as error:
        raise InputError(f"cannot write to folder {path}: it is a file") from error
    except OSError as error:
        raise InputError(f"cannot write to folder {path}: {error.strerror}") from error
    return path


@contextlib.contextmanager
def folder_for_a_while(path: Path) -> Iterator[Path]:
    """:func:`writable_folder`, of which what was made here goes again if nothing came into it.

    Raises
    ------
    InputError
        If it cannot be made or written to.
    """
    made = [folder for folder in (path, *path.parents) if not os.path.exists(folder)]
    try:
        yield writable_folder(path)
    finally:
        with contextlib.suppress(OSError):  # one that is not empty stays, and those above it
            for folder in made:
                folder.rmdir()


def write_text(path: Path, text: str) -> None:
    """Write a whole text file, in UTF-8, or nothing."""
    write_bytes(path, text.encode("utf-8"))


def write_bytes(path: Path, content: bytes) -> None:
    """Write a whole file or nothing: a temporary file beside it, then an atomic rename.

    Raises
    ------
    InputError
        If the file cannot be written.
    """
    try:
        handle, name = tempfile.mkstemp(dir=path.parent or Path("."), prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            umask = os.umask(0)
            os.umask(umask)
            os.chmod(name, 0o666 & ~umask)
            os.replace(name, path)
        except BaseException:
            os.unlink(name)
            raise
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}") from error


def write_folder(path: Path, files: Mapping[str, bytes], *, beside: Path | None = None) -> None:
    """Write a whole folder of files or nothing, durably.

    The files go to a temporary folder, are flushed to the disk one by one, and the folder is then
    renamed: whoever sees ``path`` sees all of it, also after a power cut.

    Parameters
    ----------
    path : Path
        Must not exist; its parent is made.
    files : mapping of str to bytes
        Plain file names, no folders.
    beside : Path, optional
        Where the temporary folder lies until it is whole, on the same file system; by default the
        parent of ``path``. :func:`clean` finds what a killed process has left there.

    Raises
    ------
    FileExistsError
        If ``path`` is already there and not empty; nothing is changed.
    InputError
        If it cannot be written (a full disk, no permission); nothing is left behind.
    """
    parent = path.parent
    try:
        parent.mkdir(parents=True, exist_ok=True)
        half = (beside or parent) / f".writing-{_host()}-{os.getpid()}-{secrets.token_hex(8)}"
        half.mkdir()
        try:
            for name, content in files.items():
                with open(half / name, "xb") as file:
                    file.write(content)
                    file.flush()
                    os.fsync(file.fileno())
            _flush_folder(half)
            try:
                os.rename(half, path)
            except OSError as error:
                # Which error a full target gives differs between systems.
                if path.is_dir():
                    raise FileExistsError(f"{path} exists") from error
                raise
            _flush_folder(parent)
        except BaseException:
            shutil.rmtree(half, ignore_errors=True)
            raise
    except FileExistsError:
        raise
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror or error}") from error


def clean(folder: Path, *, alone: bool = False) -> list[Path]:
    """Remove what killed processes left half-written in a folder; returns what was removed.

    A temporary folder is abandoned if the process of this machine that made it has ended, or, where
    that cannot be known, once it is a day old; or if nobody else can be writing (``alone``).
    """
    removed = []
    with contextlib.suppress(OSError):
        for entry in list(os.scandir(folder)):
            found = _HALF.fullmatch(entry.name)
            if found and (alone or _abandoned(entry, found["host"], int(found["pid"]))):
                shutil.rmtree(entry.path, ignore_errors=True)
                removed.append(Path(entry.path))
    return removed


def remove_folder(path: Path) -> None:
    """Remove a folder such that nobody ever sees a part of it; one that is gone is no error."""
    gone = path.parent / f".writing-{_host()}-{os.getpid()}-{secrets.token_hex(8)}"
    with contextlib.suppress(OSError):
        os.rename(path, gone)
        shutil.rmtree(gone, ignore_errors=True)


def _abandoned(entry: os.DirEntry[str], host: str, pid: int) -> bool:
    try:
        age = time.time() - entry.stat().st_mtime
    except OSError:
        return False
    # The minute is for two containers that share a folder and a name, but not their process ids.
    if host == _host() and age > _MINUTE and not _alive(pid):
        return True
    return age > _DAY


def _alive(pid: int) -> bool:
    if os.name != "posix":  # elsewhere there is no harmless signal
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _host() -> str:
    return re.sub(r"[^A-Za-z0-9.]", "_", socket.gethostname())[:64]


def _flush_folder(folder: Path) -> None:
    """Make renames in a folder durable, where the system can."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
