"""Showing what a run found: terminal, JSON, JUnit."""
