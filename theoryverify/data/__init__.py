"""Real digits, seen and heard: loaders, spectrograms, corruption, pairs. NumPy alone, no Torch."""
