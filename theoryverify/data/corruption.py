"""Making each modality imperfect alone, so that there is something to fuse.

The corruption of the original avMNIST is not known to us in full; this one is ours.

* Image: replaced by its projection onto the first principal components of the *training* images, as many
  as keep a quarter of their variance, plus Gaussian noise.
* Sound: white noise is added to the waveform at a random signal-to-noise ratio, then a block of frames
  and a block of bands of the spectrogram are silenced.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from theoryverify.data.spectrogram import SIDE
from theoryverify.errors import InputError

Bytes = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class Corruption:
    """How strong.

    Attributes
    ----------
    kept : float
        Share of the training images' variance that is kept, in (0, 1].
    noise : float
        Standard deviation added to images, in units of their 0 to 1 scale; 0 or more.
    decibels : (float, float)
        Range of the signal-to-noise ratio of sounds.
    masked : int
        The widest block of frames, and of bands, that is silenced: 0 to 28.

    Raises
    ------
    InputError
        For a value outside its range; the message names both.
    """

    kept: float = 0.25
    noise: float = 0.1
    decibels: tuple[float, float] = (-3.0, 6.0)
    masked: int = 10

    def __post_init__(self) -> None:
        if not 0 < self.kept <= 1:
            raise InputError(f"kept is {self.kept}; a share in (0, 1] is expected")
        if not 0 <= self.noise < math.inf:
            raise InputError(f"noise is {self.noise}; a finite number from 0 is expected")
        low, high = self.decibels
        if not -math.inf < low <= high < math.inf:
            raise InputError(
                f"decibels are {self.decibels}; two finite numbers, the lower first, are expected"
            )
        if type(self.masked) is not int or not 0 <= self.masked <= SIDE:
            raise InputError(f"masked is {self.masked}; a whole number 0 to {SIDE} is expected")


def principal_projection(
    training: Bytes, kept: float
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """The mean image and the first components that together keep that share of the variance."""
    flat = training.reshape(len(training), -1).astype(np.float64) / 255
    mean = flat.mean(axis=0)
    values, vectors = np.linalg.eigh(np.cov(flat - mean, rowvar=False))
    values, vectors = values[::-1], vectors[:, ::-1]
    shares = np.cumsum(values) / values.sum()
    count = int(np.searchsorted(shares, kept)) + 1
    return mean, np.asarray(vectors[:, :count])


def corrupt_images(
    images: Bytes, training: Bytes, how: Corruption, rng: np.random.Generator
) -> Bytes:
    """(n, 28, 28); what is projected onto is learned from ``training`` alone."""
    mean, components = principal_projection(training, how.kept)
    out = np.empty_like(images)
    for start in range(0, len(images), 5000):
        flat = images[start : start + 5000].reshape(-1, SIDE * SIDE) / 255.0 - mean
        blurred = mean + (flat @ components) @ components.T
        blurred += how.noise * rng.standard_normal(blurred.shape)
        out[start : start + 5000] = _to_bytes(blurred).reshape(-1, SIDE, SIDE)
    return out


def corrupt_wave(
    samples: npt.NDArray[np.float64], how: Corruption, rng: np.random.Generator
) -> npt.NDArray[np.float64]:
    """White noise at a ratio drawn uniformly in decibels."""
    ratio = 10 ** (rng.uniform(*how.decibels) / 10)
    power = float(np.mean(samples**2))
    return np.asarray(samples + rng.standard_normal(samples.shape) * np.sqrt(power / ratio))


def mask_spectrogram(picture: Bytes, how: Corruption, rng: np.random.Generator) -> Bytes:
    """Silence one block of frames and one of bands, of widths drawn from 0 to ``masked``."""
    out = picture.copy()
    for axis in (0, 1):
        width = int(rng.integers(0, how.masked + 1))
        start = int(rng.integers(0, SIDE - width + 1))
        out[(slice(start, start + width), slice(None))[:: 1 if axis == 0 else -1]] = 0
    return out


def _to_bytes(values: npt.NDArray[np.float64]) -> Bytes:
    return np.rint(np.clip(values, 0, 1) * 255).astype(np.uint8)
