"""What ends with a console that holds the workspace."""

from __future__ import annotations

from evatui.console.view.ink import Ink, Line, line
from evatui.control.snapshot import ConsoleSnapshot

__all__ = ["what_stops"]


def what_stops(snapshot: ConsoleSnapshot | None) -> tuple[Line, ...]:
    """What a person is told who leaves; nothing where nobody would miss the runtime."""
    if snapshot is None or snapshot.runtime.attached or not (snapshot.calls or snapshot.clients):
        return ()
    told = [line("The runtime runs in this console and stops with it.")]
    if snapshot.clients:
        many = _many(len(snapshot.clients), "MCP client")
        told.append(line((many, Ink.WARN), " connected: those that started a bridge get a runtime of their own."))
    if snapshot.calls:
        many = _many(len(snapshot.calls), "call")
        told.append(line((many, Ink.WARN), " in flight: they are waited for, then it ends."))
    kept = line(("eva serve", Ink.INFO), " and ", ("evatui --attach", Ink.INFO), " keep it running without a console.")
    return (*told, kept)


def _many(count: int, noun: str) -> str:
    return f"{count} {noun}" + (" is" if count == 1 else "s are")
