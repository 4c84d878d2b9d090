"""Laws as users write them on the command line: ``uniform(2,5)``, ``ball(4,5)``, ..."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from theoryverify.errors import InputError
from theoryverify.exact.densities import Ball, ScaledBeta, Shell, Uniform
from theoryverify.exact.laws import Discrete, Empirical, Law, TwoPoint
from theoryverify.exact.rationals import Exact, positive_integer, rational

_FORMS = {
    "uniform": "uniform(LOW,HIGH)",
    "two-point": "two-point(LOW,HIGH,WEIGHT_OF_LOW)",
    "discrete": "discrete(Z:WEIGHT,Z:WEIGHT,...)",
    "beta": "beta(LOW,HIGH,P,Q)",
    "ball": "ball(DIMENSION,ZMAX)",
    "shell": "shell(DIMENSION,ZMIN,ZMAX)",
    "empirical": "empirical(FILE)",
}
_UNBOUNDED = {"exponential", "gaussian", "normal", "gamma", "lognormal", "pareto", "cauchy"}
_MAX_FILE_BYTES = 50_000_000
_MAX_ATOMS = 1_000_000


def parse_law(text: str) -> Law:
    """The law that a text such as ``"uniform(2,5)"`` names.

    Raises
    ------
    InputError
        With the forms that exist, if the text is none of them or its numbers do not fit.
    """
    if not isinstance(text, str):
        raise InputError(f"a law is a text such as 'uniform(2,5)', not {type(text).__name__}")
    match = re.fullmatch(r"\s*([A-Za-z][\w-]*)\s*\((.*)\)\s*", text, flags=re.DOTALL)
    if match is None:
        raise InputError(f"law {_short(text)} is not of the form NAME(...); {_allowed()}")
    name, inside = match.group(1).lower().replace("_", "-"), match.group(2)
    if name in _UNBOUNDED:
        raise InputError(
            f"law {_short(text)} is unbounded; Assumption 6.1 needs ess sup |m|^2 < infinity; "
            + _allowed()
        )
    if name not in _FORMS:
        raise InputError(f"law {_short(name)} is unknown; {_allowed()}")
    if name == "empirical":
        return read_empirical(Path(inside.strip()))
    arguments = [part.strip() for part in inside.split(",")] if inside.strip() else []
    if name == "discrete":
        return _discrete(arguments, text)
    build, count = _BUILDERS[name]
    if len(arguments) not in count:
        plural = "" if len(arguments) == 1 else "s"
        raise InputError(
            f"law {_short(text)} has {len(arguments)} argument{plural}; write {_FORMS[name]}"
        )
    return build(arguments)


_BUILDERS: dict[str, tuple[Callable[[list[str]], Law], tuple[int, ...]]] = {
    "uniform": (lambda a: Uniform(*a), (2,)),
    "two-point": (lambda a: TwoPoint(*a), (2, 3)),
    "beta": (lambda a: ScaledBeta(*a), (4,)),
    "ball": (lambda a: Ball(positive_integer(a[0], "dimension"), a[1]), (2,)),
    "shell": (lambda a: Shell(positive_integer(a[0], "dimension"), a[1], a[2]), (3,)),
}


def _discrete(arguments: list[str], text: str) -> Discrete:
    weights: dict[Exact, Exact] = {}
    for argument in arguments:
        point, colon, weight = argument.partition(":")
        if not colon:
            raise InputError(
                f"atom {_short(argument)} of {_short(text)} has no weight; write "
                + _FORMS["discrete"]
            )
        if point.strip() in weights:
            raise InputError(f"atom {_short(point)} is given twice in {_short(text)}")
        weights[point.strip()] = weight.strip()
    return Discrete(weights)


def read_empirical(path: Path) -> Empirical:
    """The empirical law of a text file of decimal numbers, separated by space, comma or newline.

    Lines that start with ``#`` are skipped. The decimals are taken exactly as written.

    Raises
    ------
    InputError
        If the file is missing, too large, or holds something that is not a number; the message
        names the file and the line.
    """
    try:
        with path.open("rb") as file:
            data = file.read(_MAX_FILE_BYTES + 1)  # a device has no size, and may have no end
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from error
    except ValueError as error:  # a null byte in the name
        raise InputError(f"cannot read {str(path)!r}: {error}") from error
    if len(data) > _MAX_FILE_BYTES:
        raise InputError(f"{path} is larger than {_MAX_FILE_BYTES // 10**6} MB")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not a text file of decimal numbers") from error
    values: list[Exact] = []
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("#"):
            continue
        for word in re.split(r"[\s,;]+", line.strip()):
            if not word:
                continue
            try:
                values.append(rational(word))
            except InputError as error:
                raise InputError(
                    f"{path}, line {number}: {_short(word)} is not a number"
                ) from error
            if len(values) > _MAX_ATOMS:
                raise InputError(f"{path} holds more than {_MAX_ATOMS} values")
    return Empirical(values, source=str(path))


def _allowed() -> str:
    return "write one of " + ", ".join(_FORMS.values())


def _short(text: str) -> str:
    stripped = text.strip()
    return repr(stripped if len(stripped) <= 60 else stripped[:60] + "...")
