"""What was refused, and why: kept over repairs and restarts, the newest of each."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass, replace

from evatui.kernel.storage.database import Database

__all__ = ["KEPT", "KEPT_OF_EACH", "Refused", "RejectionBook"]

KEPT_OF_EACH = 10
"""Refusals of one capability, or of one file that speaks for none."""
KEPT = 500
_COLUMNS = "capability_id, path, digest, at, summary, diagnostics, against, difference"


@dataclass(frozen=True, slots=True)
class Refused:
    """``diagnostics`` and ``difference`` are JSON and no business of this room.

    ``against`` is the generation that ``difference`` holds it against, empty where nothing served; ``summary`` is
    the first diagnostic as a line.
    """

    capability_id: str | None
    path: str
    digest: str
    at: str
    summary: str
    diagnostics: str
    against: str
    difference: str


class RejectionBook:
    """Thread-safe, and blocking: for worker threads. Raises `StorageError`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def keep(self, refused: Refused) -> Refused:
        """Keeps a refusal and lets go of the oldest; returns it as it now stands.

        The same bytes refused again are one refusal. What they were held against at first is kept where nothing
        serves by now, as after a restart.
        """
        with self._database.transaction() as rows:
            known = _found(rows, "path = ? AND digest = ?", refused.path, refused.digest)
            if known and not refused.against:
                refused = replace(refused, against=known[0].against, difference=known[0].difference)
            rows.execute("DELETE FROM rejections WHERE path = ? AND digest = ?", (refused.path, refused.digest))
            subject = refused.capability_id or refused.path
            rows.execute(
                f"INSERT INTO rejections (subject, {_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (subject, *_values(refused)),
            )
            rows.execute(
                "DELETE FROM rejections WHERE subject = ? AND seq <= "
                "(SELECT seq FROM rejections WHERE subject = ? ORDER BY seq DESC LIMIT 1 OFFSET ?)",
                (subject, subject, KEPT_OF_EACH),
            )
            rows.execute(
                "DELETE FROM rejections WHERE seq <= (SELECT seq FROM rejections ORDER BY seq DESC LIMIT 1 OFFSET ?)",
                (KEPT,),
            )
        return refused

    def of(self, name: str) -> list[Refused]:
        """Those of a capability or of a file, the newest first."""
        with self._database.reading() as rows:
            return _found(rows, "capability_id = ? OR path = ?", name, name)

    def all(self) -> list[Refused]:
        """The newest first."""
        with self._database.reading() as rows:
            return _found(rows, "1")


def _values(refused: Refused) -> Iterable[str | None]:
    return (
        refused.capability_id,
        refused.path,
        refused.digest,
        refused.at,
        refused.summary,
        refused.diagnostics,
        refused.against,
        refused.difference,
    )


def _found(rows: sqlite3.Connection, where: str, *given: str) -> list[Refused]:
    found = rows.execute(f"SELECT {_COLUMNS} FROM rejections WHERE {where} ORDER BY seq DESC", given)
    return [Refused(*row) for row in found.fetchall()]
