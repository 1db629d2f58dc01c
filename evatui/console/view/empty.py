"""What an empty list says: where it looked, and what would fill it. The list wraps the lines to its width."""

from __future__ import annotations

from evatui.console.view.ink import EMPTY, Ink, Line, line
from evatui.control.snapshot import ConsoleSnapshot

__all__ = [
    "EMPTY_AUDIT",
    "EMPTY_IN_FLIGHT",
    "EMPTY_REJECTED",
    "EMPTY_RELOADS",
    "NOT_FOUND",
    "empty_registry",
]


def empty_registry(snapshot: ConsoleSnapshot) -> list[Line]:
    """Also for a list whose filter lets nothing through."""
    if snapshot.capabilities:
        return NOT_FOUND
    places = ", ".join(f"{place}/" for place in snapshot.manifests_in) or "the workspace"
    return [
        EMPTY,
        line(("No capabilities yet.", Ink.STRONG)),
        line(
            "Looking for manifests in ",
            (places, Ink.INFO),
            " (*.yaml). Save one there and it appears within a second; a file that is refused appears under ",
            ("3", Ink.KEY),
            " with the reason and the line.",
        ),
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
    line(
        "A manifest, schema, policy or script that is not sound is listed here, with the line and the reason, and a "
        "version that needs approval or trust, while the version before it goes on answering."
    ),
]

EMPTY_AUDIT: list[Line] = [
    EMPTY,
    line(("No records yet.", Ink.STRONG)),
    line(
        "Every call, reload, drain and rollback leaves one. Select a capability (",
        ("1", Ink.KEY),
        ") and press ",
        ("c", Ink.KEY),
        " to call it.",
    ),
]

EMPTY_RELOADS: list[Line] = [
    EMPTY,
    line(("Nothing was reloaded yet.", Ink.STRONG)),
    line(
        "Save a manifest, a schema or a script, and its reload is listed here a moment later: from which generation "
        "to which, how long it took, and why it was refused. ",
        ("enter", Ink.KEY),
        " shows what differs.",
    ),
]

EMPTY_IN_FLIGHT: list[Line] = [
    EMPTY,
    line(("✓ ", Ink.OK), ("No call is in flight.", Ink.STRONG)),
    line(
        "A call is listed here from the moment it comes until it is answered: its age against its deadline, its "
        "generation, the host call it is in, and who waits in line for a slot. Select a capability (",
        ("1", Ink.KEY),
        ") and press ",
        ("c", Ink.KEY),
        " to call it; ",
        ("6", Ink.KEY),
        " has those that have ended.",
    ),
]
