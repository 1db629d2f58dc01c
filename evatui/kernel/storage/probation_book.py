"""Versions that are new in service: did the runtime live through them?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from evatui.kernel.storage.database import Database

__all__ = ["DEATHS", "Probation", "ProbationBook"]

DEATHS: Final = 2
"""So many runtimes in a row that died while a version was new are one too many."""


@dataclass(frozen=True, slots=True)
class Probation:
    """``generation`` is a number of the workspace; ``deaths`` of runtimes, in a row, while it was new in service."""

    capability_id: str
    digest: str
    generation: int
    deaths: int


class ProbationBook:
    """Thread-safe, and blocking: for worker threads. Raises `StorageError`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def begin(self, capability_id: str, digest: str, generation: int) -> None:
        """It goes into service, and is new there. What was counted of the same bytes goes on to count."""
        with self._database.transaction() as rows:
            rows.execute(
                "INSERT INTO probations VALUES (?, ?, ?, 1, 0) ON CONFLICT (capability_id) DO UPDATE SET"
                " deaths = CASE digest WHEN excluded.digest THEN deaths ELSE 0 END,"
                " digest = excluded.digest, generation = excluded.generation, running = 1",
                (capability_id, digest, generation),
            )

    def end(self, digests: Iterable[tuple[str, str]]) -> None:
        """These, by id and digest, have proved themselves, or others serve in their place."""
        with self._database.transaction() as rows:
            rows.executemany("DELETE FROM probations WHERE capability_id = ? AND digest = ?", digests)

    def rest(self) -> None:
        """The runtime ends in good order: none of them is to blame for it."""
        with self._database.transaction() as rows:
            rows.execute("UPDATE probations SET running = 0, deaths = 0")

    def read(self) -> list[Probation]:
        """At a start, once: those that were in service when the last runtime died have one death more."""
        with self._database.transaction() as rows:
            rows.execute("UPDATE probations SET deaths = deaths + 1, running = 0 WHERE running = 1")
            found = rows.execute("SELECT capability_id, digest, generation, deaths FROM probations").fetchall()
        return [Probation(*fields) for fields in found]
