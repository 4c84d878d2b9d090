"""Digits that come with scikit-learn: real, 8 x 8, for a machine without MNIST."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from theoryverify.data.mnist import SIDE, Digits
from theoryverify.errors import InputError


def embedded_digits(seed: int = 0) -> Digits:
    """1,797 handwritten digits (UCI), enlarged to 28 x 28; 60/20/20 at random, by class.

    Raises
    ------
    InputError
        If scikit-learn is not installed.
    """
    try:
        from sklearn.datasets import load_digits
    except ImportError as error:
        raise InputError(
            "the embedded digits need scikit-learn: pip install 'theoryverify[data]', or give --mnist"
        ) from error
    small, labels = load_digits(return_X_y=True)
    small = small.reshape(-1, 8, 8) / 16
    weights = _interpolation(8, SIDE)
    images = np.rint(255 * np.clip(weights @ small @ weights.T, 0, 1)).astype(np.uint8)
    split = np.zeros(len(labels), np.uint8)
    rng = np.random.default_rng(seed)
    for digit in range(10):
        places = rng.permutation(np.flatnonzero(labels == digit))
        fifth = len(places) // 5
        split[places[:fifth]], split[places[fifth : 2 * fifth]] = 2, 1
    return Digits(images, labels.astype(np.uint8), split, "scikit-learn's digits, 8 x 8 enlarged")


def _interpolation(small: int, large: int) -> npt.NDArray[np.float64]:
    """Linear interpolation between pixel centres as a matrix (large, small)."""
    places = (np.arange(large) + 0.5) * small / large - 0.5
    return np.asarray(np.clip(1 - np.abs(places[:, None] - np.arange(small)), 0, None))
