"""Random generators by name, so that a result depends neither on what else ran nor on the order."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

MOST_SEED = 2**62
"""The largest that a user may give, wherever one is given."""


def named_rng(seed: int, name: str) -> np.random.Generator:
    """A generator that depends on the seed and the name alone.

    Parameters
    ----------
    seed : int
        Not negative.
    name : str
        Of the check, the cell, the figure: other names give independent streams.
    """
    import numpy as np

    digest = hashlib.sha256(name.encode()).digest()
    words = [int.from_bytes(digest[i : i + 4], "big") for i in range(0, 16, 4)]
    return np.random.default_rng(np.random.SeedSequence([seed, *words]))
