"""The tables behind ``lca.table1`` and ``lca.avmnist``: five classifiers on digits seen and heard."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from theoryverify.data import prepared
from theoryverify.data.avmnist import Pairs, pair
from theoryverify.data.embedded import embedded_digits
from theoryverify.data.synthesis import synthesised
from theoryverify.figures import Data, Plan, Table
from theoryverify.figures.cells import Cells
from theoryverify.figures.table import Cell
from theoryverify.papers.lca.table1 import EFFECTS, cluster_bootstrap, latex, markdown

if TYPE_CHECKING:
    from theoryverify.simulate.classify import Answers

VARIABLE = "THEORYVERIFY_AVMNIST"
"""A file made by ``theoryverify data prepare``."""
DEFAULT = "out/avmnist.npz"

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
    """Seeds, epochs, training pairs."""
    return plan.choose(
        Sizes(2, 2, 400, 50, 3e-3), Sizes(5, 10, 6_000), Sizes(5, 100, None)
    )  # fmt: skip


@lru_cache(maxsize=1)
def the_data(most: int | None) -> tuple[Pairs, str]:
    """The prepared file if there is one, else the embedded stand-in; and its checksum."""
    named = os.environ.get(VARIABLE)
    path = Path(named or DEFAULT)
    if named or path.is_file():
        pairs = _thinned(prepared.load(path), most)
    else:
        pairs = pair(embedded_digits(), synthesised(), most=most)
    return pairs, prepared.digest(pairs)


def _thinned(pairs: Pairs, most: int | None) -> Pairs:
    """At most so many training pairs, and a fifth of that for each other split (the first ones: the
    pairs lie in random order)."""
    if most is None:
        return pairs
    keep = np.concatenate(
        [np.flatnonzero(pairs.split == part)[: most if part == 0 else most // 5] for part in (0, 1, 2)]
    )  # fmt: skip
    return Pairs(
        pairs.images, pairs.corrupted_images, pairs.sounds, pairs.corrupted_sounds,
        pairs.image[keep], pairs.clip[keep], pairs.copy[keep], pairs.label[keep], pairs.split[keep],
        pairs.speaker, pairs.about,
    )  # fmt: skip


def _train(
    arm: str, seed: int, sizes: Sizes, device: str, _: np.random.Generator
) -> dict[str, NDArray[np.generic]]:
    from theoryverify.simulate.classify import train_classifier

    found = train_classifier(
        arm, the_data(sizes.most)[0], epochs=sizes.epochs, batch=sizes.batch,
        rate=sizes.rate, seed=seed, device=device
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
    found: dict[str, list[Answers]] = {arm: [] for arm in ARMS}
    for seed in range(sizes.seeds):
        for arm in ARMS:
            arrays = cells.compute(
                {"arm": arm, "seed": seed, "data": checksum, **vars(sizes)},
                partial(_train, arm, plan.seed + seed, sizes, plan.device),
            )
            found[arm].append(Answers(**arrays))
    return found


def _setup(plan: Plan, pairs: Pairs) -> str:
    sizes = sizes_for(plan)
    counts = [int((pairs.split == part).sum()) for part in range(3)]
    about = pairs.about
    small = " These are not the paper's data." if "synthesised" in str(about["sounds"]) else ""
    return (
        f"{about['name']} pairs: images {about['images']}, sounds {about['sounds']}, clips split by "
        f"{about['clip split']} rule; {counts[0]} training, {counts[1]} validation, {counts[2]} test "
        f"pairs; AdamW {sizes.rate:g}, weight decay 1e-4, batch {sizes.batch}, {sizes.epochs} epochs, "
        f"{sizes.seeds} seeds.{small}"
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
        spans = [x for by in clusters for x in (estimates[by][arm].lower, estimates[by][arm].upper)]
        value = estimates["clip"][arm].value
        epochs = ", ".join(str(run.chosen) for run in answers[arm])
        count = parameters(build(arm, rng=0))
        paper = PAPER[arm][0] if arm in PAPER else None
        accuracy.append((arm, count, value, *spans, best, best - value, epochs, paper))
        low, high, slow, shigh = (f"{100 * x:.2f}" for x in spans)
        shown.append(
            (arm, f"{count:,}", f"{100 * value:.2f}", f"[{low}, {high}]", f"[{slow}, {shigh}]",
             f"{100 * best:.2f}", f"{100 * (best - value):+.2f}")
        )  # fmt: skip
    effects: list[tuple[Cell, ...]] = []
    for name in EFFECTS:
        spans = [
            x for by in clusters for x in (estimates[by][name].lower, estimates[by][name].upper)
        ]
        effects.append((name, estimates["clip"][name].value, *spans))
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
              "best test epoch (%)", "its optimism")  # fmt: skip
    return Data(
        {"accuracy": table, "effects": Table.of(("effect", "difference", *by_both), effects)},
        _setup(plan, pairs)
        + " Epochs are chosen on the validation split; intervals resample seeds and "
        "clips (or speakers) 4000 times, the same for all arms, and are descriptive.",
        {"md": markdown(shown, header), "tex": latex(shown, header)},
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
        },
        _setup(plan, pairs) + " Bands: least and greatest over the seeds.",
    )
