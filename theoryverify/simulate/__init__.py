"""Samplers, exact-in-law reductions, Monte Carlo, training."""
