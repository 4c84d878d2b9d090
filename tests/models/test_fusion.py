"""Table 1's models: their sizes, what each switch does, and that training is paired and resumable."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from tests.data_room.test_data import clips, some_digits
from theoryverify.data.avmnist import Pairs, pair
from theoryverify.errors import InputError
from theoryverify.models.fusion import ARMS, Fusion, Shape, build, parameters
from theoryverify.papers.lca.table1 import cluster_bootstrap
from theoryverify.simulate.classify import train_classifier

SMALL = Shape(width=8, heads=2, layers=2, hidden=8)
PAPER_COUNTS = {
    "full": 4.36e4,
    "no injection": 3.82e4,
    "no cross-attention": 4.36e4,
    "neither": 3.82e4,
    "bidirectional": 6.07e4,
}


@pytest.mark.parametrize(("arm", "count"), PAPER_COUNTS.items())
def test_parameter_counts_equal_the_papers_to_three_digits(arm: str, count: float) -> None:
    assert float(f"{parameters(build(arm, rng=0)):.2e}") == count


def test_the_matched_arm_has_the_full_models_parameters() -> None:
    full, matched = (parameters(build(arm, rng=0)) for arm in ("full", "no injection, matched"))
    assert abs(full - matched) < 0.005 * full


@pytest.mark.parametrize("arm", ARMS)
def test_outputs_and_gradients(arm: str) -> None:
    model = build(arm, shape=SMALL, rng=0)
    image, sound = torch.randn(2, 3, 28, 28, generator=torch.Generator().manual_seed(0))
    out = model(image, sound)
    assert out.shape == (3, 10)
    out.logsumexp(1).sum().backward()
    idle = {name[:11] for name, p in model.named_parameters() if not p.grad.abs().max() > 0}
    # With a head that reads CLS, what is injected into other rows is not seen under cross-attention,
    # and without it not what is injected last.
    unseen = {"full": {"injection.0", "injection.1"}, "no cross-attention": {"injection.1"}}
    assert idle == unseen.get(arm, set())


def test_what_arms_share_they_begin_with() -> None:
    one, two = (dict(build(a, rng=5).named_parameters()) for a in ("full", "neither"))
    assert set(two) < set(one)
    assert all(torch.equal(one[name], two[name]) for name in two)
    assert not torch.equal(
        one["layers.0.attention.query.weight"], one["layers.0.attention.key.weight"]
    )
    assert not torch.equal(
        one["layers.0.attention.query.weight"], one["layers.1.attention.query.weight"]
    )


@pytest.mark.parametrize(
    ("cross", "mean", "same"), [(True, False, True), (False, False, False), (True, True, False)]
)
def test_injection_reaches_the_logits_only_where_it_can(
    cross: bool, mean: bool, same: bool
) -> None:
    image, sound = torch.randn(2, 3, 28, 28, generator=torch.Generator().manual_seed(0))
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(0)
        model = Fusion(cross=cross, mean=mean, shape=SMALL).eval()
        before = model(image, sound)
        for p in model.injection.parameters():
            p.add_(torch.randn_like(p))
        assert torch.equal(before, model(image, sound)) is same


def test_the_same_seed_gives_the_same_model_and_leaves_torch_alone() -> None:
    before = torch.random.get_rng_state()
    one, two = build("full", shape=SMALL, rng=3), build("full", shape=SMALL, rng=3)
    assert torch.equal(before, torch.random.get_rng_state())
    assert all(torch.equal(p, q) for p, q in zip(one.parameters(), two.parameters(), strict=True))


def test_cross_attention_reads_the_data_not_the_state() -> None:
    """With the values of CLS cut off from X, only a model that reads F sees what layer 1 wrote."""
    torch.manual_seed(0)
    image, sound = torch.randn(2, 2, 28, 28)
    for cross in (True, False):
        model = Fusion(cross=cross, injection=False, shape=SMALL).eval()
        seen = []
        model.layers[1].norm_key.register_forward_pre_hook(
            lambda _, args, s=seen: s.append(args[0])
        )
        model.layers[0].norm_key.register_forward_pre_hook(
            lambda _, args, s=seen: s.append(args[0])
        )
        with torch.no_grad():
            model(image, sound)
        assert torch.equal(seen[0], seen[1]) is cross


@pytest.fixture(scope="module")
def pairs() -> Pairs:
    return pair(some_digits(), clips())


def test_training_is_paired_by_seed_and_resumes(pairs: Pairs, tmp_path: Path) -> None:
    settings = {"epochs": 2, "batch": 25, "shape": SMALL, "seed": 4}
    one = train_classifier("full", pairs, folder=str(tmp_path), **settings)
    again = train_classifier("full", pairs, folder=str(tmp_path), **settings)
    fresh = train_classifier("full", pairs, **settings)
    for found in (again, fresh):
        assert np.array_equal(one.loss, found.loss)
        assert np.array_equal(one.correct, found.correct)
    assert one.correct.shape == (3, 100)
    assert one.loss.shape == (8,)
    assert one.best >= one.accuracy
    other = train_classifier("full", pairs, **(settings | {"seed": 5}))
    assert not np.array_equal(one.loss, other.loss)


def test_it_learns_what_can_be_learned(pairs: Pairs) -> None:
    """The digit is painted into every picture: a few epochs must find it."""
    loud = pairs.corrupted_images // 8
    for label, row in zip(pairs.label, pairs.image, strict=True):
        loud[row, 2 * label : 2 * label + 3] = 255
    easy = Pairs(**(vars(pairs) | {"corrupted_images": loud}))
    found = train_classifier(
        "full", easy, epochs=12, batch=20, rate=1e-2, shape=Shape(layers=1, dropout=0), seed=0
    )
    assert found.accuracy > 0.5


def test_bad_input(pairs: Pairs) -> None:
    with pytest.raises(InputError, match="arm 'all' is unknown"):
        build("all", rng=0)
    with pytest.raises(InputError, match="width = 10 is no multiple of heads = 4"):
        Shape(width=10)
    with pytest.raises(InputError, match=r"shape \(n, 28, 28\)"):
        build("full", shape=SMALL, rng=0)(torch.zeros(2, 28, 28), torch.zeros(3, 28, 28))
    with pytest.raises(InputError, match="batch = 101 is larger than the 100 training pairs"):
        train_classifier("full", pairs, epochs=1, batch=101, shape=SMALL)


# -- the statistics of the comparison -----------------------------------------------------------


def test_clusters_widen_intervals_and_pairing_narrows_differences() -> None:
    rng = np.random.default_rng(0)
    clusters = np.repeat(np.arange(30), 20)
    hard = rng.random(30)[clusters]
    base = (rng.random((12, 600)) < hard).astype(float)
    better = np.maximum(base, rng.random((12, 600)) < 0.05)
    arms = {"a": base, "b": better}
    contrasts = {"a": {"a": 1.0}, "b": {"b": 1.0}, "b - a": {"b": 1.0, "a": -1.0}}
    by_cluster = cluster_bootstrap(arms, clusters, contrasts, rng=0)
    by_pair = cluster_bootstrap(arms, np.arange(600), contrasts, rng=0)

    def width(found: object) -> float:
        return found.upper - found.lower  # type: ignore[attr-defined]

    assert width(by_cluster["a"]) > 1.5 * width(by_pair["a"])
    assert width(by_cluster["b - a"]) < width(by_cluster["a"]) / 2
    assert by_cluster["b - a"].value == pytest.approx(better.mean() - base.mean())
    assert by_cluster["b - a"].lower > 0


def test_the_bootstrap_covers() -> None:
    """Sixty made-up comparisons without an effect: the 95% interval misses 0 in few."""
    rng, missed = np.random.default_rng(1), 0
    clusters = np.repeat(np.arange(50), 6)
    for _ in range(60):
        shift = 0.2 * rng.standard_normal((2, 50))[:, clusters]
        arms = {
            name: (rng.random((4, 300)) < 0.5 + shift[k]).astype(float)
            for k, name in enumerate("ab")
        }
        found = cluster_bootstrap(arms, clusters, {"d": {"a": 1, "b": -1}}, rng=rng, resamples=400)
        missed += not found["d"].lower <= 0 <= found["d"].upper
    assert missed <= 3


def test_few_seeds_and_speakers_are_covered_too() -> None:
    rng, missed = np.random.default_rng(2), 0
    speaker = np.repeat(np.arange(6), 20)
    for _ in range(60):
        chance = 0.6 + 0.08 * rng.standard_normal((2, 1, 6))[..., speaker]
        chance = chance + 0.02 * rng.standard_normal((2, 5, 1))
        answers = (rng.random((2, 5, 120)) < chance).astype(float)
        arms = dict(zip("ab", answers, strict=True))
        found = cluster_bootstrap(arms, speaker, {"d": {"a": 1, "b": -1}}, rng=rng, resamples=300)
        missed += not found["d"].lower <= 0 <= found["d"].upper
    assert missed <= 6


def test_one_speaker_has_no_interval() -> None:
    found = cluster_bootstrap({"a": np.ones((5, 8))}, np.zeros(8, int), {"a": {"a": 1.0}}, rng=0)[
        "a"
    ]
    assert found.value == 1
    assert np.isnan(found.lower)
    assert np.isnan(found.upper)


@pytest.mark.parametrize(
    ("answers", "contrast", "words"),
    [
        (np.zeros((0, 4)), "a", "arm 'a' has no answers"),
        (np.full((2, 4), np.nan), "a", "must lie between 0 and 1"),
        (np.full((2, 4), 2.0), "a", "must lie between 0 and 1"),
        (np.zeros((2, 4)), "b", "contrast 'x' names the arm 'b'; there are 'a'"),
        (np.zeros((2, 3)), "a", "answers of shapes"),
    ],
)
def test_the_bootstrap_refuses(answers: np.ndarray, contrast: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        cluster_bootstrap({"a": answers}, np.arange(4), {"x": {contrast: 1.0}}, rng=0)
