"""The rows of the view Reloads, and the selected one in full."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping

from evatui.console.view.ink import EMPTY, Ink, Line, join, line, wrap
from evatui.console.view.numbers import number_of
from evatui.console.view.rows import folded
from evatui.console.view.table import Column, Level, Row
from evatui.console.view.timeline import Reload, What
from evatui.console.view.words import Look, clock, duration
from evatui.kernel.model.ids import fold

__all__ = ["RELOAD_COLUMNS", "moved", "reload_brief", "reload_head", "reload_preview", "reload_row", "what_label"]

RELOAD_COLUMNS = (
    Column(title="TIME", width=8),
    Column(title="WHAT", width=13),
    Column(title="CAPABILITY", width=16, flex=3),
    Column(title="FROM → TO", width=19, flex=1),
    Column(title="TOOK", width=7, right=True, need=88),
    Column(title="WHY", width=10, flex=4),
    Column(title="BY", width=8, flex=1, need=96),
)

_SIGNS: Mapping[What, tuple[str, Ink]] = {
    What.LOADING: ("…", Ink.INFO),
    What.PUBLISHED: ("●", Ink.OK),
    What.REFUSED: ("✗", Ink.BAD),
    What.HELD: ("◌", Ink.WARN),
    What.CANARY: ("◌", Ink.INFO),
    What.PROMOTED: ("●", Ink.OK),
    What.TAKEN_BACK: ("✗", Ink.BAD),
    What.CANARY_HELD: ("◌", Ink.WARN),
    What.ROLLED_BACK: ("●", Ink.WARN),
    What.WITHDRAWN: ("⊘", Ink.WARN),
    What.REMOVED: ("·", Ink.DIM),
    What.OVERTAKEN: ("·", Ink.DIM),
}
_MEANS: Mapping[What, str] = {
    What.LOADING: "It is being checked; what served goes on.",
    What.PUBLISHED: "It serves; new calls go to it.",
    What.REFUSED: "It was refused; what served goes on.",
    What.HELD: "It is sound, and waits for a person.",
    What.CANARY: "It is tried out beside what serves.",
    What.PROMOTED: "The canary takes all calls.",
    What.TAKEN_BACK: "The canary takes no more calls.",
    What.CANARY_HELD: "Its time is over without a verdict: promote or abort (a).",
    What.ROLLED_BACK: "An earlier version serves again, as a new generation.",
    What.WITHDRAWN: "It takes no new calls, and nothing came in its place.",
    What.REMOVED: "Its manifest is gone, and so is it.",
    What.OVERTAKEN: "A newer version came before it was ready.",
}
_LEVELS: Mapping[What, Level] = {
    What.REFUSED: Level.ERROR,
    What.TAKEN_BACK: Level.ERROR,
    What.HELD: Level.WARN,
    What.CANARY_HELD: Level.WARN,
    What.ROLLED_BACK: Level.WARN,
    What.WITHDRAWN: Level.WARN,
    What.OVERTAKEN: Level.DETAIL,
}


def meaning(reload: Reload) -> str:
    """What it is to whoever calls."""
    if reload.what is What.REFUSED and not reload.source:
        return "It was refused, and nothing answers in its place."
    return _MEANS[reload.what]


def what_label(what: What) -> Line:
    """``● published``."""
    sign, ink = _SIGNS[what]
    return line((f"{sign} {what.value}", ink))


def moved(reload: Reload, numbers: Mapping[str, str]) -> Line:
    """``g41 → g42``; a dash for what is not there."""
    source, target = number_of(reload.source, numbers), number_of(reload.target, numbers)
    if not source and not target:
        return line(("–", Ink.DIM))
    if reload.what is What.TAKEN_BACK:
        source, target = target, source
    return line((source or "–", Ink.DIM), (" → ", Ink.DIM), (target or "–", Ink.PLAIN if target else Ink.DIM))


def reload_row(reload: Reload, numbers: Mapping[str, str], look: Look) -> Row:
    took, why = took_ms(reload), _why(reload)
    source, target = number_of(reload.source, numbers), number_of(reload.target, numbers)
    return Row(
        key=reload.key,
        cells=(
            line((clock(reload.at, look), Ink.DIM)),
            what_label(reload.what),
            line((reload.id, Ink.STRONG)),
            moved(reload, numbers),
            line((duration(took), Ink.DIM)) if took is not None else EMPTY,
            why,
            line((reload.actor, Ink.DIM)),
        ),
        order=(reload.at, reload.what.value, fold(reload.id), target, took or 0.0, reload.reason, reload.actor),
        folded=folded(
            reload.what.value,
            reload.reason,
            reload.actor,
            *(f"{item.get('code')} {item.get('message')}" for item in reload.diagnostics),
            cap=reload.id,
            gen=(source, target),
            req=reload.cause,
            err=reload.reason if reload.what is What.REFUSED else "",
        ),
        weight_ms=took,
        level=_LEVELS.get(reload.what, Level.INFO),
    )


def took_ms(reload: Reload) -> float | None:
    """From its beginning until it went into service, or was refused or held; None where that is not over."""
    if not reload.ended_at or reload.ended_at == reload.at:
        return None
    passed = dt.datetime.fromisoformat(reload.ended_at) - dt.datetime.fromisoformat(reload.at)
    return max(0.0, passed.total_seconds() * 1000)


def _why(reload: Reload) -> Line:
    if reload.diagnostics:
        first = reload.diagnostics[0]
        return line((f"{first.get('code')} ", Ink.BAD), str(first.get("message") or ""))
    if reload.cut:
        return line((f"{reload.cut} call{'' if reload.cut == 1 else 's'} cut", Ink.BAD))
    if reload.draining:
        return line(("the version before drains", Ink.WARN))
    return line((reload.reason.replace("_", " "), Ink.DIM))


def reload_brief(reload: Reload, numbers: Mapping[str, str], width: int, look: Look) -> list[Line]:
    """The preview of a short screen: two lines of what the status line does not say, and all of why."""
    took = took_ms(reload)
    after = line((f"after {duration(took)}", Ink.DIM)) if took is not None else EMPTY
    return [
        join((moved(reload, numbers), after, line((f"by {reload.actor}", Ink.DIM)))),
        _why(reload) or line((meaning(reload), Ink.DIM)),
    ]


def reload_head(reload: Reload, numbers: Mapping[str, str], look: Look) -> list[Line]:
    """What stands above what it changed: when, by whom, and what became of it."""
    took = took_ms(reload)
    ended = f"{reload.what.value} after {duration(took)}" if took is not None else ""
    freed = f"the one before freed at {clock(reload.freed_at, look)}" if reload.freed_at else ""
    parts = (
        line((clock(reload.at, look, millis=True), Ink.DIM)),
        line((f"by {reload.actor}", Ink.DIM)),
        line((reload.cause, Ink.DIM)),
        line(ended),
        line((freed, Ink.DIM)),
        line(("the one before drains" if reload.draining else "", Ink.WARN)),
        line((f"{reload.cut} cut" if reload.cut else "", Ink.BAD)),
    )
    first = join((what_label(reload.what), line((reload.id, Ink.STRONG)), moved(reload, numbers)))
    reason = line((reload.reason.replace("_", " "), Ink.DIM)) if reload.reason else EMPTY
    return [first, join(parts), *((reason,) if reason else ())]


def reload_preview(reload: Reload, numbers: Mapping[str, str], width: int, look: Look) -> list[Line]:
    """What happened, in the order in which it did, and why."""
    lines: list[Line] = [
        line((reload.id, Ink.STRONG)),
        join((what_label(reload.what), moved(reload, numbers))),
        *wrap(line((meaning(reload), Ink.DIM)), width),
        EMPTY,
        line((f"{clock(reload.at, look, millis=True)}  ", Ink.DIM), "began", (f"  by {reload.actor}", Ink.DIM)),
    ]
    took = took_ms(reload)
    if took is not None:
        lines.append(
            line(
                (f"{clock(reload.ended_at, look, millis=True)}  ", Ink.DIM),
                reload.what.value if not reload.freed_at else "published",
                (f"  after {duration(took)}", Ink.DIM),
            )
        )
    if reload.freed_at:
        cut = (f", {reload.cut} cut", Ink.BAD) if reload.cut else ("", Ink.PLAIN)
        lines.append(line((f"{clock(reload.freed_at, look, millis=True)}  ", Ink.DIM), "the one before is freed", cut))
    elif reload.draining:
        lines.append(line(("now           ", Ink.DIM), ("the one before drains", Ink.WARN)))
    if reload.reason:
        lines += [EMPTY, *wrap(line(("why  ", Ink.DIM), reload.reason.replace("_", " ")), width, "     ")]
    for item in reload.diagnostics:
        lines += [EMPTY, *wrap(line((f"{item.get('code')} ", Ink.BAD), str(item.get("message") or "")), width, "  ")]
        for span in (item.get("spans") or ())[:1]:
            lines.append(line((f"  {span.get('file')}:{span.get('line')}:{span.get('column')}", Ink.DIM)))
    for name, value in (("from", reload.source), ("to", reload.target), ("ordered by", reload.cause)):
        if value:
            lines += [EMPTY, *wrap(line((f"{name}  ", Ink.DIM), value), width, "  ")]
    return lines
