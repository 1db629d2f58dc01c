"""The stable codes ``EVA-75x`` (what MCP clients see of us)."""

from __future__ import annotations

from evatui.kernel.model.code import Code
from evatui.kernel.model.diagnostic import Reason

__all__ = ["MCP_CODES"]

MCP_CODES = (
    Code(
        "EVA-751",
        Reason.EXPOSED_NAME_TAKEN,
        "two MCP handlers have one exposed name",
        "Clients call a tool by that name alone, and a model may take two that differ only in case or in a separator "
        "for each other; the active one stays.",
        "Give one of them another mcp.exposed_name, or remove it.",
    ),
    Code(
        "EVA-752",
        Reason.MANIFEST_INVALID,
        "an exposed name that not every MCP client takes",
        "Many clients, and the models behind them, refuse a tool whose name has other characters or is longer.",
        "Write an mcp.exposed_name of 1 to 64 characters A-Z a-z 0-9 _ -, the first a letter.",
    ),
)
