"""Spoken digits: the WAV folder of the Free Spoken Digit Dataset."""

from __future__ import annotations

import re
import wave
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from theoryverify.data.spectrogram import spectrogram
from theoryverify.errors import InputError

_NAME = re.compile(
    r"(?P<digit>[0-9])_(?P<speaker>[A-Za-z][A-Za-z0-9]*)_(?P<index>[0-9]{1,9})\.(?i:wav)"
)
_LEAST = 256
"""Samples; a clip shorter than one window has no spectrogram."""
_RATES = (4_000, 48_000)
"""Samples a second; a window of 32 ms has a power of two of them."""

Wave = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Clips:
    """Recordings of digits.

    Attributes
    ----------
    waves : list of ndarray of float64
        In [-1, 1], each of its own length.
    rate : int
        Samples a second, the same for all.
    labels : ndarray of uint8 (n,)
    speakers : tuple of str (n,)
    indices : ndarray of int64 (n,)
        Which of a speaker's recordings of the digit; 0 to 4 are the official test set.
    source : str
        What they are, for captions.
    path : str
        Where they were read, for messages.
    """

    waves: list[Wave]
    rate: int
    labels: npt.NDArray[np.uint8]
    speakers: tuple[str, ...]
    indices: npt.NDArray[np.int64]
    source: str
    path: str = ""


def load_fsdd(folder: str | Path) -> Clips:
    """All ``{digit}_{speaker}_{index}.wav`` of a folder, or of its ``recordings``.

    Hidden files and those that do not end in ``.wav`` (or ``.WAV``) are passed over.

    Raises
    ------
    InputError
        If the folder is missing or has no such file; for a WAV file of another name, or one that is no
        whole mono 16-bit WAV, is shorter than a window, silent, or has another sample rate than the
        first; the message names it.
    """
    folder = Path(folder)
    if (folder / "recordings").is_dir():
        folder = folder / "recordings"
    if not folder.is_dir():
        raise InputError(f"{folder} does not exist; give the dataset's folder of WAV files")
    files = sorted(
        path
        for path in folder.iterdir()
        if path.suffix.lower() == ".wav" and not path.name.startswith(".")
    )
    if not files:
        raise InputError(f"{folder} has no file called like 7_jackson_32.wav")
    named = []
    for path in files:
        found = _NAME.fullmatch(path.name)
        if found is None:
            raise InputError(
                f"{path} is not called like 7_jackson_32.wav: digit, speaker (letters and digits), index"
            )
        named.append((path, found))
    waves, parts = [], []
    rate, first = 0, files[0]
    for path, found in named:
        samples, here = read_wav(path)
        rate = rate or here
        if here != rate:
            raise InputError(f"{path} has {here} samples a second, {first} has {rate}")
        try:
            spectrogram(samples, rate)
        except InputError as error:
            raise InputError(f"{path}: {error}") from error
        waves.append(samples)
        parts.append((int(found["digit"]), found["speaker"], int(found["index"])))
    return Clips(
        waves,
        rate,
        np.array([digit for digit, _, _ in parts], np.uint8),
        tuple(speaker for _, speaker, _ in parts),
        np.array([index for _, _, index in parts], np.int64),
        "Free Spoken Digit Dataset",
        str(folder),
    )


def read_wav(path: Path) -> tuple[Wave, int]:
    """Samples in [-1, 1] and the rate of a mono 16-bit WAV file."""
    try:
        with wave.open(str(path), "rb") as file:
            channels, width, rate, count = file.getparams()[:4]
            content = file.readframes(count)
    except (OSError, EOFError, RuntimeError, wave.Error) as error:
        raise InputError(f"{path} is no whole WAV file: {str(error) or 'cut short'}") from error
    if (channels, width) != (1, 2):
        raise InputError(
            f"{path} has {channels} channels of {8 * width} bits; mono 16-bit expected"
        )
    if not _RATES[0] <= rate <= _RATES[1]:
        raise InputError(
            f"{path} has {rate} samples a second; {_RATES[0]} to {_RATES[1]} are expected"
        )
    if len(content) != 2 * count:
        raise InputError(f"{path} is cut short: {len(content) // 2} of {count} samples")
    if count < _LEAST:
        raise InputError(f"{path} has {count} samples; at least {_LEAST} are needed")
    return np.frombuffer(content, "<i2").astype(np.float64) / 32768, rate
