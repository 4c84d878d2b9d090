"""What an in-context training run is: a frozen configuration, read strictly from JSON or TOML."""

from __future__ import annotations

import dataclasses
import json
import math
import stat
import sys
import tomllib
import types
import typing
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from theoryverify.errors import InputError
from theoryverify.exact.rationals import positive_integer
from theoryverify.seeds import MOST_SEED
from theoryverify.simulate.in_context import Curriculum, Task, batches
from theoryverify.simulate.optimizer import Optimizer

_MOST_BYTES = 10**6
KINDS = ("mamba", "gpt2")


@dataclass(frozen=True)
class Model:
    """A backbone of :mod:`theoryverify.models`, between a linear read-in and readout.

    Attributes
    ----------
    kind : {"mamba", "gpt2"}
    width, layers : int
    states : int
        Of each channel (Mamba).
    heads : int
        They divide the width (GPT-2).
    """

    kind: str = "mamba"
    width: int = 64
    layers: int = 3
    states: int = 16
    heads: int = 4

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise InputError(f"model.kind {self.kind!r} is unknown; choose {', '.join(KINDS)}")
        for name in ("width", "layers", "states", "heads"):
            positive_integer(getattr(self, name), f"model.{name}", most=10**6)
        if self.kind == "gpt2" and self.width % self.heads:
            raise InputError(
                f"model.heads = {self.heads} do not divide model.width = {self.width} evenly"
            )


@dataclass(frozen=True)
class Configuration:
    """A training run.

    Attributes
    ----------
    task, model, optimizer
    context : int
        N_pt: examples a prompt in pretraining, the last one as query.
    steps, batch : int
        Each step sees ``batch`` fresh tasks.
    seed : int
    precision : {"full", "bfloat16"}
        ``bfloat16`` on CUDA only.
    compiled : bool
    checkpoint_every, observe_every : int
        Steps.
    test_context : int
        Prompts are tested up to this length. GPT-2 has a learned row for each position, and those
        from N_pt on are never trained.
    test_tasks : int
    curriculum : Curriculum or None

    Raises
    ------
    InputError
        Naming the value and what is allowed.
    """

    task: Task = field(default_factory=Task)
    model: Model = field(default_factory=Model)
    optimizer: Optimizer = field(default_factory=Optimizer)
    context: int = 32
    steps: int = 1000
    batch: int = 64
    seed: int = 0
    precision: str = "full"
    compiled: bool = False
    checkpoint_every: int = 250
    observe_every: int = 100
    test_context: int = 64
    test_tasks: int = 1000
    curriculum: Curriculum | None = None

    def __post_init__(self) -> None:
        for name in (
            "context",
            "steps",
            "batch",
            "checkpoint_every",
            "observe_every",
            "test_context",
            "test_tasks",
        ):
            positive_integer(getattr(self, name), name, most=10**9)
        positive_integer(self.seed, "seed", least=0, most=MOST_SEED)
        if self.context < 2:
            raise InputError("context = 1 has no example before the query; take 2 or more")
        if self.test_context < self.context:
            raise InputError(
                f"test_context = {self.test_context} must be at least context = {self.context}"
            )
        if self.precision not in ("full", "bfloat16"):
            raise InputError(
                f"precision {self.precision!r} is unknown; choose 'full' or 'bfloat16'"
            )
        batches(self.task, self.context, self.batch, self.curriculum)  # refuses a bad curriculum

    def json(self) -> dict[str, Any]:
        """As plain JSON, which :func:`configuration` reads back."""
        return json.loads(json.dumps(asdict(self)))  # type: ignore[no-any-return]


_T = TypeVar("_T")


def configuration(document: Mapping[str, Any]) -> Configuration:
    """A configuration from nested mappings; what is left out takes its default.

    Raises
    ------
    InputError
        For an unknown key (the message lists the known ones), a value of another type, or out of range.
    """
    return _read(Configuration, document, "")


def read(path: Path) -> Configuration:
    """A configuration from a ``.json`` or ``.toml`` file.

    Raises
    ------
    InputError
        Also for a file that is not there, is no such file, or cannot be parsed.
    """
    if path.suffix not in (".json", ".toml"):
        raise InputError(f"{path} must end in .json or .toml")
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise InputError(f"{path} is no plain file")
        if status.st_size > _MOST_BYTES:
            raise InputError(f"{path} is too large to be a configuration")
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not a text in UTF-8") from error
    try:
        if path.suffix == ".json":
            document = json.loads(text, object_pairs_hook=_table)
        else:
            document = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is no {path.suffix[1:].upper()}: {error}") from error
    try:
        return configuration(document)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def _table(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object; of two values of one name it is not said which is meant."""
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(name for name, _ in pairs if [n for n, _ in pairs].count(name) > 1)
        raise ValueError(f"{twice!r} is there twice")
    return found


def _read(kind: type[_T], document: object, where: str) -> _T:
    if not isinstance(document, Mapping):
        raise InputError(f"{where or 'the configuration'} must be a table of named values")
    known = {f.name: f for f in dataclasses.fields(kind)}  # type: ignore[arg-type]
    hints = typing.get_type_hints(kind)
    values = {}
    for name, value in document.items():
        inner = f"{where}.{name}" if where else str(name)
        if name not in known:
            raise InputError(f"unknown key {inner!r}; known here: {', '.join(known)}")
        values[name] = _value(hints[name], value, inner)
    for name, f in known.items():
        needed = f.default is dataclasses.MISSING and f.default_factory is dataclasses.MISSING
        if needed and name not in values:
            raise InputError(f"{where}.{name} is missing")
    return kind(**values)


def _value(hint: Any, value: Any, where: str) -> Any:
    """The value, if it has the annotated type."""
    options = typing.get_args(hint) if _is_union(hint) else (hint,)
    if value is None and type(None) in options:
        return None
    (plain,) = (option for option in options if option is not type(None))
    if dataclasses.is_dataclass(plain):
        return _read(plain, value, where)  # type: ignore[arg-type]
    if typing.get_origin(plain) is tuple:
        inside = typing.get_args(plain)
        if not isinstance(value, list) or len(value) != len(inside):
            raise InputError(f"{where} = {value!r} must be a list of {len(inside)} numbers")
        return tuple(_value(t, v, where) for t, v in zip(inside, value, strict=True))
    if typing.get_origin(plain) is typing.Literal:
        plain = str  # the class itself says what is allowed
    if plain is float and type(value) is int and abs(value) <= sys.float_info.max:
        value = float(value)
    if type(value) is not plain or (plain is float and not math.isfinite(value)):
        raise InputError(f"{where} = {value!r} must be {_NAMES[plain]}")
    return value


_NAMES = {int: "a whole number", float: "a finite number", str: "a text", bool: "true or false"}


def _is_union(hint: Any) -> bool:
    return typing.get_origin(hint) in (typing.Union, types.UnionType)


# -- presets ------------------------------------------------------------------------------------


def _adamw(rate: float, warmup: int, decay: float = 0.0) -> Optimizer:
    return Optimizer("adamw", rate, warmup=warmup, decay="cosine", clip=1.0, weight_decay=decay)


QUICK = Configuration(
    task=Task(d=2, r=2),
    model=Model("mamba", width=64, layers=3),
    optimizer=_adamw(3e-3, 100),
    context=32,
    steps=1500,
    batch=64,
    test_context=64,
    test_tasks=1000,
)
LAPTOP = replace(QUICK, task=Task(d=4, r=2), steps=12_000, observe_every=500, test_tasks=20_000)
"""A quarter of an hour a model on one core; Mamba ends far below half of the error of predicting 0."""
PAPER = Configuration(
    task=Task(d=32, r=8),
    model=Model("mamba", width=256, layers=12),
    optimizer=_adamw(3e-4, 2000),
    context=64,
    steps=500_000,
    batch=64,
    precision="bfloat16",
    compiled=True,
    checkpoint_every=5000,
    observe_every=5000,
    test_context=128,
    test_tasks=4000,
    curriculum=Curriculum(d=8, context=16, every=2000, d_step=1, context_step=2),
)


def with_model(base: Configuration, kind: str) -> Configuration:
    """The same run with the other model: GPT-2 has a third of the rate, and half of 6 or more layers.

    A layer of Mamba has about half of the parameters of a block of GPT-2; the paper has 12 against 6.
    With fewer than 6 layers (the presets ``quick`` and ``laptop``) both have as many, and GPT-2 is the
    larger one.
    """
    if kind not in KINDS:
        raise InputError(f"model {kind!r} is unknown; choose {', '.join(KINDS)}")
    if kind == base.model.kind:
        return base
    if kind == "mamba":
        raise InputError("presets are of Mamba; write kind = 'mamba' into the file instead")
    layers = base.model.layers if base.model.layers < 6 else base.model.layers // 2
    heads = 8 if base.model.width >= 256 else 4
    return replace(
        base,
        model=Model("gpt2", base.model.width, layers, heads=heads),
        optimizer=replace(base.optimizer, rate=base.optimizer.rate / 3),
    )


PRESETS = {"quick": QUICK, "laptop": LAPTOP, "paper": PAPER}
