"""What was granted to whom, and what a person approved: the baseline that outlives files and restarts."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass

from evatui.kernel.model.call import Actor, CallerType
from evatui.kernel.model.change import ChangeClass
from evatui.kernel.model.clock import rfc3339
from evatui.kernel.storage.database import Database

__all__ = ["Approval", "GrantBook"]


@dataclass(frozen=True, slots=True)
class Approval:
    """Bound to ``digest``, that of the whole version. ``what`` says in words what was approved."""

    capability_id: str
    digest: str
    change_class: ChangeClass
    what: str
    actor: Actor
    at: str


class GrantBook:
    """Thread-safe, and blocking: for worker threads. Raises `StorageError`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def last_grants(self) -> dict[str, tuple[int, str]]:
        """The newest grant of each id, as it was recorded, and the number of the generation that it was given to."""
        with self._database.transaction() as rows:
            found = rows.execute(
                "SELECT capability_id, generation, given FROM grants"
                " WHERE seq IN (SELECT max(seq) FROM grants GROUP BY capability_id)"
            )
            return {key: (generation, given) for key, generation, given in found}

    def grant_of(self, capability_id: str, generation: int) -> str | None:
        """What the generation was given last: where that was not recorded, the grant that it found in force."""
        with self._database.transaction() as rows:
            found = rows.execute(
                "SELECT given FROM grants WHERE capability_id = ? AND generation <= ?"
                " ORDER BY generation = ? DESC, seq DESC LIMIT 1",
                (capability_id, generation, generation),
            ).fetchone()
        return str(found[0]) if found else None

    def record(
        self, capability_id: str, generation: int, given: str, documents: Mapping[str, str], at: dt.datetime
    ) -> int:
        """From now on ``given`` is the last grant of the id; ``documents`` (schemas, by digest) are kept beside it.

        The row is for `withdraw`.
        """
        with self._database.transaction() as rows:
            rows.executemany("INSERT OR IGNORE INTO documents (digest, document) VALUES (?, ?)", documents.items())
            made = rows.execute(
                "INSERT INTO grants (capability_id, generation, given, at) VALUES (?, ?, ?, ?) RETURNING seq",
                (capability_id, generation, given, rfc3339(at)),
            ).fetchone()
        return int(made[0])

    def withdraw(self, grant: int) -> None:
        """It was not given after all: the one before it is the last again."""
        with self._database.transaction() as rows:
            rows.execute("DELETE FROM grants WHERE seq = ?", (grant,))

    def document(self, digest: str) -> str | None:
        with self._database.transaction() as rows:
            found = rows.execute("SELECT document FROM documents WHERE digest = ?", (digest,)).fetchone()
        return str(found[0]) if found else None

    def approvals(self) -> dict[tuple[str, str], Approval]:
        """Every one, by id and digest."""
        with self._database.transaction() as rows:
            found = rows.execute(
                "SELECT capability_id, digest, change_class, what, actor_type, actor_id, at FROM approvals"
            ).fetchall()
        return {
            (key, digest): Approval(key, digest, ChangeClass(kind), what, Actor(CallerType(who), name), at)
            for key, digest, kind, what, who, name, at in found
        }

    def approve(self, approval: Approval) -> None:
        """Given again, the newest one stands."""
        with self._database.transaction() as rows:
            rows.execute(
                "INSERT OR REPLACE INTO approvals VALUES (?, ?, ?, ?, ?, ?, ?)",
                (
                    approval.capability_id,
                    approval.digest,
                    approval.change_class.value,
                    approval.what,
                    approval.actor.type.value,
                    approval.actor.id,
                    approval.at,
                ),
            )

    def forget(self, capability_id: str, digest: str) -> None:
        with self._database.transaction() as rows:
            rows.execute("DELETE FROM approvals WHERE capability_id = ? AND digest = ?", (capability_id, digest))
