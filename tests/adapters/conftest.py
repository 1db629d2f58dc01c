from __future__ import annotations

from tests.adapters.ground import start, workspace

__all__ = ["start", "workspace"]
