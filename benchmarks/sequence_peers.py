"""Our Mamba and the public pure-PyTorch ones with the same weights, as functions of embeddings."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

from torch import Tensor, nn

from theoryverify.models import mamba
from theoryverify.models.selective_scan import selective_scan

Call = Callable[[Tensor], Tensor]

OURS = ("ours, fused", "ours, loop")
PEERS = ("transformers", "transformers + mambapy", "mambapy", "mambapy, sequential")


class Peer(nn.Module):
    """A stack of ours, or of one of the peers, that maps (b, l, width) to (b, l, width)."""

    def __init__(self, name: str, width: int, layers: int, states: int) -> None:
        super().__init__()
        self.name = name
        ours = mamba.Mamba(width, layers, states=states, rng=0)
        self.norm_f: nn.Module = nn.Identity()
        if name.startswith("ours"):
            self.stack: nn.Module = ours
        elif name.startswith("transformers"):
            self.stack = _transformers(name, width, layers, states)
        else:
            from mambapy.mamba import Mamba, MambaConfig

            config = MambaConfig(width, layers, d_state=states, pscan=name == "mambapy")
            self.stack, self.norm_f = Mamba(config), ours.norm_f  # it has no last norm
        self.stack.load_state_dict(ours.state_dict(), strict=False)  # the names are the same

    def forward(self, x: Tensor) -> Tensor:
        if self.name == "ours, loop":
            with _loop():
                return self.stack(x)
        if self.name.startswith("transformers"):
            return self.stack(inputs_embeds=x).last_hidden_state
        return self.norm_f(self.stack(x))

    def gradients(self) -> dict[str, Tensor]:
        parameters = {**dict(self.stack.named_parameters()), **dict(self.named_parameters())}
        found = {name.removeprefix("stack."): p.grad for name, p in parameters.items()}
        return {name: grad for name, grad in found.items() if grad is not None}


def _transformers(name: str, width: int, layers: int, states: int) -> nn.Module:
    import transformers

    logging.getLogger("transformers").setLevel(logging.ERROR)  # that mamba_ssm is not installed
    config = transformers.MambaConfig(
        vocab_size=2,
        hidden_size=width,
        num_hidden_layers=layers,
        state_size=states,
        use_mambapy=name.endswith("mambapy"),
        use_cache=False,
    )
    return transformers.MambaModel(config)


@contextmanager
def _loop() -> Iterator[None]:
    """Our model on the loop in Torch: what it does where there is no compiler."""
    mamba.selective_scan = partial(selective_scan, method="loop")
    try:
        yield
    finally:
        mamba.selective_scan = selective_scan
