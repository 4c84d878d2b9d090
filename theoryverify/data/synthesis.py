"""Spoken digits made on the spot, for a machine that has no recordings.

A few segments a word, each with its formants (the classical averages for English vowels), voiced by
harmonics of a gliding pitch under a formant envelope, or unvoiced by shaped noise. It is no recording
and all that uses it says so; it lets the commands be tried, and ten words be told apart.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from theoryverify.data.fsdd import Clips

RATE = 8000
PER_SPEAKER = 16
"""Clips of each digit by each speaker."""

_BANDWIDTHS = np.array([80.0, 110.0, 160.0])
_GAINS = np.array([1.0, 0.6, 0.35])

Signal = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Segment:
    """Part of a word: its share of the length, formants in Hz, and how loud voice and noise are."""

    share: float
    formants: tuple[float, float, float]
    voice: float = 1.0
    noise: float = 0.0
    noise_band: tuple[float, float] = (1000.0, 3900.0)


_EE, _IH, _EH = (300, 2300, 3000), (390, 1990, 2550), (530, 1840, 2480)
_AA, _AH, _AW, _OO = (730, 1090, 2440), (640, 1190, 2390), (570, 840, 2410), (300, 870, 2240)
_R, _W, _N, _V = (350, 1300, 1650), (300, 650, 2200), (260, 1350, 2300), (300, 1100, 2200)


def _hiss(share: float, low: float, loud: float = 0.7, voice: float = 0.0) -> Segment:
    return Segment(share, _V, voice, loud, (low, 3950))


_SILENCE = Segment(0.12, _V, 0.0)
_VOICED = _hiss(0.13, 800, 0.05, 0.5)

WORDS: tuple[tuple[Segment, ...], ...] = (
    (_hiss(0.2, 2800, 0.4, 0.3), Segment(0.25, _EE), Segment(0.2, _R), Segment(0.35, (480, 880, 2450))),
    (Segment(0.25, _W), Segment(0.45, _AH), Segment(0.3, _N, 0.5)),
    (_hiss(0.12, 2200, 0.9), Segment(0.2, (320, 1500, 2300)), Segment(0.68, _OO)),
    (_hiss(0.22, 1500, 0.15), Segment(0.25, _R), Segment(0.53, _EE)),
    (_hiss(0.25, 1200, 0.2), Segment(0.5, _AW), Segment(0.25, _R)),
    (_hiss(0.22, 1200, 0.2), Segment(0.33, _AA), Segment(0.25, _IH), _hiss(0.2, 800, 0.08, 0.5)),
    (_hiss(0.3, 2800), Segment(0.22, _IH), _SILENCE, _hiss(0.06, 1500), _hiss(0.3, 2800)),
    (_hiss(0.25, 2800), Segment(0.22, _EH), _VOICED, Segment(0.2, _AH, 0.7), Segment(0.2, _N, 0.5)),
    (Segment(0.35, _EH), Segment(0.35, (330, 2250, 2900)), _SILENCE, _hiss(0.18, 2200, 0.6)),
    (Segment(0.22, _N, 0.5), Segment(0.33, _AA), Segment(0.22, _IH), Segment(0.23, _N, 0.5)),
)  # fmt: skip
"""Zero to nine."""

_SPEAKERS = {
    "synth1": (105.0, 0.95, 0.48),
    "synth2": (125.0, 1.00, 0.42),
    "synth3": (150.0, 1.04, 0.38),
    "synth4": (180.0, 1.10, 0.44),
    "synth5": (205.0, 1.14, 0.40),
    "synth6": (230.0, 1.18, 0.36),
}
"""Pitch in Hz, scale of the formants, seconds a word."""


def say(digit: int, speaker: str, rng: np.random.Generator) -> Signal:
    """One clip: a word by a speaker, each time a little different."""
    pitch, scale, seconds = _SPEAKERS[speaker]
    word = WORDS[digit]
    shares = np.array([segment.share for segment in word]) * rng.uniform(0.8, 1.25, len(word))
    count = int(RATE * seconds * rng.uniform(0.85, 1.2))
    centres = (np.cumsum(shares) - shares / 2) / shares.sum() * count
    t = np.arange(count)

    def glide(values: npt.ArrayLike) -> Signal:
        return np.asarray(np.interp(t, centres, np.asarray(values, np.float64)))

    jitter = scale * rng.normal(1, 0.03, 3)
    formants = np.stack(
        [glide([segment.formants[k] for segment in word]) * jitter[k] for k in range(3)]
    )
    f0 = pitch * rng.normal(1, 0.05) * np.linspace(1.08, 0.88, count)
    phase = 2 * np.pi * np.cumsum(f0) / RATE
    voiced = np.zeros(count)
    for harmonic in range(1, int(RATE / 2 / f0.max())):
        away = (harmonic * f0 - formants) / _BANDWIDTHS[:, None]
        envelope = (_GAINS[:, None] / (1 + away**2)).sum(axis=0)
        voiced += envelope * np.sin(harmonic * phase)
    sound = voiced * glide([segment.voice for segment in word])
    for k, segment in enumerate(word):
        if segment.noise:
            alone = np.zeros(len(word))
            alone[k] = segment.noise
            sound += glide(alone) * _band_noise(count, segment.noise_band, rng)
    fade = np.minimum(1, np.minimum(t, count - 1 - t) / (0.01 * RATE))
    sound = sound * fade
    return np.asarray(0.5 * sound / np.abs(sound).max())


def _band_noise(count: int, band: tuple[float, float], rng: np.random.Generator) -> Signal:
    spectrum = np.fft.rfft(rng.standard_normal(count))
    frequencies = np.fft.rfftfreq(count, 1 / RATE)
    spectrum[(frequencies < band[0]) | (frequencies > band[1])] = 0
    noise = np.fft.irfft(spectrum, count)
    return np.asarray(noise / (np.abs(noise).max() + 1e-12))


def synthesised(seed: int = 0) -> Clips:
    """All digits by six made-up voices, sixteen times each."""
    waves, labels, speakers, indices = [], [], [], []
    for number, speaker in enumerate(_SPEAKERS):
        for digit in range(10):
            for index in range(PER_SPEAKER):
                rng = np.random.default_rng([seed, number, digit, index])
                waves.append(say(digit, speaker, rng))
                labels.append(digit)
                speakers.append(speaker)
                indices.append(index)
    return Clips(
        waves,
        RATE,
        np.array(labels, np.uint8),
        tuple(speakers),
        np.array(indices, np.int64),
        "synthesised speech (no recordings)",
    )
