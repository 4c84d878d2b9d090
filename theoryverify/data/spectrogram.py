"""Log-spectrograms of 28 x 28: so that sound and image have one shape."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from theoryverify.errors import InputError

SIDE = 28
WINDOW = 0.032
"""Seconds of a frame; a Hann window."""
LOWEST = 100.0
"""Hz; the highest is half the sample rate."""
RANGE = 60.0
"""Decibels below the loudest cell that are told apart."""


def mel(frequency: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """``2595 log10(1 + f/700)``."""
    return np.asarray(2595 * np.log10(1 + np.asarray(frequency, np.float64) / 700))


def filterbank(rate: int, size: int) -> npt.NDArray[np.float64]:
    """28 triangles, evenly spaced in mel from 100 Hz to half the rate: (28, size//2+1)."""
    edges = np.linspace(mel(LOWEST), mel(rate / 2), SIDE + 2)
    bins = mel(np.fft.rfftfreq(size, 1 / rate))
    width = edges[1] - edges[0]
    return np.asarray(np.clip(1 - np.abs(bins - edges[1:-1, None]) / width, 0, None))


def spectrogram(samples: npt.NDArray[np.float64], rate: int) -> npt.NDArray[np.uint8]:
    """A clip as 28 bands (low to high, upward) by 28 frames, in bytes.

    The clip is padded by half a window at both ends and cut into 28 frames evenly spread, so its
    length is lost on purpose: it tells digits apart by itself. Energies are in decibels below the
    loudest cell, 60 dB onto 0 to 255.

    Raises
    ------
    InputError
        For a clip that is empty, silent or not finite.
    """
    if samples.ndim != 1 or not samples.size or not np.isfinite(samples).all():
        raise InputError(f"a clip of shape {samples.shape} with finite samples was expected")
    size = 2 ** round(np.log2(WINDOW * rate))
    padded = np.pad(samples, size // 2)
    starts = np.linspace(0, len(samples) - 1, SIDE).round().astype(int)
    frames = padded[starts[:, None] + np.arange(size)] * np.hanning(size)
    power = np.abs(np.fft.rfft(frames, axis=1)) ** 2
    energy = filterbank(rate, size) @ power.T
    loudest = energy.max()
    if not loudest > 0:
        raise InputError("a silent clip has no spectrogram")
    decibels = 10 * np.log10(np.maximum(energy / loudest, 10 ** (-RANGE / 10)))
    return np.asarray(np.rint((decibels / RANGE + 1) * 255)[::-1], np.uint8)
