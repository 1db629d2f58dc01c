"""The history of generations and the operator's holds: what a restart must not forget."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from evatui.kernel.model.clock import rfc3339
from evatui.kernel.model.ids import generation_id
from evatui.kernel.storage.database import Database

__all__ = ["ABSENT", "GenerationRecord", "History", "Hold", "Quarantine", "Recorded", "Served"]

ABSENT: Final = ""
"""In place of a digest: there is no manifest on disk."""

_NUMBER = re.compile(r"g[0-9]{1,15}", re.ASCII)


class Hold(StrEnum):
    """What an operator ordered, in force over reload and restart until ``enable``."""

    DRAINED = "drained"
    DISABLED = "disabled"


@dataclass(frozen=True, slots=True)
class GenerationRecord:
    """``number`` is the generation's in the workspace; neither it nor ``generation_id`` is ever given twice."""

    number: int
    generation_id: str


@dataclass(frozen=True, slots=True)
class Served:
    """A generation that went into service, last at ``at``."""

    number: int
    generation_id: str
    version: str
    digest: str
    at: str
    state_schema: int | None = None


@dataclass(frozen=True, slots=True)
class Recorded:
    """A generation as the history has it; ``served_at`` is when it last went into service, None where it never did."""

    number: int
    generation_id: str
    version: str
    digest: str
    created_at: str
    served_at: str | None


@dataclass(frozen=True, slots=True)
class Quarantine:
    """Bytes, or `ABSENT`, that must not decide what serves until they change or someone tries them again."""

    capability_id: str
    digest: str
    generation: int | None
    reason: str
    actor: str
    at: str


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

    def serves(self, capability_id: str, number: int, at: dt.datetime, state_schema: int | None = None) -> int:
        """The generation goes into service, with state of that schema; the row is for `withdraw`."""
        with self._database.transaction() as rows:
            made = rows.execute(
                "INSERT INTO servings (capability_id, generation, at, state_schema) VALUES (?, ?, ?, ?) RETURNING seq",
                (capability_id, number, rfc3339(at), state_schema),
            ).fetchone()
        return int(made[0])

    def withdraw(self, serving: int) -> None:
        """It did not go into service after all."""
        with self._database.transaction() as rows:
            rows.execute("DELETE FROM servings WHERE seq = ?", (serving,))

    def state_schema(self, capability_id: str) -> int | None:
        """Of what went into service last; None where that is not known."""
        with self._database.reading() as rows:
            found = rows.execute(
                "SELECT state_schema FROM servings WHERE capability_id = ? ORDER BY seq DESC LIMIT 1", (capability_id,)
            ).fetchone()
        return found[0] if found else None

    def served(self) -> dict[str, list[Served]]:
        """What served of each id and was not let go of, the latest first, each digest once.

        In the order in which they went into service, whatever the clock said then.
        """
        found: dict[str, list[Served]] = {}
        with self._database.transaction() as rows:
            for capability_id, *fields in rows.execute(
                "SELECT capability_id, number, generation_id, version, digest, at, state_schema FROM ("
                " SELECT g.capability_id, g.number, g.generation_id, g.version, g.digest, s.at, s.state_schema, s.seq,"
                "  row_number() OVER (PARTITION BY g.capability_id, g.digest ORDER BY s.seq DESC) AS latest"
                "  FROM servings AS s JOIN generations AS g ON g.number = s.generation WHERE s.kept"
                ") WHERE latest = 1 ORDER BY seq DESC"
            ):
                found.setdefault(capability_id, []).append(Served(*fields))
        return found

    def let_go(self, capability_id: str, digests: Iterable[str]) -> None:
        """These versions cannot be brought back any more; that they served stays on record."""
        with self._database.transaction() as rows:
            rows.executemany(
                "UPDATE servings SET kept = 0 WHERE capability_id = ? AND kept"
                " AND (SELECT digest FROM generations WHERE number = generation) = ?",
                [(capability_id, digest) for digest in digests],
            )

    def pin(self, capability_id: str, digest: str) -> None:
        """The version that a person went back to, instead of the one before; empty: none."""
        with self._database.transaction() as rows:
            rows.execute("DELETE FROM pins WHERE capability_id = ?", (capability_id,))
            if digest:
                rows.execute("INSERT INTO pins (capability_id, digest) VALUES (?, ?)", (capability_id, digest))

    def pins(self) -> dict[str, str]:
        """The digest by id."""
        with self._database.transaction() as rows:
            return dict(rows.execute("SELECT capability_id, digest FROM pins").fetchall())

    def generations(self, capability_id: str, most: int) -> list[Recorded]:
        """Of one id, the newest first."""
        with self._database.transaction() as rows:
            found = rows.execute(
                "SELECT number, generation_id, version, digest, created_at,"
                " (SELECT at FROM servings WHERE generation = number ORDER BY seq DESC LIMIT 1)"
                " FROM generations WHERE capability_id = ? ORDER BY number DESC LIMIT ?",
                (capability_id, most),
            ).fetchall()
        return [Recorded(*fields) for fields in found]

    def named(self, name: str) -> tuple[str, Recorded] | None:
        """The generation with this id or number (``g41``), and the id of its capability; None where there is none."""
        number = int(name[1:]) if _NUMBER.fullmatch(name) else None
        with self._database.transaction() as rows:
            found = rows.execute(
                "SELECT capability_id, number, generation_id, version, digest, created_at,"
                " (SELECT at FROM servings WHERE generation = number ORDER BY seq DESC LIMIT 1)"
                " FROM generations WHERE generation_id = ? OR number = ?",
                (name, number),
            ).fetchone()
        return (found[0], Recorded(*found[1:])) if found else None

    def quarantine(self, capability_id: str, new: Iterable[Quarantine], lifted: Iterable[str]) -> None:
        """Both at once; ``lifted`` are digests."""
        with self._database.transaction() as rows:
            rows.executemany(
                "DELETE FROM quarantines WHERE capability_id = ? AND digest = ?",
                [(capability_id, digest) for digest in lifted],
            )
            rows.executemany(
                "INSERT OR REPLACE INTO quarantines VALUES (?, ?, ?, ?, ?, ?)",
                [(one.capability_id, one.digest, one.generation, one.reason, one.actor, one.at) for one in new],
            )

    def quarantines(self) -> dict[str, dict[str, Quarantine]]:
        """Every one, by id and digest."""
        found: dict[str, dict[str, Quarantine]] = {}
        with self._database.transaction() as rows:
            for fields in rows.execute("SELECT capability_id, digest, generation, reason, actor, at FROM quarantines"):
                quarantine = Quarantine(*fields)
                found.setdefault(quarantine.capability_id, {})[quarantine.digest] = quarantine
        return found
