"""Checkpoints: tensors in safetensors, everything else in sealed JSON, each written whole or not.

A checkpoint is a folder ``step-000000100`` with ``tensors.safetensors`` and ``state.json``. It is
written to a temporary folder, flushed to the disk and renamed; only then are older ones removed, and
the one before stays. So a process may be killed at any moment, or the disk may fill up, and there is
a whole checkpoint to go on from. Nothing is unpickled.
"""

from __future__ import annotations

import contextlib
import os
import re
import time
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from theoryverify.errors import InputError
from theoryverify.files import clean, remove_folder, writable_folder, write_folder
from theoryverify.simulate.sealed import (
    JSON,
    Damage,
    differences,
    plain,
    read_plain,
    seal,
    sha256,
    unseal,
    versions,
)

if TYPE_CHECKING:
    from torch import Tensor

FORMAT = 1
KEPT = 2
_FOLDER = re.compile(r"step-(\d{9,18})")


class CheckpointWarning(UserWarning):
    """A checkpoint was damaged and an older one is used, or versions of packages have changed."""


@dataclass(frozen=True)
class Checkpoint:
    """A state to go on from.

    Attributes
    ----------
    step : int
        How many steps were done.
    tensors : dict of str to Tensor
        On the CPU.
    state : dict
        Plain values.
    path : Path
    """

    step: int
    tensors: dict[str, Tensor]
    state: dict[str, Any]
    path: Path


class Checkpoints:
    """The checkpoints of one run, in one folder.

    Parameters
    ----------
    folder : path
        Made if need be.
    configuration : mapping
        What the run is: a checkpoint of another one is refused.

    Raises
    ------
    InputError
        If the folder cannot be written to, the configuration is no plain JSON, or safetensors is not
        installed: known before the first step, not at the first checkpoint.
    """

    def __init__(self, folder: str | os.PathLike[str], configuration: Mapping[str, JSON]) -> None:
        if find_spec("safetensors") is None:
            raise InputError('checkpoints need safetensors: pip install "theoryverify[simulate]"')
        self.folder = writable_folder(Path(folder))
        self.configuration = plain(configuration)

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Nobody else may train in this folder meanwhile; the lock ends with the process.

        Raises
        ------
        InputError
            If another process does.
        """
        try:
            import fcntl
        except ImportError:  # no such locks on this system
            yield
            return
        with open(self.folder / ".lock", "ab") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise InputError(
                    f"another process is training in {self.folder}; wait for it or choose another "
                    "folder"
                ) from error
            except OSError:  # a file system without locks
                yield
                return
            clean(self.folder, alone=True)
            yield

    def latest(self) -> Checkpoint | None:
        """The newest whole checkpoint, or None if there is none at all.

        A damaged one is moved aside with a warning if an older one is whole.

        Raises
        ------
        InputError
            If the newest one is of another format or another configuration (the message names
            what differs), or all are damaged. Nothing is changed then.
        """
        damaged: list[tuple[Path, str]] = []
        for _, path in sorted(_found(self.folder), reverse=True):
            try:
                found = self._read(path)
            except Damage as damage:
                damaged.append((path, str(damage)))
                continue
            for other, why in damaged:
                target = self._set_aside(other)
                warnings.warn(
                    f"checkpoint {other} is damaged ({why}); it was moved to {target.name}, and "
                    f"{path} is used",
                    CheckpointWarning,
                    stacklevel=2,
                )
            return found
        if damaged:
            path, why = damaged[0]
            raise InputError(
                f"checkpoint {path} is damaged ({why}) and there is no older one that is whole; "
                "move the folder away to begin anew"
            )
        return None

    def path(self) -> Path | None:
        """Where the newest checkpoint lies; it is not read."""
        return max(_found(self.folder), default=(0, None))[1]

    def save(self, step: int, tensors: Mapping[str, Tensor], state: Mapping[str, JSON]) -> Path:
        """Write a checkpoint, then remove all but this one and the one before.

        Raises
        ------
        InputError
            If it cannot be written (a full disk): the older ones are as they were.
        """
        import safetensors.torch

        # Tied weights share memory, which the format does not allow.
        whole = {name: _own(tensor) for name, tensor in tensors.items()}
        content = safetensors.torch.save(whole)
        document = {
            "format": FORMAT,
            "step": step,
            "configuration": self.configuration,
            "state": plain(state, "state"),
            "versions": versions(),
            "bytes": len(content),
            "tensors_sha256": sha256(content),
        }
        path = self.folder / f"step-{step:09d}"
        files = {"tensors.safetensors": content, "state.json": seal(document)}
        try:
            try:
                write_folder(path, files)
            except FileExistsError:  # of a run that was resumed from further back
                self._set_aside(path)
                write_folder(path, files)
        except InputError as error:
            last = self.path()
            kept = f"the last good checkpoint is {last}" if last else "there is no checkpoint yet"
            raise InputError(f"{error}; {kept}") from error
        for _, old in sorted(_found(self.folder), reverse=True)[KEPT:]:
            remove_folder(old)
        return path

    def _read(self, path: Path) -> Checkpoint:
        import safetensors
        import safetensors.torch

        document = unseal(read_plain(path / "state.json"), formats=range(1, 1000))
        if document["format"] != FORMAT:
            raise InputError(
                f"checkpoint {path} has format {document['format']}; this version of theoryverify "
                f"reads format {FORMAT}"
            )
        for field, kind in (
            ("step", int),
            ("bytes", int),
            ("configuration", dict),
            ("state", dict),
            ("versions", dict),
        ):
            if type(document.get(field)) is not kind:
                raise Damage(f"{field!r} is malformed")
        if path.name != f"step-{document['step']:09d}":
            raise Damage(f"it is of step {document['step']}")
        different = list(differences(document["configuration"], self.configuration))
        if different:
            raise InputError(
                f"checkpoint {path} is of another run: {'; '.join(different[:3])}"
                + (f"; and {len(different) - 3} more differences" if different[3:] else "")
            )
        content = read_plain(path / "tensors.safetensors", document["bytes"])
        if sha256(content) != document.get("tensors_sha256"):
            raise Damage("the checksum of tensors.safetensors is wrong")
        try:
            tensors = safetensors.torch.load(content)
        except (safetensors.SafetensorError, ValueError, KeyError, TypeError) as error:
            raise Damage(f"tensors.safetensors cannot be read: {error}") from error
        _note_versions(path, document["versions"])
        return Checkpoint(document["step"], tensors, document["state"], path)

    def _set_aside(self, path: Path) -> Path:
        target = path.with_name(f"damaged-{path.name}-{time.time_ns()}")
        try:
            os.rename(path, target)
        except OSError as error:
            raise InputError(f"cannot move {path} aside: {error.strerror}") from error
        return target


def steps_done(folder: Path) -> int:
    """How far the run in a folder is by the names of its checkpoints, which are not read; 0 if none."""
    return max(_found(folder), default=(0, folder))[0] if folder.is_dir() else 0


def _found(folder: Path) -> list[tuple[int, Path]]:
    return [
        (int(name[1]), path)
        for path in folder.iterdir()
        if (name := _FOLDER.fullmatch(path.name)) and path.is_dir()
    ]


def _own(tensor: Tensor) -> Tensor:
    return tensor.detach().cpu().contiguous().clone()


def _note_versions(path: Path, there: Mapping[str, object]) -> None:
    changed = [
        f"{name} {there[name]} is now {here}"
        for name, here in versions().items()
        if name in there and there[name] != here
    ]
    if changed:
        warnings.warn(
            f"{path} was written with other versions ({', '.join(changed)}): the run goes on, but "
            "perhaps not as it would have, bit for bit",
            CheckpointWarning,
            stacklevel=3,
        )
