"""The selected capability: all of it, or in two lines, and its way through the machine."""

from __future__ import annotations

from collections.abc import Sequence

from evatui.console.view.canary import canary_lines
from evatui.console.view.ink import EMPTY, Ink, Line, fit, join, line, wrap
from evatui.console.view.rows import beside, marked, served
from evatui.console.view.under_way import furthest, under_way
from evatui.console.view.words import LABELS, STATE_INKS, Look, clock, state_label
from evatui.control.deciding import PermissionRow
from evatui.control.snapshot import CallRow, CapabilityRow, ConsoleSnapshot, Transition

__all__ = ["brief", "is_moved", "last_transition", "path_of", "preview", "where"]


def preview(
    row: CapabilityRow,
    width: int,
    look: Look,
    elapsed: float = 0.0,
    calls: Sequence[CallRow] = (),
    trend: Sequence[Line] = (),
) -> list[Line]:
    """Everything about a capability that fits beside the list, most important first; ``calls`` and ``trend`` are its
    own."""
    lines: list[Line] = [
        line((row.id, Ink.STRONG)),
        join((state_label(row.state, look), line((f"since {clock(row.since, look)}", Ink.DIM)))),
        EMPTY,
    ]
    if row.reason and row.generation is None:  # where one serves, it is the reason of what is beside it, said there
        lines += wrap(line((row.reason, STATE_INKS[row.state])), width)
    if row.description:
        lines += wrap(line(row.description), width)
    if len(lines) > 3:
        lines.append(EMPTY)
    lines += [*trend, EMPTY] if trend else []
    for item in row.beside:
        lines += wrap(beside(item, look, elapsed), width, "  ")
        for told in canary_lines(item.canary, elapsed)[1:] if item.canary else ():
            lines += wrap(told, width, "  ")
    for call in under_way(calls, look):
        lines += wrap(call, width, "  ")
    lines += _fields(row, width)
    if row.permissions:
        lines += [EMPTY, line(("May", Ink.DIM))]
        lines += [part for item in row.permissions for part in _may(item, width)]
    lines += [EMPTY, line(("Generations", Ink.DIM))]
    lines += [_generation(item.number, item.version, row, look) for item in row.generations[:6]]
    if row.trail:
        lines += [EMPTY, line(("Its path", Ink.DIM))]
        lines += [_step(step, look) for step in row.trail[-6:]]
    return lines


_DISK = {"quarantined": "what it holds was rolled back: tried again when it changes, or by retry (a)"}


def _fields(row: CapabilityRow, width: int) -> list[Line]:
    shown = (
        ("serves", served(row)),
        ("kind", line(row.kind)),
        ("provides", line(", ".join(row.capabilities))),
        ("behind", line(("; ".join(row.behind), Ink.INFO)) if row.behind else EMPTY),
        ("before", line(("; ".join(row.before), Ink.DIM)) if row.before else EMPTY),
        ("effects", line(row.side_effects)),
        ("runs", _runs(row)),
        ("on disk", line((_DISK.get(row.on_disk, row.on_disk), Ink.OK if row.on_disk == "same" else Ink.WARN))),
        ("calls", line(f"{row.calls:,}", (f"  {row.errors:,} failed", Ink.BAD if row.errors else Ink.DIM))),
        ("now", line(f"{row.in_flight} in flight", (f"  {row.queued} queued", Ink.WARN if row.queued else Ink.DIM))),
        ("manifest", line((row.path, Ink.DIM))),
        ("script", line((row.script, Ink.DIM))),
    )
    lines: list[Line] = []
    for name, value in shown:
        if value:
            lines += wrap(line((f"{name:<9}", Ink.DIM), *value), width, " " * 9)
    return lines


def _may(item: PermissionRow, width: int) -> Sequence[Line]:
    """An entry that the manifest asks for, and the grant that gave it or the rule that took it."""
    sign, ink = ("✓", Ink.OK) if item.in_force else ("✗", Ink.BAD)
    said = line((f"{sign} ", ink), f"{item.permission} {item.entry}", (f"  {item.why}", Ink.DIM))
    return wrap(said, width, "    ")


def _runs(row: CapabilityRow) -> Line:
    """Where its code runs, and why there where that is not the usual place."""
    if row.isolation == "process" or is_moved(row):
        where = "in a process of its own" if row.isolation == "process" else "in the runtime's process"
        return line((where, Ink.WARN if is_moved(row) else Ink.PLAIN), (f": {row.isolation_why}", Ink.DIM))
    return line("in the runtime's process") if row.isolation else EMPTY


def where(row: CapabilityRow) -> str:
    """In which process it runs, and why."""
    return f"{row.isolation.replace('_', '-')}: {row.isolation_why}"


def is_moved(row: CapabilityRow) -> bool:
    """Was it moved out of the runtime's process for what it did, or should it have been?"""
    return "demoted" in row.marks or "demotion failed" in row.marks


def _generation(number: str, version: str, row: CapabilityRow, look: Look) -> Line:
    found = next(item for item in row.generations if item.number == number)
    kept = "  kept" if found.restorable and number != row.number else ""
    calls = f"  {found.in_flight} in flight" if found.in_flight else ""
    return line(*fit(state_label(found.state, look), 10), f"  {number} {version}", (calls, Ink.WARN), (kept, Ink.INFO))


def _step(step: Transition, look: Look) -> Line:
    old = LABELS[step.old] if step.old else "new"
    return line(
        (f"{clock(step.at, look)}  ", Ink.DIM), f"{step.number} {old} → ", (LABELS[step.new], STATE_INKS[step.new])
    )


def brief(
    row: CapabilityRow, width: int, look: Look, elapsed: float = 0.0, calls: Sequence[CallRow] = ()
) -> list[Line]:
    """The preview of a short screen: two lines of what neither its row nor the status line says."""
    kept = [item.number for item in row.generations if item.restorable and item.number != row.number]
    first = join(
        (
            line(", ".join(row.capabilities)),
            line((f"{row.kind} {row.version}", Ink.DIM)),
            line((f"effects {row.side_effects}", Ink.DIM)),
            marked(row),
            line((f"kept {' '.join(kept)}", Ink.DIM)) if kept else EMPTY,
        )
    )
    also = join((beside(item, look, elapsed) for item in row.beside), "  ")
    why = _DISK.get(row.on_disk) or row.reason or (where(row) if is_moved(row) else row.description)
    return [first, join((furthest(calls), also)) or line(why or row.path)]


def path_of(row: CapabilityRow, look: Look) -> Line:
    """The capability's own way through the machine, with times."""
    if not row.trail:
        return line(("no transition yet", Ink.DIM))
    steps, before, number = [], "", ""
    for step in row.trail[-5:]:
        time = clock(step.at, look)
        steps.append(
            line(
                (f"{time} " if time != before else "", Ink.DIM),
                f"{step.number} " if step.number != number else "",
                (LABELS[step.new], STATE_INKS[step.new]),
            )
        )
        before, number = time, step.number
    return join((line((row.id, Ink.STRONG)), join(steps, " → ")))


def last_transition(snapshot: ConsoleSnapshot, look: Look) -> Line:
    """Who took which edge, from and to, and when."""
    if not snapshot.transitions:
        return line(("no transition yet", Ink.DIM))
    step = snapshot.transitions[-1]
    old = LABELS[step.old] if step.old else "new"
    why = f"  {step.reason}" if step.reason else ""
    return line(
        (f"{clock(step.at, look)}  ", Ink.DIM),
        (step.id, Ink.STRONG),
        f" {step.number}  {old} → ",
        (LABELS[step.new], STATE_INKS[step.new]),
        (f"  by {step.actor}{why}", Ink.DIM),
    )
