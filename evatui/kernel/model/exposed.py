"""The names under which MCP clients see tools: those that every client and every model's interface takes."""

from __future__ import annotations

import re

from evatui.kernel.model.ids import fold
from evatui.kernel.model.manifest import Manifest

__all__ = ["EXPOSED_NAME", "exposed_as", "handler_name", "likeness"]

EXPOSED_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}", re.ASCII)


def exposed_as(name: str) -> str:
    """``project.summary`` as ``project_summary``; what comes of it need not be an `EXPOSED_NAME`."""
    return name.replace(".", "_")


def handler_name(manifest: Manifest) -> str | None:
    """The exposed name of an MCP handler; None for another kind."""
    if manifest.mcp is None:
        return None
    return manifest.mcp.exposed_name or exposed_as(manifest.mcp.tool_name)


def likeness(name: str) -> str:
    """What two names have in common that a model may take for each other: case and separators make no difference."""
    return fold(name).replace(".", "_").replace("-", "_")
