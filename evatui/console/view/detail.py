"""The selected thing in a few lines: the preview beside the list, and the status line's sentence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from evatui.console.view.canary import canary_lines
from evatui.console.view.ink import EMPTY, Ink, Line, fit, join, line, measure, wrap
from evatui.console.view.rows import beside, served
from evatui.console.view.under_way import furthest, under_way
from evatui.console.view.words import LABELS, STATE_INKS, WAITS, Look, clock, duration, state_label
from evatui.control.deciding import HeldRow, IdleRow, PermissionRow
from evatui.control.snapshot import AuditRow, CallRow, CapabilityRow, ConsoleSnapshot, RejectionRow, Transition
from evatui.kernel.model.lifecycle import State

if TYPE_CHECKING:
    from evatui.console.view.enabled import Subject

__all__ = ["brief", "last_transition", "path_of", "preview", "sentence"]


def preview(
    row: CapabilityRow, width: int, look: Look, elapsed: float = 0.0, calls: Sequence[CallRow] = ()
) -> list[Line]:
    """Everything about a capability that fits beside the list, most important first; ``calls`` are its own."""
    lines: list[Line] = [
        line((row.id, Ink.STRONG)),
        join((state_label(row.state, look), line((f"since {clock(row.since, look)}", Ink.DIM)))),
        EMPTY,
    ]
    if row.reason:
        lines += wrap(line((row.reason, STATE_INKS[row.state])), width)
    if row.description:
        lines += wrap(line(row.description), width)
    if len(lines) > 3:
        lines.append(EMPTY)
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


def _fields(row: CapabilityRow, width: int) -> list[Line]:
    shown = (
        ("serves", served(row)),
        ("kind", line(row.kind)),
        ("provides", line(", ".join(row.capabilities))),
        ("behind", line(("; ".join(row.behind), Ink.INFO)) if row.behind else EMPTY),
        ("before", line(("; ".join(row.before), Ink.DIM)) if row.before else EMPTY),
        ("effects", line(row.side_effects)),
        ("runs", _runs(row)),
        ("on disk", line((row.on_disk, Ink.OK if row.on_disk == "same" else Ink.WARN))),
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
    if row.isolation == "process" or _moved(row):
        where = "in a process of its own" if row.isolation == "process" else "in the runtime's process"
        return line((where, Ink.WARN if _moved(row) else Ink.PLAIN), (f": {row.isolation_why}", Ink.DIM))
    return line("in the runtime's process") if row.isolation else EMPTY


def _where(row: CapabilityRow) -> str:
    return f"{row.isolation.replace('_', '-')}: {row.isolation_why}"


def _moved(row: CapabilityRow) -> bool:
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
    """The preview of a short screen: two lines."""
    kept = [item.number for item in row.generations if item.restorable and item.number != row.number]
    first = join(
        (
            line((row.id, Ink.STRONG)),
            state_label(row.state, look),
            served(row),
            line((row.kind, Ink.DIM)),
            line((f"effects {row.side_effects}", Ink.DIM)),
            line((", ".join(row.marks), Ink.WARN)) if row.marks else EMPTY,
            line((f"kept {' '.join(kept)}", Ink.DIM)) if kept else EMPTY,
        )
    )
    also = join((beside(item, look, elapsed) for item in row.beside), "  ")
    rest = line((row.reason or (_where(row) if _moved(row) else row.description), Ink.PLAIN))
    return [first, join((furthest(calls), also)) or rest or path_of(row, look)]


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


def sentence(subject: Subject, look: Look, width: int) -> Line:
    """What it is, why, since when, and which key goes on from here; a long why is cut, never the keys."""
    if isinstance(subject, CapabilityRow):
        what, why, since, keys = _about_capability(subject, look)
    elif isinstance(subject, RejectionRow):
        what, why, since, keys = _about_rejection(subject, look)
    elif isinstance(subject, HeldRow):
        what, why, since, keys = _about_held(subject, look)
    elif isinstance(subject, IdleRow):
        what, why, since, keys = line((f"· {subject.path}", Ink.STRONG)), line(subject.why), EMPTY, _keys("e", "editor")
    elif isinstance(subject, AuditRow):
        what, why, since, keys = _about_record(subject)
    else:
        return fit(EMPTY, width)
    tail = join((since, keys))
    room = max(0, width - measure(tail) - 2)
    return fit(join((_within(join((what, why)), room), tail)), width)


def _within(content: Line, width: int) -> Line:
    """``content`` cut to at most ``width`` cells, not padded."""
    return content if measure(content) <= width else fit(content, width)


_About = tuple[Line, Line, Line, Line]


def _about_capability(row: CapabilityRow, look: Look) -> _About:
    what = join((state_label(row.state, look), line((row.id, Ink.STRONG))))
    since = line((f"since {clock(row.since, look)}", Ink.DIM))
    refused = next((item for item in row.beside if item.what == "refused"), None)
    if refused:
        why = line(("disk refused ", Ink.BAD), (f"{refused.code} {refused.place}", Ink.BAD))
        return what, why, since, _keys("3", "why", "e", "editor")
    held = next((item for item in row.beside if item.what == "held"), None)
    if held:
        why = line((f"{held.number} {WAITS[held.waits_for]} {held.code}", Ink.WARN))
        return what, why, since, _keys("3", "why", *_decide(held.waits_for))
    if row.generation is None:
        return (
            what,
            line(row.reason),
            since,
            _keys("3", "why") if row.state is State.REJECTED else _keys("a", "actions"),
        )
    why = line(row.reason) if row.reason else line((_where(row), Ink.WARN)) if _moved(row) else served(row)
    return what, why, since, _keys("c", "call", "d", "describe")


def _about_rejection(row: RejectionRow, look: Look) -> _About:
    first = row.diagnostics[0] if row.diagnostics else None
    why = f"{first.code} {first.message}" if first else ""
    meanwhile = f"{row.serving} serves" if row.serving else "nothing serves"
    since = line((f"since {clock(row.at, look)}, {meanwhile}", Ink.DIM))
    return line((f"✗ {row.key}", Ink.BAD)), line(why), since, _keys("enter", "read", "e", "editor")


def _about_held(row: HeldRow, look: Look) -> _About:
    first = row.diagnostics[0] if row.diagnostics else None
    why = f"{WAITS[row.waits_for]}: {first.code} {first.message}" if first else WAITS[row.waits_for]
    meanwhile = f"{row.serving} serves" if row.serving else "nothing serves"
    since = line((f"since {clock(row.since, look)}, {meanwhile}", Ink.DIM))
    return line((f"◌ {row.id}", Ink.WARN)), line(why), since, _keys("enter", "read", *_decide(row.waits_for))


def _decide(waits_for: str) -> tuple[str, str]:
    """The key that goes on from there."""
    return {"trust": ("T", "trust"), "restart": ("a", "restart")}.get(waits_for, ("a", "approve"))


def _about_record(row: AuditRow) -> _About:
    took = f" in {duration(row.duration_us / 1000)}" if row.duration_us else ""
    ink = Ink.BAD if row.error_kind else Ink.PLAIN
    what = line((f"#{row.seq} ", Ink.DIM), (row.capability_id, Ink.STRONG), f" {row.code}{took}")
    return what, line((row.error_kind, ink)), line((row.request_id, Ink.DIM)), _keys("enter", "record")


def _keys(*words: str) -> Line:
    spans: list[tuple[str, Ink]] = []
    for key, label in zip(words[::2], words[1::2], strict=True):
        spans += [("  " if spans else "", Ink.PLAIN), (key, Ink.KEY), (f" {label}", Ink.DIM)]
    return line(*spans)
