"""Checks the theory in machine-learning papers by machine."""
