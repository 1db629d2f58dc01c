"""A workspace that serves, behind calls that wait."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from evatui.kernel.model.call import Actor, CallerType, CallRequest
from evatui.runtime import Runtime

__all__ = ["ROOT", "Serving"]

ROOT = Path(__file__).parents[2]
_CALLER = Actor(CallerType.USER, "tests")


class Serving:
    """Serves the workspace ``root`` from memory, without writing or watching."""

    def __init__(self, root: Path) -> None:
        self._runner = asyncio.Runner()
        self.runtime = self._runner.run(Runtime.open(root, writes=False))

    def call(self, capability: str, payload: dict[str, Any]) -> dict[str, Any]:
        """The response: ``ok`` with ``result``, or ``error``."""
        report = self._runner.run(self.runtime.call(CallRequest(capability, payload, _CALLER)))
        return report.response.to_json()

    def close(self) -> None:
        self._runner.run(self.runtime.close())
        self._runner.close()
