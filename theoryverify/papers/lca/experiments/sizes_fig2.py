"""What each preset of Figure 2 computes.

The sizes of the preset ``paper`` are d = 10, Z uniform on [2,5], ζ ~ N(0,1), Adam with batches of 256
prompts of 1024 examples for 3000 steps, and 2000 test prompts of up to 8192 examples.
"""

from __future__ import annotations

from dataclasses import dataclass

from theoryverify.papers.lca.experiments import cells_fig2 as cells
from theoryverify.papers.lca.experiments.cells_fig2 import Recipe

DIM = 10
"""d_1 = d_2 = 5: only d matters."""


@dataclass(frozen=True)
class Sizes:
    """What a preset computes."""

    train_context: int
    batch: int
    steps: int
    layer_steps: int
    softmax_batch: int
    softmax_steps: int
    softmax_depths: tuple[int, ...]
    literal_contexts: tuple[int, ...]
    literal_prompts: int
    softmax_contexts: tuple[int, ...]
    softmax_prompts: int
    law_prompts: int
    contexts: tuple[int, ...]
    bayes_contexts: tuple[int, ...]
    bayes_prompts: int
    depths: tuple[int, ...]
    depth_context: int
    map_contexts: tuple[int, ...]

    def recipe(self, model: str, depth: int) -> Recipe:
        """Rates: 0.02 for layers, and for scalars 2.4 over the number of steps or 0.01."""
        softmax = model == "CA"
        steps = self.softmax_steps if softmax else self.steps
        if model in cells.LAYERS:
            return Recipe(model, depth, DIM, self.train_context, self.batch, self.layer_steps, 0.02)
        batch = self.softmax_batch if softmax else self.batch
        rate = max(0.01, 2.4 / steps)
        return Recipe(model, depth, DIM, self.train_context, batch, steps, rate)


def _decades(*powers: float) -> tuple[int, ...]:
    return tuple(round(10**power) for power in powers)


SIZES = {
    "quick": Sizes(
        train_context=128,
        batch=64,
        steps=80,
        layer_steps=300,
        softmax_batch=32,
        softmax_steps=60,
        softmax_depths=(2, 5),
        literal_contexts=(32, 64, 128, 256, 512),
        literal_prompts=400,
        softmax_contexts=(32, 64, 128, 256, 512),
        softmax_prompts=100,
        law_prompts=4000,
        contexts=(32, 64, 128, 256, 1024, *_decades(4, 5, 6, 9)),
        bayes_contexts=(32, 64, 128, 256, 1024, *_decades(4)),
        bayes_prompts=500,
        depths=(1, 2, 3, 4, 5, 6, 8, 12, 16, 20, 24),
        depth_context=512,
        map_contexts=(16, 32, 64, 128, 256),
    ),
    "laptop": Sizes(
        train_context=512,
        batch=128,
        steps=600,
        layer_steps=1500,
        softmax_batch=32,
        softmax_steps=200,
        softmax_depths=(2, 5),
        literal_contexts=(32, 64, 128, 256, 512, 1024, 2048, 4096),
        literal_prompts=2000,
        softmax_contexts=(32, 64, 128, 256, 512, 1024, 2048),
        softmax_prompts=300,
        law_prompts=20_000,
        contexts=(32, 64, 128, 256, 512, 1024, 2048, 4096, *_decades(4, 5, 6, 7, 8, 9)),
        bayes_contexts=(32, 64, 128, 256, 512, 1024, 2048, *_decades(4, 5, 6)),
        bayes_prompts=10_000,
        depths=(1, 2, 3, 4, 5, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24),
        depth_context=2048,
        map_contexts=(16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512),
    ),
    "paper": Sizes(
        train_context=1024,
        batch=256,
        steps=3000,
        layer_steps=3000,
        softmax_batch=256,
        softmax_steps=3000,
        softmax_depths=(1, 2, 3, 5, 8, 10, 15),
        literal_contexts=(32, 64, 128, 256, 512, 1024, 2048, 4096, 8192),
        literal_prompts=2000,
        softmax_contexts=(32, 64, 128, 256, 512, 1024, 2048, 4096, 8192),
        softmax_prompts=2000,
        law_prompts=100_000,
        contexts=(32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, *_decades(4, 5, 6, 7, 8, 9)),
        bayes_contexts=(32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, *_decades(5, 6)),
        bayes_prompts=20_000,
        depths=(*range(1, 17), 18, 20, 22, 24),
        depth_context=8192,
        map_contexts=(16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024),
    ),
}
