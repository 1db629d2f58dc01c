"""What an empty list says: where it looked, and what would fill it."""

from __future__ import annotations

from evatui.console.view.ink import EMPTY, Ink, Line, line
from evatui.control.snapshot import ConsoleSnapshot

__all__ = ["EMPTY_AUDIT", "EMPTY_REJECTED", "NOT_FOUND", "empty_registry"]


def empty_registry(snapshot: ConsoleSnapshot) -> list[Line]:
    """Also for a list whose filter lets nothing through."""
    if snapshot.capabilities:
        return NOT_FOUND
    places = ", ".join(f"{place}/" for place in snapshot.manifests_in) or "the workspace"
    return [
        EMPTY,
        line(("No capabilities yet.", Ink.STRONG)),
        line("Looking for manifests in ", (places, Ink.INFO), " (*.yaml)."),
        line("Save one there and it appears within a second;"),
        line("a file that is refused appears under ", ("3", Ink.KEY), " with the reason and the line."),
        EMPTY,
        line(("A workspace with samples to start from: ", Ink.DIM), ("eva init DIR", Ink.INFO)),
    ]


NOT_FOUND: list[Line] = [
    EMPTY,
    line(("Nothing matches the filter.", Ink.STRONG)),
    line(("esc", Ink.KEY), " shows all again, ", ("/", Ink.KEY), " changes the words."),
]

EMPTY_REJECTED: list[Line] = [
    EMPTY,
    line(("✓ ", Ink.OK), ("Nothing is refused, and nothing waits.", Ink.STRONG)),
    line("A manifest, schema, policy or script that is not sound is listed here, with the line and the reason,"),
    line("and a version that needs approval or trust, while the version before it goes on answering."),
]

EMPTY_AUDIT: list[Line] = [
    EMPTY,
    line(("No records yet.", Ink.STRONG)),
    line("Every call, reload, drain and rollback leaves one. Select a capability (", ("1", Ink.KEY), ") and press "),
    line(("c", Ink.KEY), " to call it."),
]
