"""One step of Stage I, block by block, exactly in law at a cost that does not depend on d.

For γ^(0) of one value on each degree, the gradient's sums over blocks of coordinates,

    Σ_{α in block} (y-f) 1{M>0} S_α φ_α(x_q),

need only ``Σ_{α in block} S_α φ_α(x_q)``: the feature at the indicator of the block, which
:mod:`theoryverify.simulate.mamba_law` draws exactly in law. All blocks of one prompt share their random
numbers. So the bias of the coordinates off the support is seen at any d.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from theoryverify.errors import InputError
from theoryverify.exact.gate import Gate
from theoryverify.exact.links import Link
from theoryverify.exact.rationals import positive_integer
from theoryverify.simulate.mamba_law import Floats, LawDraws, SymmetricGamma, sample_features

BLOCKS = ("constant", "linear", "square", "outside linear", "outside square")
"""``square`` is diagonal and pairs on the support, ``outside square`` all other pairs and diagonals."""


@dataclass(frozen=True)
class StageOneDraws:
    """n prompts of one query each.

    Attributes
    ----------
    sums : dict of str to ndarray (n,)
        ``Σ_{α in block} S_α φ_α(x_q)``.
    output : ndarray (n,)
        ``M``, the layer's output at γ^(0).
    z, label : ndarray (n,)
    sizes : dict of str to int
        How many coordinates a block has.
    """

    sums: dict[str, Floats]
    output: Floats
    z: Floats
    label: Floats
    sizes: dict[str, int]

    def mean_coordinate(self, block: str) -> Floats:
        """The label's part ``y 1{M>0} S_α φ_α`` averaged over the block's coordinates: (n,).

        The rest, ``-ReLU(M) S_α φ_α``, is smaller by the size of the gate.
        """
        if block not in self.sums:
            raise InputError(f"block {block!r} is unknown; choose {', '.join(self.sums)}")
        return np.asarray(self.label * (self.output > 0) * self.sums[block] / self.sizes[block])


def sample_stage_one(
    g: str | Link,
    gate: Gate,
    d: int,
    r: int,
    tokens: int,
    prompts: int,
    *,
    blocks: Sequence[str] = BLOCKS,
    start: tuple[float, float, float] = (1, 1, 1),
    rng: np.random.Generator | int | None = None,
) -> StageOneDraws:
    """Block sums of fresh tasks.

    Parameters
    ----------
    g, gate, d, r, tokens, prompts
        See :func:`~theoryverify.simulate.mamba_law.sample_features`.
    blocks : sequence of str
        Of :data:`BLOCKS`; each costs as much as a feature.
    start : (float, float, float)
        γ^(0) on the constant, linear and quadratic coordinates.

    Raises
    ------
    InputError
        For d <= r (there is nothing off the support), an unknown block, and sizes out of range.

    Examples
    --------
    >>> draws = sample_stage_one("He2(z)/sqrt(2)", Gate(4, -2), 10**6, 2, 32, 5, rng=0)
    >>> draws.mean_coordinate("outside linear").shape
    (5,)
    """
    d, r = positive_integer(d, "d"), positive_integer(r, "r")
    if d <= r:
        raise InputError(f"d = {d} must exceed r = {r}: Stage I looks for r of d coordinates")
    for name in blocks:
        if name not in BLOCKS:
            raise InputError(f"block {name!r} is unknown; choose {', '.join(BLOCKS)}")
    seed = int(np.random.default_rng(rng).integers(2**63))
    p = d - r
    constant, linear, square = start

    def drawn(*values: float) -> LawDraws:
        """One seed: the same prompts for each γ, which has no say in what is drawn."""
        one, line, bent, line_off, bent_off = values
        gamma = SymmetricGamma(
            d,
            one,
            np.full(r, line),
            np.full((r, r), bent),
            np.full(r, bent_off),
            line_off,
            bent_off,
        )
        return sample_features(gamma, g, gate, tokens, prompts, rng=seed)

    whole = drawn(constant, linear, square, linear, square)
    unit = np.eye(len(BLOCKS))
    sizes = (1, r, r * (r + 1) // 2, p, p * (p + 1) // 2 + p * r)
    return StageOneDraws(
        {name: drawn(*unit[BLOCKS.index(name)]).feature[:, 0] for name in blocks},
        whole.feature[:, 0],
        whole.z[:, 0],
        whole.label[:, 0],
        dict(zip(BLOCKS, sizes, strict=True)),
    )
