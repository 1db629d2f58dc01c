"""The status line's sentence about a command that has ended: what came of it, how to undo it, and its ``eva`` line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from evatui.console.view.answer import error_of, plan_changes, response_of
from evatui.console.view.ink import Ink, Line, Span, line
from evatui.console.view.sent import Sent
from evatui.console.view.undo import undo_of
from evatui.console.view.words import duration

__all__ = ["done_words", "outcome", "target_of"]

_DONE = {
    "capability.reload": "reloaded",
    "capability.rollback": "rolled back",
    "capability.drain": "drained",
    "capability.disable": "disabled",
    "capability.enable": "enabled",
    "capability.retry": "tried again",
    "capability.promote": "promoted",
    "capability.abort": "aborted",
    "capability.pause": "paused",
    "capability.resume": "resumed",
    "capability.undo": "undid the last order for",
    "capability.approve": "approved",
    "capability.revoke": "took back the approval of",
    "trust.give": "trusted the workspace",
    "trust.revoke": "trusts the workspace no more",
    "call.cancel": "cancelled",
    "mcp.approve": "approved the tools of",
    "mcp.revoke": "took back the approval of the tools of",
    "mcp.probe": "asked",
    "capability.call": "called",
    "hardware.claim": "claimed",
    "hardware.release": "released",
    "hardware.rescan": "looked for devices",
    "capability.keep_example": "kept an example of",
    "runtime.restart": "restarted the runtime",
    "runtime.freeze": "frozen",
    "runtime.thaw": "thawed",
}


def done_words(command: str) -> str:
    return _DONE.get(command, command)


def target_of(params: Mapping[str, Any]) -> str:
    """What the command was about; empty for the workspace."""
    ids = params.get("ids")
    return (
        ", ".join(ids)
        if ids
        else str(
            params.get("provider")
            or params.get("server")
            or params.get("id")
            or params.get("name")
            or params.get("what")
            or params.get("key")
            or ""
        )
    )


def outcome(sent: Sent) -> Line:
    """One line: what came of it, how long it took, how to undo it, and the same on the command line."""
    target = target_of(sent.params)
    if sent.failed is not None:
        hint = f"  {sent.failed.suggestion}" if sent.failed.suggestion else ""
        return line(
            (f"✗ {sent.failed.kind} ", Ink.BAD), f"{target}: " if target else "", sent.failed.message, (hint, Ink.DIM)
        )
    data = sent.data or {}
    if sent.command == "capability.call" and not response_of(data).get("ok"):
        error = error_of(data)
        return line(
            (f"✗ {error.get('kind')} ", Ink.BAD), f"{target}: {error.get('message')}", (f"  {sent.line}", Ink.DIM)
        )
    refused = sum(change.get("action") == "reject" for change in plan_changes(data))
    move = " → ".join(str(name) for name in (data.get("from_number"), data.get("to_number")) if name)
    return line(
        ("✗ " if refused else "✓ ", Ink.BAD if refused else Ink.OK),
        f"{done_words(sent.command)} ",
        (target, Ink.STRONG),
        (f" {move}" if move else "", Ink.PLAIN),
        *_besides(sent, data, refused),
        (f" in {duration(sent.took_ms)}", Ink.DIM),
        *((("  z", Ink.KEY), (f" {undo.words}", Ink.DIM)) if (undo := undo_of(sent)) else ()),
        (f"  {sent.line}", Ink.DIM),
    )


def _besides(sent: Sent, data: Mapping[str, Any], refused: int) -> Iterator[Span]:
    """What else there is to know of it."""
    published = len(plan_changes(data)) - refused if sent.command == "runtime.thaw" else 0
    if published:
        yield f" {_many(published, 'change')} published", Ink.OK
    if refused:
        yield f" {refused} refused (3 says why)", Ink.BAD
    if sent.command == "runtime.restart" and (took := data.get("applied")):  # of a reload it says whether, not what
        yield f" {', '.join(took)} took effect", Ink.OK
    if cut := data.get("cut"):
        yield f" {_many(cut, 'call')} cut", Ink.WARN
    note = str(data.get("note") or "")
    if sent.command == "capability.undo":
        note = note.partition("; ")[2]  # what was undone was asked about; what else is there to know
    if note:
        yield f" {note}", Ink.WARN
    if waits := len(data.get("waiting") or ()):
        yield f" {waits} still waits for more (3 says for what)", Ink.WARN


def _many(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")
