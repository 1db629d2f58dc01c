"""Long tests at their full size: ``python -m tests.soak``."""
