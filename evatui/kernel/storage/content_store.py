"""What was admitted, kept by digest: a version can be brought back when its files are long gone."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Final

import orjson

from evatui.kernel.storage.database import Database
from evatui.kernel.workspace.snapshot import Snapshot, kept_file, kept_snapshot

__all__ = ["ContentLost", "ContentStore"]


_DAMAGED: Final = "what is kept of it is damaged"


class ContentLost(Exception):
    """The store does not hold the version, or not as it was admitted."""


class ContentStore:
    """Thread-safe, and blocking: for worker threads. Raises `StorageError`.

    ``open`` gives its database, with the tables of `schema.CONTENT`, at the first use. Equal bytes are kept once.
    """

    def __init__(self, open: Callable[[], Database]) -> None:
        self._open = open
        self._lock = threading.Lock()
        self._opened: Database | None = None

    def save(self, snapshot: Snapshot) -> None:
        """All of it, or nothing. What is there already is not written again."""
        files = {written: (file.path, file.digest) for written, file in snapshot.files.items()}
        blobs = [(file.digest, file.data) for file in (snapshot.manifest, *snapshot.files.values())]
        with self._database().transaction() as rows:
            if rows.execute("SELECT 1 FROM closures WHERE digest = ?", (snapshot.digest,)).fetchone():
                return
            rows.executemany("INSERT OR IGNORE INTO blobs (digest, data) VALUES (?, ?)", blobs)
            rows.execute(
                "INSERT INTO closures (digest, path, manifest, files) VALUES (?, ?, ?, ?)",
                (snapshot.digest, snapshot.path, snapshot.manifest.digest, orjson.dumps(files).decode()),
            )
            rows.executemany("INSERT INTO uses VALUES (?, ?)", [(snapshot.digest, blob) for blob, _ in set(blobs)])

    def load(self, digest: str) -> Snapshot:
        """Raises `ContentLost`. Whatever else became of the database: it is what was saved, to the byte."""
        with self._database().transaction() as rows:
            found = rows.execute("SELECT path, manifest, files FROM closures WHERE digest = ?", (digest,)).fetchone()
            if found is None:
                raise ContentLost("it is not kept any more")
            path, manifest, named = found
            files = _files(named)
            wanted = {manifest, *(blob for _, blob in files.values())}
            query = f"SELECT digest, data FROM blobs WHERE digest IN ({', '.join('?' * len(wanted))})"
            blobs = {blob: data for blob, data in rows.execute(query, (*wanted,)) if isinstance(data, bytes)}
        read = {written: kept_file(real, blobs.get(blob, b"")) for written, (real, blob) in files.items()}
        snapshot = kept_snapshot(path, kept_file(path, blobs.get(manifest, b"")), read)
        if snapshot.digest != digest:
            raise ContentLost(_DAMAGED)
        return snapshot

    def paths(self) -> dict[str, str]:
        """Where the manifest of each kept version lay, by digest."""
        with self._database().transaction() as rows:
            return dict(rows.execute("SELECT digest, path FROM closures").fetchall())

    def retain(self, digests: Collection[str]) -> None:
        """Lets go of every other version. Takes as long as there are versions; see `let_go`."""
        with self._database().transaction() as rows:
            known = {digest for (digest,) in rows.execute("SELECT digest FROM closures")}
            _let_go(rows, known.difference(digests))

    def let_go(self, digests: Iterable[str]) -> None:
        """Of these versions, and of bytes that no other one has."""
        with self._database().transaction() as rows:
            _let_go(rows, digests)

    def close(self) -> None:
        """Idempotent."""
        with self._lock:
            if self._opened is not None:
                self._opened.close()

    def _database(self) -> Database:
        with self._lock:
            if self._opened is None:
                self._opened = self._open()
            return self._opened


def _let_go(rows: sqlite3.Connection, digests: Iterable[str]) -> None:
    for digest in digests:
        blobs = rows.execute("SELECT blob FROM uses WHERE closure = ?", (digest,)).fetchall()
        rows.execute("DELETE FROM uses WHERE closure = ?", (digest,))
        rows.execute("DELETE FROM closures WHERE digest = ?", (digest,))
        for (blob,) in blobs:
            rows.execute(
                "DELETE FROM blobs WHERE digest = ? AND NOT EXISTS (SELECT 1 FROM uses WHERE blob = ?)", (blob, blob)
            )


def _files(named: str) -> Mapping[str, tuple[str, str]]:
    try:
        return {written: (str(real), str(blob)) for written, (real, blob) in orjson.loads(named).items()}
    except (ValueError, TypeError, AttributeError):
        raise ContentLost(_DAMAGED) from None
