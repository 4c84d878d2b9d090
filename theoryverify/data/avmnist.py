"""Pairs of an image and a sound of the same digit: avMNIST-like data.

The original avMNIST cannot be had. Here each image is paired with a recording of its digit from the same
split, so that no clip and no image is in two splits.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt

from theoryverify.data.corruption import (
    Corruption,
    corrupt_images,
    corrupt_wave,
    mask_spectrogram,
)
from theoryverify.data.fsdd import Clips
from theoryverify.data.mnist import Digits
from theoryverify.data.spectrogram import spectrogram
from theoryverify.errors import InputError

SPLITS = ("training", "validation", "test")
DEFAULT = Corruption()
COPIES = 4
"""Corrupted versions of each clip."""

Bytes = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class Pairs:
    """Paired digits.

    Attributes
    ----------
    images, corrupted_images : ndarray of uint8 (n, 28, 28)
    sounds : ndarray of uint8 (c, 28, 28)
        Clean spectrograms, one a clip.
    corrupted_sounds : ndarray of uint8 (c, copies, 28, 28)
    image, clip, copy : ndarray (p,)
        Which image, clip, and corrupted version of it each pair has.
    label, split : ndarray of uint8 (p,)
        The digit; 0 training, 1 validation, 2 test.
    speaker : ndarray of uint8 (c,)
        Of each clip, a number into ``about["speakers"]``.
    about : dict
        Sources, split rule, seed, corruption: for captions.
    """

    images: Bytes
    corrupted_images: Bytes
    sounds: Bytes
    corrupted_sounds: Bytes
    image: npt.NDArray[np.int32]
    clip: npt.NDArray[np.int32]
    copy: Bytes
    label: Bytes
    split: Bytes
    speaker: Bytes
    about: dict[str, object] = field(default_factory=dict)

    def part(self, which: str, *, corrupted: bool = True) -> tuple[Bytes, Bytes, Bytes]:
        """Images (p, 28, 28), sounds (p, 28, 28), labels (p,) of one split."""
        if which not in SPLITS:
            raise InputError(f"split {which!r} is unknown; choose {', '.join(SPLITS)}")
        rows = np.flatnonzero(self.split == SPLITS.index(which))
        if corrupted:
            seen = self.corrupted_images[self.image[rows]]
            heard = self.corrupted_sounds[self.clip[rows], self.copy[rows]]
        else:
            seen, heard = self.images[self.image[rows]], self.sounds[self.clip[rows]]
        return seen, heard, self.label[rows]


def pair(
    digits: Digits,
    clips: Clips,
    *,
    split: Literal["official", "speaker"] = "official",
    corruption: Corruption = DEFAULT,
    most: int | None = None,
    seed: int = 0,
) -> Pairs:
    """Pair images and clips by class, within each split.

    Parameters
    ----------
    digits, clips
    split : {"official", "speaker"}
        Of the clips: by index (0 to 4 test, 5 to 9 validation, the rest training), each speaker being
        in all three; or by speaker: the last in alphabetical order test, the one before validation, all
        others training. Then a single speaker is tested, so what is found says nothing about how it
        varies from speaker to speaker. ``about["speakers in splits"]`` has the numbers.
    corruption : Corruption
    most : int, optional
        At most so many training images, and a fifth of that for each other split.
    seed : int

    Raises
    ------
    InputError
        If a class is absent from a split, of images or of clips; it names both, and the path. For fewer
        than three speakers with ``"speaker"``.
    """
    if split not in ("official", "speaker"):
        raise InputError(f"split {split!r} is unknown; choose 'official' or 'speaker'")
    rng = np.random.default_rng(np.random.SeedSequence([seed, 0x5EED]))
    clip_split = _clip_split(clips, split)
    chosen = _chosen_images(digits, most, rng)
    images, labels, image_split = (
        digits.images[chosen], digits.labels[chosen], digits.split[chosen],
    )  # fmt: skip
    image, clip = [], []
    for part, name in enumerate(SPLITS):
        for digit in range(10):
            seen = np.flatnonzero((labels == digit) & (image_split == part))
            heard = np.flatnonzero((clips.labels == digit) & (clip_split == part))
            for what, found, source in (("images", seen, digits), ("clips", heard, clips)):
                if not found.size:
                    drawn = (
                        "" if most is None or what == "clips" else f", at most {most} for training"
                    )
                    raise InputError(
                        f"the {name} split has no {what} of digit {digit} "
                        f"({source.path or source.source}{drawn})"
                    )
            # Every clip is used before one is used again.
            rounds = -(-len(seen) // len(heard))
            order = np.concatenate([rng.permutation(heard) for _ in range(rounds)])
            image.append(seen)
            clip.append(order[: len(seen)])
    pairs, partner = np.concatenate(image), np.concatenate(clip)
    shuffled = rng.permutation(len(pairs))
    pairs, partner = pairs[shuffled], partner[shuffled]
    speakers = sorted(set(clips.speakers))
    about: dict[str, object] = {
        "name": "avMNIST-like",
        "images": digits.source,
        "sounds": clips.source,
        "clip split": split,
        "speakers": speakers,
        "speakers in splits": [
            len({clips.speakers[clip] for clip in np.flatnonzero(clip_split == part)})
            for part in range(len(SPLITS))
        ],
        "seed": seed,
        "corruption": {
            "kept": corruption.kept,
            "noise": corruption.noise,
            "decibels": list(corruption.decibels),
            "masked": corruption.masked,
        },
        "pairs": [int((image_split[pairs] == part).sum()) for part in range(3)],
    }
    clean, corrupted = _sounds(clips, corruption, rng)
    return Pairs(
        images,
        corrupt_images(images, images[image_split == 0], corruption, rng),
        clean,
        corrupted,
        pairs.astype(np.int32),
        partner.astype(np.int32),
        rng.integers(0, COPIES, len(pairs)).astype(np.uint8),
        labels[pairs],
        image_split[pairs],
        np.array([speakers.index(name) for name in clips.speakers], np.uint8),
        about,
    )


def _clip_split(clips: Clips, split: str) -> Bytes:
    if split == "official":
        return np.where(clips.indices < 5, 2, np.where(clips.indices < 10, 1, 0)).astype(np.uint8)
    speakers = sorted(set(clips.speakers))
    if len(speakers) < 3:
        raise InputError(
            f"a split by speaker needs at least 3 speakers; there are {', '.join(speakers)}"
        )
    held = {speakers[-1]: 2, speakers[-2]: 1}
    return np.array([held.get(name, 0) for name in clips.speakers], np.uint8)


def _chosen_images(
    digits: Digits, most: int | None, rng: np.random.Generator
) -> npt.NDArray[np.intp]:
    chosen = []
    for part in range(3):
        rows = np.flatnonzero(digits.split == part)
        limit = len(rows) if most is None else (most if part == 0 else max(1, most // 5))
        chosen.append(np.sort(rng.permutation(rows)[:limit]))
    return np.concatenate(chosen)


def _sounds(clips: Clips, how: Corruption, rng: np.random.Generator) -> tuple[Bytes, Bytes]:
    clean = np.stack([spectrogram(wave, clips.rate) for wave in clips.waves])
    corrupted = np.empty((len(clean), COPIES, *clean.shape[1:]), np.uint8)
    for number, wave in enumerate(clips.waves):
        for copy in range(COPIES):
            noisy = spectrogram(corrupt_wave(wave, how, rng), clips.rate)
            corrupted[number, copy] = mask_spectrogram(noisy, how, rng)
    return clean, corrupted
