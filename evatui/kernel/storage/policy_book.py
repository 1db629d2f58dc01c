"""The policy files that were valid last, layer by layer: kept over restarts."""

from __future__ import annotations

from collections.abc import Mapping

from evatui.kernel.storage.database import Database

__all__ = ["PolicyBook"]


class PolicyBook:
    """Thread-safe, and blocking: for worker threads. Raises `StorageError`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def read(self, layer: str) -> dict[str, bytes]:
        """The files by their paths; none where nothing was ever kept."""
        with self._database.transaction() as rows:
            found = rows.execute("SELECT path, data FROM policies WHERE layer = ? ORDER BY path", (layer,))
            return dict(found.fetchall())

    def write(self, layer: str, files: Mapping[str, bytes]) -> None:
        """In the place of all that was kept of this layer."""
        with self._database.transaction() as rows:
            rows.execute("DELETE FROM policies WHERE layer = ?", (layer,))
            rows.executemany("INSERT INTO policies VALUES (?, ?, ?)", [(layer, *file) for file in files.items()])
