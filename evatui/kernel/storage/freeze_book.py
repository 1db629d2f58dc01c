"""Whether a workspace is frozen: kept over restarts."""

from __future__ import annotations

from dataclasses import dataclass

from evatui.kernel.storage.database import Database

__all__ = ["FreezeBook", "Frozen"]


@dataclass(frozen=True, slots=True)
class Frozen:
    """Since when (RFC 3339), and by whom."""

    at: str
    actor: str


class FreezeBook:
    """Thread-safe, and blocking: for worker threads. Raises `StorageError`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def read(self) -> Frozen | None:
        with self._database.transaction() as rows:
            found = rows.execute("SELECT at, actor FROM frozen").fetchone()
        return Frozen(*found) if found is not None else None

    def write(self, frozen: Frozen | None) -> None:
        with self._database.transaction() as rows:
            rows.execute("DELETE FROM frozen")
            if frozen is not None:
                rows.execute("INSERT INTO frozen VALUES (?, ?)", (frozen.at, frozen.actor))
