"""What waits for a person, as lines: the card of a held version, and the list that trust is asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from evatui.console.view.answer import rendered_lines
from evatui.console.view.ink import EMPTY, Ink, Line, line, wrap
from evatui.console.view.permissions import permission_lines
from evatui.console.view.words import WAITS, Look, clock
from evatui.control.deciding import HeldRow, IdleRow
from evatui.control.powers import power_lines

__all__ = ["held_card", "held_lines", "idle_card", "trust_lines"]

_STATUS = {"trusted": ("●", Ink.OK), "held": ("◌", Ink.WARN), "changed": ("◌", Ink.WARN)}
_SHORT = 16


def held_card(row: HeldRow, width: int, look: Look) -> list[Line]:
    """What waits and what for, what serves meanwhile, and how the decision is made."""
    until = "until the runtime starts next" if row.waits_for == "restart" else "until that is decided"
    meanwhile = (
        line(("● ", Ink.OK), (row.serving, Ink.STRONG), f" goes on answering {until}")
        if row.serving
        else line(("· ", Ink.DIM), f"Nothing of it answers {until}")
    )
    head: list[Line] = [
        line((f"◌ {row.id}", Ink.WARN), (f"  {row.path}", Ink.DIM)),
        line((f"{WAITS[row.waits_for]} since {clock(row.since, look)}", Ink.WARN)),
        meanwhile,
        _how(row),
        EMPTY,
    ]
    return [part for each in (*head, *held_lines(row)) for part in wrap(each, width, "    ")]


def _how(row: HeldRow) -> Line:
    if row.waits_for == "restart":
        return line(("a", Ink.KEY), " restart lets it take effect, ", ("a", Ink.KEY), " revoke takes the approval back")
    if row.waits_for == "trust":
        return line(("T", Ink.KEY), " trusts the workspace, ", ("a", Ink.KEY), " approve this version alone")
    return line(("a", Ink.KEY), " approve lets it go into service")


def held_lines(row: HeldRow) -> list[Line]:
    """Permissions first, then everything that makes it wait, and the bytes that an approval is bound to."""
    lines = permission_lines(row.permissions) or [line(("It asks for nothing more than before.", Ink.DIM))]
    for diagnostic in row.diagnostics:
        lines += [EMPTY, *rendered_lines(diagnostic.rendered or f"{diagnostic.code} {diagnostic.message}")]
    return [*lines, EMPTY, line(("change class ", Ink.DIM), row.change_class), line((f"digest {row.digest}", Ink.DIM))]


def trust_lines(data: Mapping[str, Any]) -> list[Line]:
    """Each part of ``trust.show`` with what it may do, its files, and how it differs from what was trusted."""
    lines = [
        line("What starts processes, connects or has secrets injected waits for"),
        line("you; all else runs already. What you trust is kept by digest in your"),
        line("own configuration folder: a part that changes is asked about again."),
    ]
    ordered = sorted(data.get("parts") or (), key=lambda part: part["status"] == "trusted")
    for part in ordered:
        lines += [EMPTY, *_part(part)]
    return lines


def _part(part: Mapping[str, Any]) -> Iterator[Line]:
    sign, ink = _STATUS.get(part["status"], ("◌", Ink.WARN))
    said = "changed since it was trusted" if part["status"] == "changed" else part["status"]
    yield line((f"{sign} ", ink), (part["name"], Ink.STRONG), (f"  {said}", ink))
    for what, shown in power_lines(part["power"]):
        yield line((f"  {what:<14}", Ink.DIM), (shown, Ink.WARN if part["status"] != "trusted" else Ink.PLAIN))
    for change in part.get("changed") or ():
        yield line(("  changed       ", Ink.DIM), (change, Ink.WARN))
    if part["status"] != "trusted":
        for path, digest in (part.get("files") or {}).items():
            yield line((f"  {digest[:_SHORT]}", Ink.DIM), f"  {path}")


def idle_card(row: IdleRow, width: int) -> list[Line]:
    said = line(("It defines nothing: ", Ink.DIM), row.why, (".", Ink.DIM))
    return [line((f"· {row.path}", Ink.STRONG)), *wrap(said, width)]
