"""Training Table 1's classifiers on paired digits, and noting every test answer after every epoch."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from theoryverify.data.avmnist import Pairs
from theoryverify.data.prepared import digest
from theoryverify.models.fusion import PAPER, Shape, build
from theoryverify.simulate.loop import fit
from theoryverify.simulate.optimizer import Optimizer

_EVALUATE = 1000


@dataclass(frozen=True)
class Answers:
    """What a run answered.

    Attributes
    ----------
    loss : ndarray (steps,)
        Of each training batch.
    validation : ndarray (epochs+1,)
        Accuracy on the validation split, before training and after each epoch.
    correct : ndarray of bool (epochs+1, n)
        Whether each test pair was answered rightly.
    """

    loss: npt.NDArray[np.float64]
    validation: npt.NDArray[np.float64]
    correct: npt.NDArray[np.bool_]

    @property
    def chosen(self) -> int:
        """The first epoch of the best validation accuracy; the test split has no say."""
        return int(self.validation.argmax())

    @property
    def accuracy(self) -> float:
        """On the test split, at the chosen epoch."""
        return float(self.correct[self.chosen].mean())

    @property
    def best(self) -> float:
        """The best test accuracy of any epoch: what the paper reports, and too good."""
        return float(self.correct.mean(axis=1).max())


def train_classifier(
    arm: str,
    pairs: Pairs,
    *,
    epochs: int,
    batch: int = 128,
    rate: float = 3e-4,
    weight_decay: float = 1e-4,
    shape: Shape = PAPER,
    seed: int = 0,
    device: str = "cpu",
    folder: str | None = None,
    progress: str | None = None,
) -> Answers:
    """Train one model of Table 1 by AdamW on cross-entropy.

    Parameters
    ----------
    arm : str
        Of :data:`theoryverify.models.fusion.ARMS`.
    pairs : Pairs
        Corrupted pictures are used throughout, standardised by the training split's mean and
        deviation, each modality for itself.
    epochs, batch : int
        Every epoch sees each training pair once, in an order of its own; a last, smaller batch is
        left out.
    seed : int
        Of the initial weights, the order and the dropout: runs of one seed see the same batches.
    folder : path, optional
        For checkpoints, see :func:`theoryverify.simulate.loop.fit`.

    Raises
    ------
    InputError
        For sizes out of range, or a batch larger than the training split.
    """
    from theoryverify.errors import InputError
    from theoryverify.exact.rationals import positive_integer
    from theoryverify.models.precision import require_device

    epochs, batch = positive_integer(epochs, "epochs"), positive_integer(batch, "batch")
    place = require_device(device)
    parts = {name: _standardised(pairs, name) for name in ("training", "validation", "test")}
    images, sounds, labels = parts["training"]
    count = len(labels)
    if batch > count:
        raise InputError(f"batch = {batch} is larger than the {count} training pairs")
    model = build(arm, shape=shape, rng=np.random.default_rng([seed, 1])).to(place)
    each = count // batch

    def draw(step: int, _: np.random.Generator) -> list[Tensor]:
        epoch, place_in = divmod(step, each)
        order = np.random.default_rng([seed, 2, epoch]).permutation(count)
        rows = torch.from_numpy(order[place_in * batch : (place_in + 1) * batch])
        return [images[rows], sounds[rows], labels[rows]]

    def objective(model: nn.Module, image: Tensor, sound: Tensor, label: Tensor) -> Tensor:
        return cross_entropy(model(image, sound), label)

    def observe(_: int) -> dict[str, npt.NDArray[np.float64]]:
        right = {name: _answers(model, *parts[name]) for name in ("validation", "test")}
        return {"validation": right["validation"].mean(), "test": right["test"]}

    run = fit(
        model,
        draw,
        objective,
        steps=epochs * each,
        optimizer=Optimizer("adamw", rate, clip=None, weight_decay=weight_decay),
        seed=seed,
        observe=observe,
        observe_every=each,
        configuration={"arm": arm, "shape": vars(shape), "batch": batch, "data": digest(pairs)},
        folder=folder,
        checkpoint_every=each,
        progress=progress,
    )
    return Answers(run.losses, run.observed["validation"], run.observed["test"] > 0.5)


def _standardised(pairs: Pairs, name: str) -> tuple[Tensor, Tensor, Tensor]:
    image, sound, label = pairs.part(name)
    training = pairs.part("training")
    tensors = []
    for pictures, reference in ((image, training[0]), (sound, training[1])):
        mean, deviation = float(reference.mean()), float(reference.std()) or 1.0
        tensors.append(torch.from_numpy((pictures.astype(np.float32) - mean) / deviation))
    return tensors[0], tensors[1], torch.from_numpy(label.astype(np.int64))


def _answers(
    model: nn.Module, image: Tensor, sound: Tensor, label: Tensor
) -> npt.NDArray[np.float64]:
    place = next(model.parameters()).device
    was = model.training
    model.eval()
    with torch.no_grad():
        right = [
            (model(image[k].to(place), sound[k].to(place)).argmax(1).cpu() == label[k]).double()
            for k in (slice(start, start + _EVALUATE) for start in range(0, len(label), _EVALUATE))
        ]
    model.train(was)
    return np.asarray(torch.cat(right).numpy())
