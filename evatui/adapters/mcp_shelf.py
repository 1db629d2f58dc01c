"""The tools that a server listed last, and how each stands to what may be called and to what was approved."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from evatui.adapters.mcp_tools import Tool, shown
from evatui.kernel.host.ports import NotSent
from evatui.kernel.model.adapter import SEPARATOR
from evatui.kernel.model.errors import ErrorKind
from evatui.kernel.model.text import clean_line
from evatui.kernel.model.tools import Definition, ToolInfo, ToolState

__all__ = ["Shelf"]

_APPROVE: Final = "eva mcp approve"


class Shelf:
    """``tools`` is None before the first list. ``pinned`` is asked each time: what is approved holds at once."""

    def __init__(self, server: str, pinned: Callable[[], Mapping[str, Definition]]) -> None:
        self.tools: tuple[Tool, ...] | None = None
        self._server = server
        self._pinned = pinned
        self._known: tuple[Any, Any, Any, tuple[ToolInfo, ...]] | None = None

    def infos(self, allowed: Sequence[str]) -> tuple[ToolInfo, ...]:
        """Worked out anew where the list, what is approved or what is ``allowed`` is another one."""
        pinned, known = self._pinned(), self._known
        if known is not None and known[0] is self.tools and known[1] is pinned and known[2] is allowed:
            return known[3]
        found = self._worked_out(pinned, allowed)
        self._known = (self.tools, pinned, allowed, found)
        return found

    def usable(self, name: str, allowed: Sequence[str]) -> Tool:
        """Raises `NotSent` where a tool is not there, or is not what was approved."""
        found = next((info for info in self.infos(allowed) if info.name == name), None)
        if found is None or found.state in (ToolState.GONE, ToolState.HIDDEN):
            message = f"{self._server} has no tool {clean_line(name, 128)}"
            raise NotSent(ErrorKind.NOT_FOUND, message, retryable=False)
        if found.state is ToolState.SKIPPED:
            message = f"{found.shown} cannot be called: {found.why}"
            raise NotSent(ErrorKind.UNAVAILABLE, message, retryable=False, reason="skipped")
        if found.state in (ToolState.NEW, ToolState.CHANGED):
            look = f"look at it and approve it: {_APPROVE} {self._server}"
            message = f"{found.shown} is in quarantine: {found.why}; {look}"
            raise NotSent(ErrorKind.POLICY_DENIED, message, retryable=False, reason="quarantined")
        return next(tool for tool in self.tools or () if tool.name == name)

    def _worked_out(self, pinned: Mapping[str, Definition], allowed: Sequence[str]) -> tuple[ToolInfo, ...]:
        if self.tools is None:
            return ()
        found = [shown(self._server, tool, allowed, pinned) for tool in self.tools]
        there = {tool.name for tool in self.tools}
        gone = [self._gone(name, one) for name, one in pinned.items() if name not in there]
        return (*found, *gone)

    def _gone(self, name: str, approved: Definition) -> ToolInfo:
        why = "it was approved, and is not offered any more"
        title = f"{self._server}{SEPARATOR}{name}"
        return ToolInfo(name, title, ToolState.GONE, digest=approved.digest, why=why)
