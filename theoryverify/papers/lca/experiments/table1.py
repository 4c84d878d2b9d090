"""The tables behind ``lca.table1`` and ``lca.avmnist``: five classifiers on digits seen and heard."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from theoryverify.data import DEFAULT, VARIABLE, prepared
from theoryverify.data.avmnist import Pairs, pair
from theoryverify.data.embedded import embedded_digits
from theoryverify.data.synthesis import synthesised
from theoryverify.figures import Data, Plan, Table
from theoryverify.figures.cells import Cells, Work, training_name
from theoryverify.figures.table import Cell
from theoryverify.papers.lca.table1 import EFFECTS, Estimate, cluster_bootstrap, latex, markdown
from theoryverify.seeds import named_rng

if TYPE_CHECKING:
    from theoryverify.simulate.classify import Answers

PAPER = {
    "full": (0.6385, 64),
    "no injection": (0.6272, 65),
    "no cross-attention": (0.6210, 79),
    "neither": (0.6079, 90),
    "bidirectional": (0.6272, 62),
}
"""Table 1: best test accuracy and its epoch, on another data set."""

_CODE = (
    "theoryverify.models.fusion",
    "theoryverify.simulate.classify",
)


@dataclass(frozen=True)
class Sizes:
    seeds: int
    epochs: int
    most: int | None
    batch: int = 128
    rate: float = 3e-4


def sizes_for(plan: Plan) -> Sizes:
    """Seeds, epochs, training pairs, batch, rate."""
    return plan.choose(
        Sizes(2, 2, 400, 50, 3e-3), Sizes(5, 10, 4_000), Sizes(5, 100, None)
    )  # fmt: skip


def data_file() -> Path | None:
    """The prepared file that is used: that of the variable, else the default if it is there."""
    named = os.environ.get(VARIABLE)
    path = Path(named or DEFAULT)
    return path if named or path.is_file() else None


@lru_cache(maxsize=1)
def the_data(most: int | None) -> tuple[Pairs, str]:
    """The prepared file if there is one, else the embedded stand-in; and the checksum of what is used."""
    path = data_file()
    if path is None:
        pairs = pair(embedded_digits(), synthesised(), most=most)
    else:
        pairs = _thinned(prepared.load(path), most)
    checksum = prepared.digest(pairs)
    print(f"lca.table1: {path or 'embedded stand-in'}, {checksum[:12]}", file=sys.stderr)
    return pairs, checksum


def _thinned(pairs: Pairs, most: int | None) -> Pairs:
    """At most so many training pairs, a fifth of that for validation and three tenths for the test (the
    first ones: the pairs lie in random order)."""
    if most is None:
        return pairs
    keep = np.concatenate(
        [
            np.flatnonzero(pairs.split == part)[:count]
            for part, count in enumerate((most, most // 5, 3 * most // 10))
        ]
    )  # fmt: skip
    return Pairs(
        pairs.images, pairs.corrupted_images, pairs.sounds, pairs.corrupted_sounds,
        pairs.image[keep], pairs.clip[keep], pairs.copy[keep], pairs.label[keep], pairs.split[keep],
        pairs.speaker, pairs.about,
    )  # fmt: skip


def _train(
    arm: str,
    seed: int,
    sizes: Sizes,
    device: str,
    folder: Path | None,
    label: str | None,
    _: np.random.Generator,
) -> dict[str, NDArray[np.generic]]:
    from theoryverify.simulate.classify import train_classifier

    found = train_classifier(
        arm, the_data(sizes.most)[0], epochs=sizes.epochs, batch=sizes.batch,
        rate=sizes.rate, seed=seed, device=device,
        folder=None if folder is None else str(folder), progress=label,
    )  # fmt: skip
    return {"loss": found.loss, "validation": found.validation, "correct": found.correct}


@lru_cache(maxsize=1)
def runs(plan: Plan) -> dict[str, list[Answers]]:
    """Every arm with every seed; beyond ``quick`` each run is kept on disk."""
    from theoryverify.models.fusion import ARMS
    from theoryverify.simulate.classify import Answers

    sizes = sizes_for(plan)
    checksum = the_data(sizes.most)[1]
    cells = Cells("lca.table1", plan, code=_CODE)
    work: list[tuple[str, Work]] = []
    for number in range(sizes.seeds):
        seed = int(named_rng(plan.seed, f"lca.table1 {number}").integers(2**62))
        for arm in ARMS:
            of = {"arm": arm, "seed": number, "data": checksum, **vars(sizes)}
            del of["seeds"]  # more seeds leave the first ones as they are
            folder = None
            if cells.folder is not None:
                folder = (
                    cells.folder
                    / "training"
                    / training_name("table1", {**of, "plan": plan.seed}, _CODE)
                )
            label = None if plan.preset == "quick" else f"{arm}, seed {number}"
            work.append((arm, (of, partial(_train, arm, seed, sizes, plan.device, folder, label))))
    cells.ahead([each for _, each in work])
    found: dict[str, list[Answers]] = {arm: [] for arm in ARMS}
    for arm, each in work:
        found[arm].append(Answers(**cells.compute(*each)))
    return found


def _setup(plan: Plan, pairs: Pairs) -> str:
    sizes = sizes_for(plan)
    counts = [int((pairs.split == part).sum()) for part in range(3)]
    about, path = pairs.about, data_file()
    return (
        f"{about['name']} pairs: images {about['images']}, sounds {about['sounds']}, clips split by "
        f"{about['clip split']} rule, {'from ' + path.name if path else 'made here'}, SHA-256 "
        f"{the_data(sizes.most)[1][:12]}; {counts[0]} training, {counts[1]} validation, {counts[2]} test "
        f"pairs; AdamW {sizes.rate:g}, weight decay 1e-4, batch {sizes.batch}, {sizes.epochs} epochs, "
        f"{sizes.seeds} seeds. These are not the paper's data, and it trained for 100 epochs: short runs "
        "compare how fast models begin to learn."
    )


def _source(plan: Plan, pairs: Pairs) -> Table:
    """What the pictures say of themselves."""
    sizes = sizes_for(plan)
    which = (str(pairs.about[key]) for key in ("name", "images", "sounds"))
    return Table.of(
        ("data", "images", "sounds", "preset", "epochs", "seeds"),
        [(*which, plan.preset, sizes.epochs, sizes.seeds)],
    )


def table1_data(plan: Plan) -> Data:
    """Accuracies and effects, with intervals by clip and by speaker."""
    from theoryverify.models.fusion import ARMS, build, parameters

    answers = runs(plan)
    pairs, _ = the_data(sizes_for(plan).most)
    test = pairs.split == 2
    clip = pairs.clip[test]
    clusters = {"clip": clip, "speaker": pairs.speaker[clip]}
    correct = {
        arm: np.stack([run.correct[run.chosen] for run in each]).astype(np.float64)
        for arm, each in answers.items()
    }
    contrasts = {arm: {arm: 1.0} for arm in ARMS} | EFFECTS
    estimates = {
        by: cluster_bootstrap(correct, groups, contrasts, rng=np.random.default_rng([plan.seed, 7]))
        for by, groups in clusters.items()
    }
    accuracy: list[tuple[Cell, ...]] = []
    shown: list[tuple[str, ...]] = []
    for arm in ARMS:
        best = float(np.mean([run.best for run in answers[arm]]))
        spans = [x for by in clusters for x in _ends(estimates[by][arm])]
        value = estimates["clip"][arm].value
        epochs = ", ".join(str(run.chosen) for run in answers[arm])
        count = parameters(build(arm, rng=0))
        paper = PAPER[arm][0] if arm in PAPER else None
        accuracy.append((arm, count, value, *spans, best, best - value, epochs, paper))
        shown.append(
            (arm, f"{count:,}", f"{100 * value:.2f}", _span(spans[:2]), _span(spans[2:]),
             f"{100 * best:.2f}", f"{100 * (best - value):+.2f}",
             "" if paper is None else f"{100 * paper:.2f}")
        )  # fmt: skip
    effects: list[tuple[Cell, ...]] = []
    differences: list[tuple[str, ...]] = []
    for name in EFFECTS:
        spans = [x for by in clusters for x in _ends(estimates[by][name])]
        value = estimates["clip"][name].value
        effects.append((name, value, *spans))
        differences.append((name, f"{100 * value:+.2f}", _span(spans[:2]), _span(spans[2:])))
    by_both = ("clip_lower", "clip_upper", "speaker_lower", "speaker_upper")
    table = Table.of(
        (
            "arm",
            "parameters",
            "accuracy",
            *by_both,
            "best_test_epoch",
            "optimism",
            "epochs",
            "paper",
        ),
        accuracy,
    )
    header = ("model", "parameters", "test accuracy (%)", "95% by clip", "95% by speaker",
              "best test epoch (%)", "its optimism", "Table 1, other data (%)")  # fmt: skip
    effect = ("difference of accuracies", "points", "95% by clip", "95% by speaker")
    setup = (
        _setup(plan, pairs)
        + " Epochs are chosen on the validation split; intervals resample seeds and clips (or speakers) "
        "4000 times, the same for all arms, are widened as Student's t is for so few, and are "
        "descriptive and pointwise: blank where there are fewer than three clusters."
    )
    return Data(
        {
            "accuracy": table,
            "effects": Table.of(("effect", "difference", *by_both), effects),
            "source": _source(plan, pairs),
        },
        setup,
        {
            "md": "\n".join((markdown(shown, header), markdown(differences, effect), setup + "\n")),
            "tex": "\n".join((f"% {setup}", latex(shown, header), latex(differences, effect))),
        },
    )


def _ends(estimate: Estimate) -> tuple[float | None, float | None]:
    """Of an interval; empty cells where there is none."""
    if math.isnan(estimate.lower):
        return None, None
    return estimate.lower, estimate.upper


def _span(ends: Sequence[float | None]) -> str:
    return (
        "n/a" if None in ends else "[{:.2f}, {:.2f}]".format(*(100 * float(x or 0) for x in ends))
    )


def avmnist_data(plan: Plan) -> Data:
    """Learning curves, and a few pairs to look at."""
    from theoryverify.models.fusion import ARMS

    pairs, _ = the_data(sizes_for(plan).most)
    curves = []
    for arm in ARMS:
        tests = np.stack([run.correct.mean(axis=1) for run in runs(plan)[arm]])
        for epoch, column in enumerate(tests.T):
            curves.append(
                (arm, epoch, float(column.min()), float(column.mean()), float(column.max()))
            )
    pictures = []
    for digit in (0, 3, 5, 8):
        row = int(np.flatnonzero((pairs.label == digit) & (pairs.split == 0))[0])
        image, clip, copy = pairs.image[row], pairs.clip[row], pairs.copy[row]
        for kind, picture in (
            ("image", pairs.images[image]),
            ("corrupted image", pairs.corrupted_images[image]),
            ("sound", pairs.sounds[clip]),
            ("corrupted sound", pairs.corrupted_sounds[clip, copy]),
        ):
            pictures += [(digit, kind, k, line.tobytes().hex()) for k, line in enumerate(picture)]
    return Data(
        {
            "curves": Table.of(("arm", "epoch", "lowest", "mean", "highest"), curves),
            "pictures": Table.of(("digit", "kind", "line", "bytes"), pictures),
            "source": _source(plan, pairs),
        },
        _setup(plan, pairs) + " Bands: least and greatest over the seeds.",
    )
