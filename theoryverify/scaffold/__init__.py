"""The start of a paper of one's own: three working claims, their tests, and a CI job."""

from __future__ import annotations

import importlib.util
import keyword
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Collection
from importlib.resources import files
from pathlib import Path
from string import Template

from theoryverify.errors import InputError

_FILES = {
    "paper.py.template": "{name}.py",
    "test_paper.py.template": "test_{name}.py",
    "README.md.template": "README.md",
    "theorems.yml.template": ".github/workflows/theorems.yml",
}


def create(name: str, parent: Path, taken: Collection[str] = ()) -> list[Path]:
    """Write a new paper into the folder ``parent/name``.

    Parameters
    ----------
    name : str
        Letters a to z, digits and ``_``, a letter first, such as ``my_paper``. It names the module,
        the folder, and is the first part of the claims' ids.
    parent : Path
        An existing folder.
    taken : collection of str
        Names of the papers that there are.

    Returns
    -------
    list of Path
        The files, written all or not at all.

    Raises
    ------
    InputError
        For a name that no module can have or that is taken, a folder that is there already, or a
        parent that is missing or not writable.
    """
    if not re.fullmatch("[a-z][a-z0-9_]*", name):
        raise InputError(
            f"{name!r} cannot name a paper; use letters a to z, digits and _, a letter first, "
            "such as my_paper"
        )
    if keyword.iskeyword(name):
        raise InputError(
            f"{name!r} is a word of Python's grammar; choose another, such as my_paper"
        )
    if name in taken:
        raise InputError(f"there is a paper {name!r} already; choose another name")
    target = parent / name
    if target.exists():
        raise InputError(f"{target} is there already; nothing was written")
    spec = importlib.util.find_spec(name)  # a mere folder of that name has no origin
    if name in sys.stdlib_module_names or (spec is not None and spec.origin is not None):
        raise InputError(f"{name!r} is the name of a module that exists already; choose another")
    try:
        scratch = Path(tempfile.mkdtemp(prefix=f".{name}-", dir=parent))
    except OSError as error:
        raise InputError(f"cannot write into {parent}: {error.strerror}") from error
    try:
        for template, file in _FILES.items():
            written = scratch / file.format(name=name)
            written.parent.mkdir(parents=True, exist_ok=True)
            text = (files(__name__) / "templates" / template).read_text("utf-8")
            written.write_text(Template(text).substitute(name=name), encoding="utf-8")
        scratch.chmod(0o777 & ~_umask())  # mkdtemp makes it private
        os.rename(scratch, target)
    except BaseException:
        shutil.rmtree(scratch, ignore_errors=True)
        raise
    return [target / file.format(name=name) for file in _FILES.values()]


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
