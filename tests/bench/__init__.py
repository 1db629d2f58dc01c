"""Measurements: ``python -m tests.bench``. Every figure is a ratio of arms interleaved in one run."""
