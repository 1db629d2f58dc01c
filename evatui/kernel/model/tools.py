"""What an MCP server offers, as it was seen and as it was approved. All text in it is cleaned."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Any

__all__ = ["Definition", "ServerInfo", "ToolInfo", "ToolState"]


class ToolState(StrEnum):
    """``NEW`` and ``CHANGED`` tools wait for approval; ``HIDDEN`` ones are on no allow-list; ``GONE`` ones were
    approved and are not offered any more; ``SKIPPED`` ones cannot be used."""

    READY = "ready"
    NEW = "new"
    CHANGED = "changed"
    HIDDEN = "hidden"
    SKIPPED = "skipped"
    GONE = "gone"


@dataclass(frozen=True, slots=True)
class Definition:
    """``body`` is all of a tool that its approval covers, JSON-like; ``digest`` is of it."""

    name: str
    digest: str
    body: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}), repr=False)


@dataclass(frozen=True, slots=True)
class ToolInfo:
    """``shown`` is ``<server>__<tool>``; ``why`` it is not ready, ``diff`` how it differs from what was approved."""

    name: str
    shown: str
    state: ToolState
    description: str = ""
    digest: str = ""
    why: str = ""
    diff: tuple[str, ...] = ()
    definition: Definition | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class ServerInfo:
    """``address`` is where it is reached, or what starts it. ``title`` and ``version`` are what it says of itself."""

    server: str
    address: str
    protocol: str = ""
    title: str = ""
    version: str = ""
    tools: tuple[ToolInfo, ...] = ()
    listed_at: str = ""
    note: str = ""
    """Why it may offer more than is listed."""

    @property
    def waiting(self) -> tuple[ToolInfo, ...]:
        return tuple(tool for tool in self.tools if tool.state in (ToolState.NEW, ToolState.CHANGED))
