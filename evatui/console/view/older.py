"""What lies on disk before the rows of a list."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from evatui.console.view.timeline import Reload, What
from evatui.control.snapshot import AuditRow

__all__ = ["OLDER_AT_ONCE", "Older", "past_reloads"]

OLDER_AT_ONCE = 1_000


@dataclass(frozen=True, slots=True)
class Older:
    """The row that loads more of them: those of before ``until``."""

    until: str


_CODES = {
    "capability.published": What.PUBLISHED,
    "capability.rejected": What.REFUSED,
    "capability.held": What.HELD,
    "capability.rolled_back": What.ROLLED_BACK,
    "capability.fell_back": What.ROLLED_BACK,
    "capability.disabled": What.WITHDRAWN,
    "capability.unregistered": What.REMOVED,
    "canary.started": What.CANARY,
    "canary.promoted": What.PROMOTED,
    "canary.aborted": What.TAKEN_BACK,
    "canary.held": What.CANARY_HELD,
}


def past_reloads(rows: Iterable[AuditRow]) -> list[Reload]:
    """Reloads as the records of earlier runs tell them, which have less to say than events."""
    found = []
    for row in rows:
        what = _CODES.get(row.code)
        if what is None:
            continue
        details = row.record.get("details")
        told = details if isinstance(details, dict) else {}
        leaves = what in (What.WITHDRAWN, What.REMOVED)
        before = str(told.get("rolled_back_from") or told.get("beside") or "")
        found.append(
            Reload(
                key=f"record {row.seq}",
                at=row.at,
                id=row.capability_id,
                what=what,
                source=row.generation if leaves else before,
                target="" if leaves else row.generation,
                actor=row.actor,
                cause=row.request_id,
                ended_at=row.at,
                reason=str(told.get("reason") or ""),
                digest=str(told.get("digest") or ""),
            )
        )
    return found
