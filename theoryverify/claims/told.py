"""Errors of a paper's author, told in a line: what happened, and where in the author's own file."""

from __future__ import annotations

import inspect
import traceback
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

from theoryverify.errors import InputError


def described(error: BaseException) -> str:
    """Its text, with its kind where it is not one of ours."""
    if isinstance(error, SystemExit):  # let through, it would end a run as if all were well
        return f"it ends the program (sys.exit({'' if error.code is None else repr(error.code)}))"
    return str(error) if isinstance(error, InputError) else f"{type(error).__name__}: {error}"


def told(error: BaseException, *functions: Callable[..., Any]) -> str:
    """The same, and the last line that the author of these functions wrote of those it came through."""
    return described(error) + place(error, *functions)


def place(error: BaseException, *functions: Callable[..., Any]) -> str:
    """That line and its file, in brackets: it is theirs to mend, not ours."""
    codes = [getattr(inspect.unwrap(function), "__code__", None) for function in functions]
    frame = last_frame(error, {code.co_filename for code in codes if code})
    return f" ({Path(frame.filename).name}, line {frame.lineno})" if frame else ""


def last_frame(error: BaseException, files: Collection[str]) -> traceback.FrameSummary | None:
    """The last place in these files that the error came through."""
    through = traceback.extract_tb(error.__traceback__)
    return next((frame for frame in reversed(through) if frame.filename in files), None)
