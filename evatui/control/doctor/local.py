"""The examination where no runtime can be asked: there is no workspace, or it cannot be opened."""

from __future__ import annotations

from typing import Any

from evatui.control.doctor.examine import examine
from evatui.kernel.lua.engine import Engine
from evatui.kernel.lua.worker.facts import sandbox_facts
from evatui.kernel.lua.worker.workers import Workers
from evatui.kernel.workspace.layout import Layout

__all__ = ["examine_here"]


async def examine_here(layout: Layout | None) -> dict[str, Any]:
    """As `examine`, with an engine for the moment."""
    workers = Workers()
    engine = Engine(workers=workers)
    try:
        return await examine(layout, engine, sandbox_facts())
    finally:
        engine.close()
        workers.close()
