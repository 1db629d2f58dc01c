"""The card of a refusal, and the page of an audit record."""

from __future__ import annotations

import json
from collections.abc import Mapping

from evatui.console.view.answer import rendered_lines
from evatui.console.view.ink import EMPTY, Ink, Line, join, line, plain, wrap
from evatui.console.view.mending import edits_of
from evatui.console.view.words import Look, clock
from evatui.control.snapshot import AuditRow, RejectionRow
from evatui.kernel.model.diagnostic import Diagnostic

__all__ = ["card", "record", "record_brief", "record_text"]

_DIFFERENCE = {"+": Ink.OK, "-": Ink.BAD, "@": Ink.INFO}


def card(row: RejectionRow, width: int, look: Look) -> list[Line]:
    """What was refused, what serves meanwhile, and each diagnostic as it is rendered."""
    meanwhile = (
        line(("● ", Ink.OK), (row.serving, Ink.STRONG), " goes on answering; saving a sound version replaces it")
        if row.serving
        else line(("· ", Ink.DIM), "Nothing answers in its place; saving a sound version brings it up")
    )
    lines: list[Line] = [
        line((f"✗ {row.id or row.path}", Ink.BAD), (f"  {row.path}" if row.id else "", Ink.DIM)),
        line((f"refused {clock(row.at, look)}", Ink.DIM)),
        *wrap(meanwhile, width, "  "),
    ]
    if edits_of(row.diagnostics):
        lines.append(
            line(("F", Ink.KEY), (" shows the repair and writes it, ", Ink.DIM), ("e", Ink.KEY), (" edits", Ink.DIM))
        )
    for diagnostic in row.diagnostics:
        lines += [EMPTY, *_diagnostic(diagnostic, width)]
    if row.difference:
        lines += [EMPTY, line(("What differs from ", Ink.DIM), (row.against, Ink.STRONG), (":", Ink.DIM))]
        lines += [line((f"  {piece}", _DIFFERENCE.get(piece[:1], Ink.DIM))) for piece in row.difference]
    return lines


def _diagnostic(diagnostic: Diagnostic, width: int) -> list[Line]:
    if diagnostic.rendered:
        return [part for row in rendered_lines(diagnostic.rendered) for part in wrap(row, width, _hanging(row))]
    lines = list(wrap(line((f"{diagnostic.code} {diagnostic.message}", Ink.BAD)), width))
    if place := diagnostic.primary:
        lines.append(line((f"  {place.file}:{place.line}:{place.column}", Ink.DIM)))
    for note in diagnostic.notes:
        lines += wrap(line(f"  {note}"), width, "  ")
    if diagnostic.help:
        lines += wrap(line(("  ", Ink.PLAIN), (diagnostic.help, Ink.OK)), width, "  ")
    return lines


def _hanging(row: Line) -> str:
    """So far in goes on what has a word before it: ``= why: ``."""
    text = plain(row)
    head, colon, _ = text.partition(": ")
    return " " * len(head + colon) if head.strip().startswith("= ") else " " * (len(text) - len(text.lstrip()))


def record(row: AuditRow, width: int) -> list[Line]:
    """The whole record, as JSON."""
    text = record_text(row)
    return [part for piece in text.split("\n") for part in wrap(_named(piece), width, "    ")]


def record_brief(row: AuditRow, numbers: Mapping[str, str], look: Look) -> list[Line]:
    """The preview of a short screen: two lines of what neither its row nor the status line says."""
    number = numbers.get(row.generation) or row.generation
    details = row.record.get("details")
    first = join(
        (
            line((number, Ink.PLAIN)),
            line((f"by {row.actor}", Ink.DIM)),
            line((clock(row.at, look, millis=True), Ink.DIM)),
        )
    )
    told = json.dumps(details, ensure_ascii=False, default=str) if details else ""
    calls = len(row.record.get("host_calls") or ())
    made = f"{calls} host call{'' if calls == 1 else 's'}" if calls else ""
    return [first, join((line((row.error_kind, Ink.BAD)), line(row.request_id), line((made, Ink.DIM)), line(told)))]


def record_text(row: AuditRow) -> str:
    return json.dumps(dict(row.record), indent=2, ensure_ascii=False, default=str)


def _named(piece: str) -> Line:
    name, found, value = piece.partition('": ')
    return line((f"{name}{found}", Ink.DIM), value) if found else line(piece)
