"""From a snapshot to the rows of each list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evatui.console.view.canary import canary_brief
from evatui.console.view.ink import EMPTY, Ink, Line, join, line
from evatui.console.view.numbers import number_of
from evatui.console.view.table import Column, Level, Row
from evatui.console.view.words import WAITS, Look, clock, count, duration, seconds, state_label
from evatui.control.snapshot import AuditRow, Beside, CapabilityRow, ConsoleSnapshot
from evatui.kernel.model.ids import fold
from evatui.kernel.model.lifecycle import State

__all__ = [
    "AUDIT_COLUMNS",
    "REGISTRY_COLUMNS",
    "RegistryRows",
    "audit_row",
    "beside",
    "counts_down",
    "folded",
    "marked",
    "registry_rows",
    "served",
]

REGISTRY_COLUMNS = (
    Column(title="STATE", width=10),
    Column(title="CAPABILITY", width=19, flex=5),
    Column(title="SERVES", width=6),
    Column(title="VERSION", width=9, need=94),
    Column(title="ALSO", width=30, flex=4),
    Column(title="FLY", width=3, right=True),
    Column(title="CALLS", width=7, right=True, need=104),
    Column(title="ERR", width=4, right=True, need=86),
    Column(title="SINCE", width=8, need=114),
)
_STATE_ORDER = {
    state: index
    for index, state in enumerate(
        (State.REJECTED, State.DRAINING, State.PENDING, State.SHADOW, State.ACTIVE, State.DISABLED, State.UNREGISTERED)
    )
}

AUDIT_COLUMNS = (
    Column(title="TIME", width=8),
    Column(title="WHAT", width=19, flex=1),
    Column(title="CAPABILITY", width=16, flex=3),
    Column(title="GEN", width=8),
    Column(title="TOOK", width=7, right=True),
    Column(title="ERROR", width=9, flex=1),
    Column(title="ACTOR", width=8, flex=1, need=88),
)
_LEVELS = {"intent": Level.DETAIL, "denied": Level.WARN, "unknown": Level.WARN, "error": Level.ERROR}
_OUTCOMES = {
    "ok": ("✓", Ink.OK),
    "error": ("✗", Ink.BAD),
    "denied": ("✗", Ink.WARN),
    "intent": ("·", Ink.DIM),
    "unknown": ("?", Ink.WARN),
}


def registry_rows(snapshot: ConsoleSnapshot, look: Look, elapsed: float = 0.0) -> list[Row]:
    """One row a capability; ``elapsed`` is the age of the snapshot in seconds, for what counts down."""
    return RegistryRows(look).of(snapshot, elapsed)


class RegistryRows:
    """Makes the rows of the registry, and keeps those of capabilities of which nothing has changed."""

    def __init__(self, look: Look) -> None:
        self._look = look
        self._kept: dict[str, tuple[CapabilityRow, Row]] = {}

    def of(self, snapshot: ConsoleSnapshot, elapsed: float) -> list[Row]:
        """As `registry_rows`."""
        kept = self._kept
        self._kept = {row.id: self._one(row, kept.get(row.id), elapsed) for row in snapshot.capabilities}
        return [row for _, row in self._kept.values()]

    def _one(
        self, capability: CapabilityRow, kept: tuple[CapabilityRow, Row] | None, elapsed: float
    ) -> tuple[CapabilityRow, Row]:
        moves = any(item.seconds_left is not None for item in capability.beside)
        if kept is not None and not moves and (kept[0] is capability or kept[0] == capability):
            return capability, kept[1]
        return capability, _registry_row(capability, self._look, elapsed)


def _registry_row(row: CapabilityRow, look: Look, elapsed: float) -> Row:
    also = join((beside(item, look, elapsed) for item in row.beside), "  ") or _remark(row)
    errors = line((count(row.errors, look), Ink.BAD if row.errors else Ink.DIM))
    flying = line((count(row.in_flight, look), Ink.STRONG if row.in_flight else Ink.DIM))
    return Row(
        key=row.id,
        cells=(
            state_label(row.state, look),
            line((row.id, Ink.STRONG if row.state is not State.UNREGISTERED else Ink.DIM)),
            line((row.number or "–", Ink.PLAIN if row.number else Ink.DIM)),
            line((row.version, Ink.DIM)),
            also,
            flying,
            line((count(row.calls, look), Ink.DIM)),
            errors,
            line((clock(row.since, look), Ink.DIM)),
        ),
        order=(
            _STATE_ORDER[row.state],
            fold(row.id),
            row.number or "",
            row.version,
            len(row.beside),
            row.in_flight,
            row.calls,
            row.errors,
            row.since,
        ),
        folded=folded(
            row.id,
            row.name,
            row.version,
            row.path,
            row.script,
            row.reason,
            *row.marks,
            cap=row.id,
            gen=tuple(item.number for item in row.generations),
            kind=row.kind,
            state=row.state.value,
        ),
    )


def served(row: CapabilityRow) -> Line:
    """``g41 1.2.0``, or a dash where nothing serves."""
    if row.number is None:
        return line(("–", Ink.DIM))
    return line(row.number, (f" {row.version}", Ink.DIM))


def _remark(row: CapabilityRow) -> Line:
    if row.queued:
        return line((f"{row.queued} queued", Ink.WARN))
    if row.behind:
        return line(("behind ", Ink.DIM), ("; ".join(row.behind), Ink.INFO))
    if row.marks or row.errors:
        return join((marked(row), line((f"{row.errors:,} of {row.calls:,} failed", Ink.BAD)) if row.errors else EMPTY))
    if row.on_disk not in ("same", ""):
        return line((f"disk {row.on_disk}", Ink.WARN))
    return line((row.reason, Ink.DIM)) if row.state is not State.ACTIVE else ()


def marked(row: CapabilityRow) -> Line:
    """What stands out about it, in words."""
    ink = Ink.INFO if row.marks == ("process",) else Ink.WARN
    return line((", ".join(_MARKS.get(mark, mark) for mark in row.marks), ink)) if row.marks else EMPTY


_MARKS = {"quarantined": "disk rolled back"}


def beside(item: Beside, look: Look, elapsed: float = 0.0) -> Line:
    """What lives beside the serving generation, as the ALSO column says it."""
    if item.what == "draining":
        calls = f"{item.calls} call" + ("" if item.calls == 1 else "s")
        left = f", {seconds(item.seconds_left, elapsed)} left" if item.seconds_left is not None else ""
        return line((f"◐ {item.number} drains {calls}{left}", Ink.WARN))
    if item.canary is not None:
        return canary_brief(item.canary, elapsed)
    if item.what == "refused":
        number = item.place.rpartition(":")[2]
        return line(("✗ disk refused ", Ink.BAD), (f"{item.code} line {number}" if number else item.code, Ink.BAD))
    return line((f"◌ {item.number} {WAITS[item.waits_for]}".replace("  ", " "), Ink.WARN))


def counts_down(snapshot: ConsoleSnapshot) -> bool:
    """Whether something on the registry changes by the second."""
    return any(item.seconds_left is not None for row in snapshot.capabilities for item in row.beside)


def audit_row(row: AuditRow, look: Look, numbers: Mapping[str, str]) -> Row:
    """A record as a line; its key is its sequence number. ``numbers`` names generations by their ids."""
    number = number_of(row.generation, numbers)
    sign, ink = _OUTCOMES.get(row.outcome, ("·", Ink.PLAIN))
    took = row.duration_us / 1000
    return Row(
        key=str(row.seq),
        cells=(
            line((clock(row.at, look), Ink.DIM)),
            line((f"{sign} ", ink), row.code),
            line((row.capability_id or row.capability, Ink.STRONG)),
            line((number, Ink.DIM)),
            line((duration(took) if row.duration_us else "", Ink.PLAIN)),
            line((row.error_kind, Ink.BAD)),
            line((row.actor, Ink.DIM)),
        ),
        order=(
            row.seq,
            row.code,
            fold(row.capability_id),
            row.generation,
            row.duration_us,
            row.error_kind,
            row.actor,
        ),
        folded=folded(
            row.capability,
            row.code,
            row.outcome,
            row.actor,
            cap=row.capability_id,
            gen=(number, row.generation),
            req=row.request_id,
            err=row.error_kind,
        ),
        weight_ms=took,
        level=_LEVELS.get(row.outcome, Level.INFO),
    )


def folded(
    *words: str,
    cap: str | None = "",
    gen: Sequence[str] = (),
    req: str = "",
    err: str = "",
    kind: str = "",
    state: str = "",
) -> str:
    """What a filter looks through; every field ends in a blank, so that a whole one can be told from a longer one."""
    fields = (
        f"cap:{cap}" if cap else "",
        *(f"gen:{number}" for number in gen if number),
        f"req:{req}" if req else "",
        f"err:{err}" if err else "",
        f"kind:{kind}" if kind else "",
        f"state:{state}" if state else "",
    )
    return "".join(f"{word} " for word in (*words, *fields) if word).casefold()
