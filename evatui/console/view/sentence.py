"""The status line's sentence: what the selected thing is, why, since when, and what can be pressed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evatui.console.view.detail import is_moved, where
from evatui.console.view.devices import DeviceRow
from evatui.console.view.extensions import extension_preview
from evatui.console.view.ink import EMPTY, Ink, Line, fit, join, line, measure
from evatui.console.view.older import OLDER_AT_ONCE, Older
from evatui.console.view.reloads import what_label
from evatui.console.view.timeline import Reload
from evatui.console.view.words import WAITS, Look, clock, duration, state_label
from evatui.control.adapter_rows import AdapterRow
from evatui.control.client_sessions import ClientRow
from evatui.control.deciding import HeldRow, IdleRow
from evatui.control.extensions import PluginRow, PluginTaskRow, RefusedRow, SkillRow
from evatui.control.snapshot import AuditRow, CallRow, CapabilityRow, RejectionRow
from evatui.kernel.model.lifecycle import State

if TYPE_CHECKING:
    from evatui.console.view.enabled import Subject

__all__ = ["sentence"]


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
    elif isinstance(subject, Reload):
        what, why, since, keys = _about_reload(subject, look)
    elif isinstance(subject, Older):
        what, why, since = (
            line(("· older on disk", Ink.INFO)),
            EMPTY,
            line((f"before {clock(subject.until, look)}", Ink.DIM)),
        )
        keys = _keys("enter", f"loads {OLDER_AT_ONCE:,}")
    elif isinstance(subject, DeviceRow):
        what, why = line((subject.label, Ink.STRONG), f" {subject.state.replace('_', ' ')}"), line(subject.reason)
        since, keys = line((subject.fix, Ink.INFO)), _keys("enter", "open")
    elif isinstance(subject, AdapterRow | SkillRow | RefusedRow | PluginRow):
        what, why, *_ = (*extension_preview(subject, 400), EMPTY)
        since, keys = EMPTY, _keys("enter", "open", "e", "editor")
    elif isinstance(subject, PluginTaskRow):
        what, why, *_ = (*extension_preview(subject, 400), EMPTY)
        since, keys = EMPTY, _keys("enter", "open", *(() if subject.ended else ("x", "cancel")))
    elif isinstance(subject, ClientRow):
        what, why, *_ = (*extension_preview(subject, 400), EMPTY)
        since, keys = EMPTY, _keys("enter", "open")
    elif isinstance(subject, CallRow):
        what, why, since, keys = _about_call(subject, look)
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
    if row.on_disk == "quarantined":
        return what, line(("disk rolled back", Ink.WARN)), since, _keys("v", "diff", "a", "retry")
    why = line(row.reason) if row.reason else line((where(row), Ink.WARN)) if is_moved(row) else line(row.number or "")
    return what, why, since, _keys("d", "describe", "w", "why")


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
    return what, line((row.error_kind, ink)), EMPTY, _keys("enter", "record")


def _about_reload(row: Reload, look: Look) -> _About:
    what = join((what_label(row.what), line((row.id, Ink.STRONG))))
    why = f"{row.diagnostics[0].get('code')} {row.diagnostics[0].get('message')}" if row.diagnostics else row.reason
    return what, line(why), line((f"at {clock(row.at, look)}", Ink.DIM)), _keys("enter", "open", "o", "related")


def _about_call(row: CallRow, look: Look) -> _About:
    what = line(
        ("waits " if row.queued else "runs ", Ink.WARN if row.queued else Ink.OK), (row.capability_id, Ink.STRONG)
    )
    why = line(row.number, f" in {row.host_call}" if row.host_call else "", (f" for {row.caller}", Ink.DIM))
    return what, why, line((f"since {clock(row.started_at, look)}", Ink.DIM)), _keys("x", "cancel", "o", "related")


def _keys(*words: str) -> Line:
    spans: list[tuple[str, Ink]] = []
    for key, label in zip(words[::2], words[1::2], strict=True):
        spans += [("  " if spans else "", Ink.PLAIN), (key, Ink.KEY), (f" {label}", Ink.DIM)]
    return line(*spans)
