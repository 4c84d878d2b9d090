"""The training loop: right steps, exact resume after any kill, several processes, clear refusals."""

from __future__ import annotations

import itertools
import json
import math
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("safetensors")

from theoryverify.errors import InputError, TrainingDiverged  # noqa: E402
from theoryverify.exact.densities import Uniform  # noqa: E402
from theoryverify.models.lca import LCA  # noqa: E402
from theoryverify.simulate.checkpoint import CheckpointWarning  # noqa: E402
from theoryverify.simulate.loop import Run, fit, step_rng  # noqa: E402
from theoryverify.simulate.optimizer import Optimizer  # noqa: E402
from theoryverify.simulate.training import train  # noqa: E402

torch.set_num_threads(1)

STEPS = 12
OPTIMIZERS = {
    "sgd": Optimizer("sgd", 0.1, clip=None),
    "momentum": Optimizer("sgd", 0.1, momentum=0.9, decay="linear", warmup=3),
    "adam": Optimizer("adam", 0.02, decay="cosine", clip=0.5),
    "adamw": Optimizer("adamw", 0.02, warmup=4, decay="cosine", floor=0.1, weight_decay=0.1),
}


def network(dropout: float = 0.0, width: int = 5, dtype: Any = torch.float64) -> Any:
    generator = torch.Generator().manual_seed(1)
    model = torch.nn.Sequential(
        torch.nn.Linear(3, width),
        torch.nn.Tanh(),
        torch.nn.BatchNorm1d(width),  # it has buffers, one of them an integer
        torch.nn.Dropout(dropout),
        torch.nn.Linear(width, 1),
    ).double()
    with torch.no_grad():
        for p in model.parameters():
            p.copy_(torch.randn(p.shape, generator=generator, dtype=torch.float64) / 2)
    return model.to(dtype)


def batch(step: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    x = rng.standard_normal((8, 3))
    return x, np.sin(x).sum(axis=1)


def loss(model: Any, x: Any, y: Any) -> Any:
    return ((model(x).squeeze(1) - y) ** 2).mean()


class Interrupted(Exception):
    pass


def run(model: Any, until: int | None = None, **change: Any) -> Run:
    """A run; with ``until`` it is cut off when the batch of that step is drawn."""

    def draw(step: int, rng: np.random.Generator) -> Any:
        if step == until:
            raise Interrupted
        return batch(step, rng)

    settings: dict[str, Any] = {
        "steps": STEPS,
        "optimizer": OPTIMIZERS["adamw"],
        "seed": 7,
        "checkpoint_every": 3,
        **change,
    }
    return fit(model, draw, loss, **settings)


def equal(one: Any, two: Any) -> bool:
    there = two.state_dict()
    return all(torch.equal(value, there[name]) for name, value in one.state_dict().items())


def observer(model: Any) -> Callable[[int], dict[str, Any]]:
    return lambda done: {"done": done, "weight": model[0].weight.detach().numpy()}


# -- the steps ----------------------------------------------------------------------------------


def test_sgd_on_a_quadratic_by_hand() -> None:
    """``|w - x|²/2``: its gradient is ``w - x``, and its steps are computed here without Torch."""
    start, targets = np.array([3.0, -4.0]), [step_rng(5, t).standard_normal(2) for t in range(6)]
    settings = Optimizer("sgd", 0.5, warmup=2, decay="linear", clip=2.0, weight_decay=0.25)
    model = torch.nn.ParameterList([torch.nn.Parameter(torch.tensor(start))])
    found = fit(
        model,
        lambda step, rng: (np.tile(rng.standard_normal(2), (3, 1)),),
        lambda m, x: ((m[0] - x) ** 2).sum(1).mean() / 2,
        steps=6,
        optimizer=settings,
        seed=5,
        observe=lambda done: {"w": model[0].detach().numpy()},
        observe_every=4,
    )
    w = start
    rates = [0.25, 0.5, 0.5, 0.375, 0.25, 0.125]
    trace = [w]
    for t in range(6):
        gradient = w - targets[t]
        norm = np.linalg.norm(gradient)
        assert math.isclose(found.losses[t], norm**2 / 2, rel_tol=1e-12)
        assert math.isclose(found.norms[t], norm, rel_tol=1e-12)
        clipped = gradient * min(1, 2 / (norm + 1e-6))  # Torch's convention
        w = w - rates[t] * (clipped + 0.25 * w)
        trace.append(w)
    assert found.norms.max() > 2 > found.norms.min()  # some are clipped, some are not
    assert np.allclose(model[0].detach().numpy(), w, rtol=1e-12)
    assert found.observed_at.tolist() == [0, 4, 6]
    assert np.allclose(found.observed["w"], [trace[0], trace[4], trace[6]], rtol=1e-12)


@pytest.mark.parametrize("kind", ["adam", "adamw"])
def test_adam_is_torchs_with_torchs_schedule(kind: Any) -> None:
    ours, theirs = network(), network()
    run(ours, optimizer=Optimizer(kind, 0.03, decay="cosine", clip=None, weight_decay=0.2))
    stepper = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}[kind](
        theirs.parameters(), lr=0.03, weight_decay=0.2
    )
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(stepper, STEPS)
    for step in range(STEPS):
        x, y = (torch.from_numpy(a) for a in batch(step, step_rng(7, step)))
        stepper.zero_grad()
        loss(theirs, x, y).backward()
        stepper.step()
        schedule.step()
    for p, q in zip(ours.parameters(), theirs.parameters(), strict=True):
        assert torch.allclose(p, q, rtol=1e-10, atol=1e-14)


def test_the_floor_is_the_last_rate() -> None:
    for decay in ("cosine", "linear"):
        settings = Optimizer(rate=2.0, warmup=5, decay=decay, floor=0.25)  # type: ignore[arg-type]
        rates = [settings.rate_at(t, 1005) for t in range(1006)]
        assert rates[0] == 0.4
        assert rates[4] == rates[5] == max(rates) == 2
        assert rates[1005] == 0.5
        assert all(a >= b for a, b in itertools.pairwise(rates[5:]))


# -- resume -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_resumed_it_equals_the_uninterrupted_run_bit_for_bit(tmp_path: Path, name: str) -> None:
    settings = {"optimizer": OPTIMIZERS[name], "observe_every": 2}
    whole = network(dropout=0.4)
    wanted = run(whole, observe=observer(whole), **settings)
    for until in range(STEPS):
        folder = tmp_path / str(until)
        model = network(dropout=0.4)
        with pytest.raises(Interrupted):
            run(model, until, observe=observer(model), folder=folder, **settings)
        model = network(dropout=0.4)
        torch.manual_seed(until)  # what others have drawn does not matter
        found = run(model, observe=observer(model), folder=folder, **settings)
        assert found.resumed_from == until // 3 * 3
        assert equal(model, whole)
        for field in ("losses", "norms", "observed_at"):
            assert np.array_equal(getattr(found, field), getattr(wanted, field))
        for key in ("done", "weight"):
            assert np.array_equal(found.observed[key], wanted.observed[key])
    other = network(dropout=0.4)
    run(other, seed=8, optimizer=OPTIMIZERS[name])
    assert not equal(other, whole)


def test_a_finished_run_is_not_computed_again(tmp_path: Path) -> None:
    model, again = network(), network()
    wanted = run(model, observe=observer(model), folder=tmp_path)
    found = run(again, until=0, observe=observer(again), folder=tmp_path)
    assert equal(model, again)
    assert found.resumed_from == STEPS
    assert np.array_equal(found.losses, wanted.losses)
    assert np.array_equal(found.observed["weight"], wanted.observed["weight"])


def test_a_damaged_checkpoint_costs_a_few_steps(tmp_path: Path) -> None:
    whole, model = network(), network()
    run(whole)
    run(model, folder=tmp_path)
    newest = tmp_path / f"step-{STEPS:09d}" / "tensors.safetensors"
    newest.write_bytes(newest.read_bytes()[:-1])
    again = network()
    with pytest.warns(CheckpointWarning, match="is damaged"):
        found = run(again, folder=tmp_path)
    assert found.resumed_from == STEPS - 3
    assert equal(again, whole)


def test_global_randomness_and_the_mode_are_left_alone() -> None:
    model = network(dropout=0.5).eval()
    torch.manual_seed(3)
    wanted = torch.rand(3)
    torch.manual_seed(3)
    run(model)
    assert torch.equal(torch.rand(3), wanted)
    assert not model.training


KILLED = """
import json, os, signal, sys, time
import numpy as np
import torch
torch.set_num_threads(1)
from theoryverify.exact.densities import Uniform
from theoryverify.models.lca import LCA
from theoryverify.simulate.training import train

folder, results = sys.argv[1:]

def training(name, folder):
    model = LCA.two_parameter(2, 3, 0.1, -0.1)
    found = train(
        model, Uniform(2, 5), context=16, steps=30, batch=8, rate=0.02, optimizer="adam", rng=4,
        folder=folder, checkpoint_every=1,
    )
    np.savez(
        f"{results}/{name}.npz", losses=found.losses, **found.parameters,
        **{f"final.{k}": v.numpy() for k, v in model.state_dict().items()},
    )

def child(name, folder):
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            training(name, folder)
            code = 0
        finally:
            os._exit(code)
    return pid

def newest():
    return max((int(n[5:]) for n in os.listdir(folder) if n.startswith("step-")), default=0)

training("whole", None)  # here, so that the children find everything imported
rng = np.random.default_rng(0)
kills, reached = 0, []
while True:
    # Killed a little after some more steps; writing checkpoints takes most of that time.
    target, delay = newest() + rng.integers(0, 8), rng.uniform(0, 0.02)
    pid = child("killed", folder)
    ended = 0
    while not ended and newest() < target:
        ended, status = os.waitpid(pid, os.WNOHANG)
        time.sleep(0.0005)
    time.sleep(delay)
    if not ended:
        os.kill(pid, signal.SIGKILL)
        _, status = os.waitpid(pid, 0)
        ended = not os.WIFSIGNALED(status)  # it was quicker
    if ended:
        assert status == 0
        break
    kills += 1
    reached.append(newest())
print(json.dumps({"kills": kills, "reached": sorted(set(reached))}))
"""


def test_killed_at_random_moments_and_resumed_bit_for_bit(tmp_path: Path) -> None:
    folder = tmp_path / "checkpoints"
    folder.mkdir()
    out = subprocess.run(
        [sys.executable, "-c", KILLED, str(folder), str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
    )
    assert out.returncode == 0, out.stderr
    report = json.loads(out.stdout)
    assert report["kills"] >= 4
    assert len(report["reached"]) >= 4  # at different steps
    whole, killed = (np.load(tmp_path / f"{name}.npz") for name in ("whole", "killed"))
    assert set(whole) == set(killed)
    for name in whole:
        assert whole[name].tobytes() == killed[name].tobytes()
    left = sorted(path.name for path in folder.iterdir())
    assert left[-1] == "step-000000030"
    assert not [name for name in left if name.startswith((".writing", "damaged"))]


# -- refusals -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"seed": 8}, "seed is 7 there and 8 here"),
        ({"steps": 13}, "steps is 12 there and 13 here"),
        ({"optimizer": OPTIMIZERS["adam"]}, "optimizer.clip is 1.0 there and 0.5 here"),
        ({"precision": "bfloat16"}, "precision is 'full' there"),
        ({"configuration": {"law": "x"}}, "run.law is not in it"),
        ({"model": network(width=6)}, r"model.0.bias is \['float64', 5\] there"),
        ({"model": network(dtype=torch.float32)}, "model.0.bias is .*float32"),
    ],
)
def test_a_checkpoint_of_another_run(tmp_path: Path, change: Any, match: str) -> None:
    run(network(), folder=tmp_path)
    before = {p: p.read_bytes() for p in tmp_path.glob("step*/*")}
    model = change.pop("model", network())
    with pytest.raises(InputError, match=match):
        run(model, folder=tmp_path, **change)
    assert {p: p.read_bytes() for p in tmp_path.glob("step*/*")} == before


def drop(tensors: dict[str, Any], state: dict[str, Any]) -> None:
    del tensors["model/0.weight"]


def reshape(tensors: dict[str, Any], state: dict[str, Any]) -> None:
    tensors["model/0.weight"] = tensors["model/0.weight"][:2]


def retype(tensors: dict[str, Any], state: dict[str, Any]) -> None:
    tensors["model/0.weight"] = tensors["model/0.weight"].float()


def broadcast(tensors: dict[str, Any], state: dict[str, Any]) -> None:
    tensors["optimizer/exp_avg/0.weight"] = torch.zeros(1, 3, dtype=torch.float64)


def unknown(tensors: dict[str, Any], state: dict[str, Any]) -> None:
    tensors["optimizer/exp_avg/nothing"] = torch.zeros(1)


def short(tensors: dict[str, Any], state: dict[str, Any]) -> None:
    tensors["history/losses"] = tensors["history/losses"][1:]


def no_optimizer(tensors: dict[str, Any], state: dict[str, Any]) -> None:
    for name in [name for name in tensors if name.startswith("optimizer/")]:
        del tensors[name]


def half_moment(tensors: dict[str, Any], state: dict[str, Any]) -> None:
    tensors["optimizer/exp_avg/0.weight"] = tensors["optimizer/exp_avg/0.weight"].half()


def no_moment(tensors: dict[str, Any], state: dict[str, Any]) -> None:
    del tensors["optimizer/exp_avg/0.weight"]


def coarse_history(tensors: dict[str, Any], state: dict[str, Any]) -> None:
    tensors["history/losses"] = tensors["history/losses"].bfloat16()


def scalar_moment(tensors: dict[str, Any], state: dict[str, Any]) -> None:
    tensors["optimizer/exp_avg/0.weight"] = torch.tensor(1.0, dtype=torch.float64)


def mistimed(tensors: dict[str, Any], state: dict[str, Any]) -> None:
    state["observed_at"] = "never"


def unasked(tensors: dict[str, Any], state: dict[str, Any]) -> None:
    state["observed_at"] = [0, 10**30]


def stranger(tensors: dict[str, Any], state: dict[str, Any]) -> None:
    tensors["other/0.weight"] = torch.zeros(1)


def watched(tensors: dict[str, Any], state: dict[str, Any]) -> None:
    tensors["observed/weight"] = torch.zeros(0, 3, dtype=torch.float64)


def not_finite(tensors: dict[str, Any], state: dict[str, Any]) -> None:
    tensors["model/0.weight"][1, 1] = math.nan


def endless_loss(tensors: dict[str, Any], state: dict[str, Any]) -> None:
    tensors["history/losses"][2] = math.inf


def timeless(tensors: dict[str, Any], state: dict[str, Any]) -> None:
    tensors["optimizer/step/0.weight"] -= STEPS + 1


def negative_square(tensors: dict[str, Any], state: dict[str, Any]) -> None:
    tensors["optimizer/exp_avg_sq/0.weight"][0, 0] = -1


@pytest.mark.parametrize(
    "change",
    [
        *(drop, reshape, retype, broadcast, unknown, short, mistimed),
        *(no_optimizer, half_moment, no_moment, coarse_history, scalar_moment),
        *(unasked, stranger, watched, not_finite, endless_loss, timeless, negative_square),
    ],
    ids=lambda f: f.__name__,
)
def test_a_checkpoint_that_is_sealed_and_lies(tmp_path: Path, change: Any) -> None:
    """Its checksums are right; the model is left as it was."""
    from theoryverify.simulate.checkpoint import Checkpoints

    run(network(), folder=tmp_path)
    document = json.loads((tmp_path / f"step-{STEPS:09d}" / "state.json").read_text())
    checkpoints = Checkpoints(tmp_path, document["configuration"])
    found = checkpoints.latest()
    assert found is not None
    change(found.tensors, found.state)
    checkpoints.save(STEPS, found.tensors, found.state)
    model = network()
    with pytest.raises(InputError, match="does not fit"):
        run(model, folder=tmp_path)
    assert equal(model, network())


def test_a_checkpoint_beyond_the_end(tmp_path: Path) -> None:
    from theoryverify.simulate.checkpoint import Checkpoints

    run(network(), folder=tmp_path)
    document = json.loads((tmp_path / f"step-{STEPS:09d}" / "state.json").read_text())
    checkpoints = Checkpoints(tmp_path, document["configuration"])
    found = checkpoints.latest()
    assert found is not None
    checkpoints.save(STEPS + 1, found.tensors, found.state)
    with pytest.raises(InputError, match=f"of step {STEPS + 1}, and the run has {STEPS}"):
        run(network(), folder=tmp_path)


def test_what_is_noted_keeps_its_shape(tmp_path: Path) -> None:
    model = network()
    observe = lambda done: {"weight": np.zeros(3 if done < 6 else 4)}  # noqa: E731
    with pytest.raises(InputError, match=r"weight of shape \(4,\) after 6 steps and \(3,\) before"):
        run(model, folder=tmp_path, observe=observe, observe_every=3)


def test_another_number_of_threads_is_said(tmp_path: Path) -> None:
    with pytest.raises(Interrupted):
        run(network(), until=5, folder=tmp_path)
    before = torch.get_num_threads()
    torch.set_num_threads(before + 1)
    try:
        with pytest.warns(UserWarning, match=f"threads is {before} there and {before + 1} here"):
            run(network(), folder=tmp_path)
    finally:
        torch.set_num_threads(before)


def test_a_run_begins_once_nothing_is_refused(tmp_path: Path) -> None:
    begun: list[int] = []
    with pytest.raises(Interrupted):
        run(network(), until=5, folder=tmp_path, begin=begun.append)
    with pytest.raises(InputError, match="is of another run"):
        run(network(), folder=tmp_path, begin=begun.append, seed=8)
    run(network(), folder=tmp_path, begin=begun.append)
    run(network(), folder=tmp_path, begin=begun.append)
    assert begun == [0, 3, STEPS]


def test_a_parameter_without_gradient_does_not_hinder_a_resume(tmp_path: Path) -> None:
    def spare() -> Any:
        model = network()
        model.register_parameter("spare", torch.nn.Parameter(torch.ones(2, dtype=torch.float64)))
        return model

    run(spare(), folder=tmp_path)
    assert run(spare(), until=0, folder=tmp_path).resumed_from == STEPS


def test_a_diverged_run_names_the_last_good_checkpoint(tmp_path: Path) -> None:
    def poisoned(step: int, rng: np.random.Generator) -> Any:
        x, y = batch(step, rng)
        return x, y * (np.nan if step == 7 else 1)

    model = network()
    with pytest.raises(TrainingDiverged, match=r"step 7: loss nan.*step-000000006") as error:
        fit(
            model,
            poisoned,
            loss,
            steps=STEPS,
            optimizer=Optimizer(),
            seed=7,
            folder=tmp_path,
            checkpoint_every=3,
        )
    assert isinstance(error.value, FloatingPointError)
    assert error.value.checkpoint == str(tmp_path / "step-000000006")
    assert all(bool(torch.isfinite(p).all()) for p in model.parameters())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = network()
        fit(
            again,
            batch,
            loss,
            steps=STEPS,
            optimizer=Optimizer(),
            seed=7,
            folder=tmp_path,
            checkpoint_every=3,
        )
    whole = network()
    fit(whole, batch, loss, steps=STEPS, optimizer=Optimizer(), seed=7)
    assert equal(again, whole)


def test_an_infinite_gradient_or_parameter_diverges() -> None:
    model = torch.nn.ParameterList([torch.nn.Parameter(torch.zeros(1, dtype=torch.float64))])

    def root(m: Any, x: Any) -> Any:
        return m[0].abs().sqrt().mean() * x.mean()  # 0 with an infinite slope

    settings: dict[str, Any] = {"steps": 2, "seed": 0}
    ones = lambda step, rng: (np.ones((2, 1)),)  # noqa: E731
    with pytest.raises(TrainingDiverged, match=r"norm of the gradient (inf|nan)"):
        fit(model, ones, root, optimizer=Optimizer(), **settings)
    model[0].data.fill_(-1e308)
    with pytest.raises(TrainingDiverged, match="a parameter is not finite"):
        fit(
            model,
            ones,
            lambda m, x: (m[0] * x[:1]).mean(),
            optimizer=Optimizer("sgd", 1e308, clip=None),
            **settings,
        )


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"steps": 0}, "steps = 0"),
        ({"seed": -1}, "seed = -1"),
        ({"seed": 0.5}, "seed = 0.5"),
        ({"checkpoint_every": 0}, "checkpoint_every = 0"),
        ({"observe_every": 0}, "observe_every = 0"),
        ({"precision": "int8"}, "'int8' is unknown"),
        ({"configuration": {"x": float("nan")}}, "not finite"),
        ({"folder": "/proc/nowhere"}, "cannot write to folder"),
    ],
)
def test_bad_settings(change: Any, match: str) -> None:
    with pytest.raises(InputError, match=match):
        run(network(), until=0, **change)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"kind": "lbfgs"}, "'lbfgs' is unknown"),
        ({"decay": "exponential"}, "'exponential' is unknown"),
        ({"rate": 0}, "rate = 0"),
        ({"rate": math.nan}, "rate = nan"),
        ({"clip": -1}, "clip = -1"),
        ({"warmup": -1}, "warmup = -1"),
        ({"warmup": 1.5}, "warmup = 1.5"),
        ({"floor": 2}, "floor = 2"),
        ({"weight_decay": -1}, "weight_decay = -1"),
        ({"momentum": 1}, "momentum = 1"),
        ({"betas": (0.9, math.nan)}, "betas = nan"),
    ],
)
def test_bad_optimizers(change: Any, match: str) -> None:
    with pytest.raises(InputError, match=match):
        Optimizer(**change)


def test_a_model_that_cannot_be_trained() -> None:
    model = network().requires_grad_(False)
    with pytest.raises(InputError, match="no trainable parameter"):
        run(model)


# -- precision ----------------------------------------------------------------------------------


def test_single_and_double_precision_agree_to_round_off() -> None:
    """The same prompts in float32 and float64: the traces differ by round-off, and do differ."""
    traces = {}
    for dtype in (torch.float32, torch.float64):
        model = LCA.two_parameter(3, 4, 0.05, -0.05).to(dtype)
        found = train(
            model, Uniform(2, 5), context=32, steps=60, batch=8, rate=0.01, optimizer="adam", rng=2
        )
        traces[dtype] = found.parameters["weights.alpha"]
    distance = np.abs(traces[torch.float32] - traces[torch.float64])
    moved = np.abs(traces[torch.float64][-1] - traces[torch.float64][0])
    assert moved > 0.05
    assert 0 < distance.max() < 1e-4 * moved


def test_bfloat16_is_used_and_keeps_the_parameters() -> None:
    seen = []

    def watched(model: Any, x: Any, y: Any) -> Any:
        seen.append(model(x).dtype)
        return loss(model, x, y).float()

    low, high = network(dtype=torch.float32), network(dtype=torch.float32)
    settings: dict[str, Any] = {"steps": 3, "optimizer": Optimizer(), "seed": 0}
    one = fit(low, batch, watched, precision="bfloat16", **settings)
    two = fit(high, batch, loss, **settings)
    assert set(seen) == {torch.bfloat16}
    assert low[0].weight.dtype == torch.float32
    assert 0 < abs(one.losses[0] - two.losses[0]) < 0.05 * two.losses[0]


# -- several processes --------------------------------------------------------------------------

SHARED = """
import sys
import numpy as np
import torch
torch.set_num_threads(1)
from theoryverify.errors import InputError
from theoryverify.simulate.loop import fit
from theoryverify.simulate.optimizer import Optimizer
from theoryverify.simulate.processes import processes

folder = sys.argv[1]

def network():
    generator = torch.Generator().manual_seed(1)
    model = torch.nn.Sequential(torch.nn.Linear(3, 5), torch.nn.Tanh(), torch.nn.Linear(5, 1))
    with torch.no_grad():
        for p in model.double().parameters():
            p.copy_(torch.randn(p.shape, generator=generator, dtype=torch.float64) / 2)
    return model

def training(model, count=8, until=None, folder=None):
    def batch(step, rng):
        if step == until:
            raise KeyboardInterrupt
        x = rng.standard_normal((count, 3))
        return x, np.sin(x).sum(axis=1)
    return fit(
        model, batch, lambda m, x, y: ((m(x).squeeze(1) - y) ** 2).mean(), steps=12, seed=7,
        optimizer=Optimizer("adamw", 0.02, warmup=3, decay="cosine", clip=0.5), folder=folder,
        checkpoint_every=4, observe=lambda done: {"weight": model[0].weight.detach().numpy()},
    )

with processes() as device:
    rank = torch.distributed.get_rank()
    try:
        training(network(), until=6, folder=folder)
    except KeyboardInterrupt:
        torch.distributed.barrier()
    model = network()
    found = training(model, folder=folder)
    assert found.resumed_from == 4
    try:
        training(network(), count=9)
    except InputError as error:
        assert "2 processes cannot share a batch of 9" in str(error)
        torch.distributed.barrier()
    if rank == 0:
        alone = network()
        state = {f"model.{k}": v.numpy() for k, v in model.state_dict().items()}
        np.savez(f"{folder}/found.npz", losses=found.losses, norms=found.norms,
                 observed=found.observed["weight"], **state)
alone = network()
if rank == 0:
    found = training(alone)
    state = {f"model.{k}": v.numpy() for k, v in alone.state_dict().items()}
    np.savez(f"{folder}/alone.npz", losses=found.losses, norms=found.norms,
             observed=found.observed["weight"], **state)
"""


def test_two_processes_equal_one_to_round_off(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SHARED)
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    out = subprocess.run(
        [*launcher, str(script), str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
    )
    assert out.returncode == 0, out.stderr
    found, alone = (np.load(tmp_path / f"{name}.npz") for name in ("found", "alone"))
    for name in alone:
        assert np.allclose(found[name], alone[name], rtol=1e-11, atol=1e-13)
    assert not all(found[n].tobytes() == alone[n].tobytes() for n in alone)  # it was another sum
    assert len(found["observed"]) == 13
