"""MCP servers under the cursor: when something can be decided of them, and what is shown before it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evatui.console.view.enabled import selected
from evatui.console.view.ink import EMPTY, Ink, Line, line

if TYPE_CHECKING:
    from evatui.console.view.enabled import Subject
    from evatui.control.adapter_rows import AdapterRow, ServerRow
    from evatui.control.snapshot import ConsoleSnapshot

__all__ = ["approved_lines", "has_approved", "has_waiting", "is_probed", "waiting_lines"]

_WAITING = ("new", "changed")
_APPROVED = ("ready", "changed", "gone")


def is_probed(snapshot: ConsoleSnapshot | None, subject: Subject) -> str | None:
    if missing := selected(snapshot, subject):
        return missing
    return None if _server(subject) is not None else "select an MCP server that serves (7)"


def has_waiting(snapshot: ConsoleSnapshot | None, subject: Subject) -> str | None:
    if missing := is_probed(snapshot, subject):
        return missing
    server = _server(subject)
    return None if server is not None and server.waiting else "none of its tools waits for approval"


def has_approved(snapshot: ConsoleSnapshot | None, subject: Subject) -> str | None:
    if missing := is_probed(snapshot, subject):
        return missing
    server = _server(subject)
    found = server is not None and any(tool.state in _APPROVED for tool in server.tools)
    return None if found else "none of its tools is approved"


def waiting_lines(row: AdapterRow) -> list[Line]:
    """Each tool that waits, with what it says of itself and what changed in it."""
    server = row.server
    assert server is not None  # the table enables it for nothing else
    lines: list[Line] = [line((row.id, Ink.STRONG), (f"  {server.address}", Ink.DIM))]
    lines.append(line("What is approved may be called as it is now; what changes later waits again."))
    for tool in (tool for tool in server.tools if tool.state in _WAITING):
        lines += [EMPTY, line((tool.shown, Ink.STRONG), (f"  {tool.state}", Ink.WARN)), line(tool.description)]
        for text in tool.diff:
            ink = Ink.OK if text.startswith("+") else Ink.BAD if text.startswith("-") else Ink.DIM
            lines.append(line((f"  {text}", ink)))
    return lines


def approved_lines(row: AdapterRow) -> list[Line]:
    server = row.server
    assert server is not None  # the table enables it for nothing else
    names = [tool.shown for tool in server.tools if tool.state in _APPROVED]
    return [
        line((row.id, Ink.STRONG), "  may not be called any more:"),
        *(line(("  ○ ", Ink.DIM), name) for name in names),
    ]


def _server(subject: Subject) -> ServerRow | None:
    from evatui.control.adapter_rows import AdapterRow

    return subject.server if isinstance(subject, AdapterRow) else None
