"""Real digits, seen and heard: loaders, spectrograms, corruption, pairs. NumPy alone, no Torch."""

VARIABLE = "THEORYVERIFY_AVMNIST"
"""Names the prepared file that ``theoryverify figure lca.table1`` takes."""
DEFAULT = "out/avmnist.npz"
"""The file that it takes otherwise, if it is there."""
