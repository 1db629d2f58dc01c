"""What ends with a console that holds the workspace."""

from __future__ import annotations

from evatui.console.view.ink import Ink, Line, line
from evatui.control.snapshot import ConsoleSnapshot

__all__ = ["what_stops"]


def what_stops(snapshot: ConsoleSnapshot | None) -> tuple[Line, ...]:
    """What a person is told who leaves; nothing where nobody would miss the runtime."""
    if snapshot is None or snapshot.runtime.attached or not _missed(snapshot):
        return ()
    told = [line("The runtime runs in this console and stops with it.")]
    if consoles := snapshot.runtime.consoles:
        many = f"{_many(len(consoles), 'other console')} attached"
        told.append(line((many, Ink.WARN), f" ({', '.join(consoles)}): what they look at ends, and is shown as lost."))
    if snapshot.clients:
        many = _many(len(snapshot.clients), "MCP client")
        told.append(line((many, Ink.WARN), " connected: those that started a bridge get a runtime of their own."))
    if snapshot.calls:
        many = _many(len(snapshot.calls), "call")
        told.append(line((many, Ink.WARN), " in flight: they are waited for, then it ends."))
    kept = line(("eva serve", Ink.INFO), " and ", ("evatui --attach", Ink.INFO), " keep it running without a console.")
    return (*told, kept)


def _missed(snapshot: ConsoleSnapshot) -> bool:
    return bool(snapshot.calls or snapshot.clients or snapshot.runtime.consoles)


def _many(count: int, noun: str) -> str:
    return f"{count} {noun}" + (" is" if count == 1 else "s are")
