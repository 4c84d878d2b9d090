"""Showing what a run found: terminal, JSON, JUnit, a page, a summary, a badge, notebooks."""
