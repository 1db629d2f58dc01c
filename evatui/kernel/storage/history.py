"""The history of generations and the operator's holds: what a restart must not forget."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from enum import StrEnum

from evatui.kernel.model.clock import rfc3339
from evatui.kernel.model.ids import generation_id
from evatui.kernel.storage.database import Database

__all__ = ["GenerationRecord", "History", "Hold"]


class Hold(StrEnum):
    """What an operator ordered, in force over reload and restart until ``enable``."""

    DRAINED = "drained"
    DISABLED = "disabled"


@dataclass(frozen=True, slots=True)
class GenerationRecord:
    """``number`` is the generation's in the workspace; neither it nor ``generation_id`` is ever given twice."""

    number: int
    generation_id: str


class History:
    """Thread-safe, and blocking: for worker threads. Raises `StorageError`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def record_generation(
        self, capability_id: str, version: str, digest: str, at: dt.datetime, *, fresh: bool = False
    ) -> GenerationRecord:
        """The generation of this closure: the one that it had before, or a new one.

        ``fresh`` always makes a new one: a rollback is a generation of its own. The id counts per capability and UTC
        day of ``at``.
        """
        day = at.astimezone(dt.UTC).date()
        with self._database.transaction() as rows:
            known = rows.execute(
                "SELECT number, generation_id FROM generations"
                " WHERE capability_id = ? AND version = ? AND digest = ? ORDER BY number DESC LIMIT 1",
                (capability_id, version, digest),
            ).fetchone()
            if known and not fresh:
                return GenerationRecord(*known)
            (last,) = rows.execute(
                "SELECT coalesce(max(nth), 0) FROM generations WHERE capability_id = ? AND day = ?",
                (capability_id, day.isoformat()),
            ).fetchone()
            name = generation_id(capability_id, version, day, last + 1)
            made = rows.execute(
                "INSERT INTO generations (capability_id, version, digest, day, nth, generation_id, created_at)"
                " VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING number",
                (capability_id, version, digest, day.isoformat(), last + 1, name, rfc3339(at)),
            ).fetchone()
        return GenerationRecord(made[0], name)

    def set_hold(self, capability_id: str, hold: Hold | None) -> None:
        """None lifts it."""
        with self._database.transaction() as rows:
            rows.execute("DELETE FROM holds WHERE capability_id = ?", (capability_id,))
            if hold is not None:
                rows.execute("INSERT INTO holds (capability_id, hold) VALUES (?, ?)", (capability_id, hold.value))

    def holds(self) -> dict[str, Hold]:
        with self._database.transaction() as rows:
            return {name: Hold(hold) for name, hold in rows.execute("SELECT capability_id, hold FROM holds")}
