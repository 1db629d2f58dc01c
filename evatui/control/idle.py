"""Files that stand where manifests and scripts do, and define nothing."""

from __future__ import annotations

from evatui.control.deciding import IdleRow
from evatui.kernel.model.text import clean_line
from evatui.runtime import Runtime

__all__ = ["MAX_IDLE", "idle_rows"]

MAX_IDLE = 200


def idle_rows(runtime: Runtime) -> tuple[IdleRow, ...]:
    """By path, at most `MAX_IDLE`."""
    return tuple(IdleRow(path=clean_line(path), why=_why_idle(path)) for path in runtime.reloader.idle[:MAX_IDLE])


def _why_idle(path: str) -> str:
    if path.endswith(".lua"):
        return "no manifest that can be read names this script"
    name = path.rpartition("/")[2]
    if name.endswith((".yaml", ".yml")) or name.startswith("."):
        return "hidden files define nothing"
    return "only files whose names end in .yaml or .yml are manifests"
