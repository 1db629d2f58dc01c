"""The header: who and where, how many in each state, and whether watch, audit and runtime are well."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evatui.console.view.ink import Ink, Line, fit, join, line, measure
from evatui.console.view.words import STATE_INKS, Look, clock, count, glyph
from evatui.kernel.model.lifecycle import State

if TYPE_CHECKING:
    from evatui.control.snapshot import ConsoleSnapshot, Indicator

__all__ = ["Link", "header", "tabs"]

_COUNTED = (State.ACTIVE, State.DRAINING, State.REJECTED, State.DISABLED)

_SHORT = {"In-flight": "Fly"}

_LOUD = {("audit", "unavailable"): "CALLS REFUSED"}
"""What a word means for whoever calls, where that is more than the word says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """How the console stands to the runtime, as far as the console itself knows."""

    readonly: bool = False
    dropped: int = 0
    """Rows and events that went by unread, since the start."""
    lost: bool = False
    stalled_s: int = 0
    held: bool = False
    """The screen stands still, by order."""
    simulated: bool = False
    """What it shows is a tour: load and devices are not somebody's."""


def header(snapshot: ConsoleSnapshot | None, link: Link, width: int, look: Look) -> Line:
    """One line of exactly ``width`` cells; what is long gives way to what is wrong."""
    if snapshot is None:
        return fit(line(("EVA", Ink.STRONG), ("  loading …", Ink.DIM)), width)
    right = join(_health(snapshot, link, look), "  ")
    states = join(_states(snapshot, look), " ")
    calls = line((f"{len(snapshot.calls)} call" + ("" if len(snapshot.calls) == 1 else "s"), Ink.PLAIN))
    middle = join((states, calls))
    place = snapshot.runtime.workspace if look.picture else f"{snapshot.runtime.host}:{snapshot.runtime.workspace}"
    room = width - measure(right) - measure(middle) - len("EVA ") - 4
    where = fit(line((place, Ink.DIM)), min(room, len(place))) if room > 3 else ()
    left = join((line(("EVA ", Ink.STRONG), *where), middle))
    return _ends(left, right, width)


def _states(snapshot: ConsoleSnapshot, look: Look) -> list[Line]:
    shown = []
    for state in _COUNTED:
        number = snapshot.counts.get(state)
        ink = STATE_INKS[state] if number else Ink.DIM
        shown.append(line((f"{glyph(state, look)}{count(number, look)}", ink)))
    return shown


def _health(snapshot: ConsoleSnapshot, link: Link, look: Look) -> list[Line]:
    parts = [_indicator("watch", snapshot.watch, look), _indicator("audit", snapshot.health, look)]
    if link.simulated:
        parts.insert(0, line(("SIM", Ink.LIT)))
    if link.dropped:
        parts.append(line((f"dropped {link.dropped:,}", Ink.WARN)))
    if snapshot.trust.waiting:
        parts.append(line(("UNTRUSTED", Ink.WARN)))
    if snapshot.runtime.frozen:
        parts.append(line(("FROZEN", Ink.WARN)))
    if link.held:
        parts.append(line(("HELD", Ink.WARN)))
    if link.readonly:
        parts.append(line(("READ-ONLY", Ink.WARN)))
    if snapshot.runtime.attached:
        parts.append(line((f"attached pid {snapshot.runtime.pid}", Ink.INFO)))
    if link.lost:
        parts.append(line(("✗ LOST", Ink.BAD)))
    elif not snapshot.standing.ok:
        parts.append(line((f"✗ {snapshot.standing.word.upper()}", Ink.BAD)))
    elif link.stalled_s:
        parts.append(line((f"stalled {link.stalled_s} s", Ink.BAD)))
    else:
        parts.append(line(("● live", Ink.OK)))
    return parts


def _indicator(name: str, indicator: Indicator, look: Look) -> Line:
    if indicator.ok:
        well = (f"~ {indicator.word}", Ink.WARN) if indicator.word else ("●", Ink.OK)
        return line((f"{name} ", Ink.DIM), well)
    since = f" since {clock(indicator.since, look)}" if indicator.since else ""
    word = _LOUD.get((name, indicator.word), indicator.word or "failed")
    return line((f"{name} ", Ink.DIM), (f"✗ {word}{since}", Ink.BAD))


def tabs(views: Sequence[tuple[str, str, int]], current: str, trail: Line, width: int) -> Line:
    """Keys, names and badge numbers of the views, and on the right where one is.

    Where they have no room, the names of those that are not on are cut to three letters.
    """
    room = width - measure(trail) - 1
    whole, cut = (join((_tab(*view, current, short=short) for view in views), "") for short in (False, True))
    return _ends(whole if measure(whole) <= room else cut, trail, width)


def _tab(key: str, title: str, badge: int, current: str, *, short: bool) -> Line:
    here = title == current
    name = _SHORT.get(title, title[:3]) if short and not here else title
    text = f" {key} {name}" + (f"({badge})" if badge else "") + " "
    loud = badge and title != "In-flight"
    return line((text, Ink.HERE if here else Ink.WARN if loud else Ink.DIM))


def _ends(left: Line, right: Line, width: int) -> Line:
    room = width - measure(right) - 1
    if room < 8:
        return fit(left, width)
    return (*fit(left, room), (" ", Ink.PLAIN), *right)
