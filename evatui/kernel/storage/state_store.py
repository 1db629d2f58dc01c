"""The durable state of capabilities: small JSON values under keys, each with a version to compare against."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

import orjson

from evatui.kernel.model.errors import ErrorKind, failure
from evatui.kernel.model.text import clean_line
from evatui.kernel.storage.database import Database, StorageError

__all__ = [
    "MAX_KEYS",
    "MAX_KEY_CHARS",
    "MISSING",
    "StateRow",
    "StateSize",
    "StateStore",
    "check_room",
    "check_version",
    "encoded",
    "row_bytes",
]

MAX_KEYS = 1_000
MAX_KEY_CHARS = 256


class _Missing(Enum):
    MISSING = "missing"


MISSING: Final = _Missing.MISSING
"""What `StateStore.get` gives for a key that was never set; None is a value."""


@dataclass(frozen=True, slots=True)
class StateRow:
    """``bytes`` is what it counts against the limit: key and value as they are stored."""

    key: str
    value: Any
    bytes: int
    version: int


@dataclass(frozen=True, slots=True)
class StateSize:
    """What one capability has under one schema."""

    capability_id: str
    schema_version: int
    keys: int
    bytes: int


class StateStore:
    """Thread-safe, and blocking: for worker threads.

    A value belongs to a capability, a schema version and a key. Where the database cannot be used, ``HostError`` is
    raised, retryable if somebody else was writing.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self, capability_id: str, schema_version: int, key: str) -> tuple[Any, int]:
        """The value and its version; ``(MISSING, 0)`` where there is none."""
        with _explained(), self._database.reading() as rows:
            found = rows.execute(
                "SELECT value, version FROM state WHERE capability_id = ? AND schema_version = ? AND key = ?",
                (capability_id, schema_version, key),
            ).fetchone()
        return (orjson.loads(found[0]), found[1]) if found else (MISSING, 0)

    def written(self, capability_id: str, schema_version: int) -> list[str]:
        """The keys of that schema that were stored since its state was carried over from another."""
        with _explained(), self._database.reading() as rows:
            found = rows.execute(
                "SELECT key FROM state WHERE capability_id = ? AND schema_version = ? AND NOT migrated ORDER BY key",
                (capability_id, schema_version),
            ).fetchall()
        return [key for (key,) in found]

    def schemas(self, capability_id: str) -> list[int]:
        """Those that there are rows of, in order."""
        with _explained(), self._database.reading() as rows:
            found = rows.execute(
                "SELECT DISTINCT schema_version FROM state WHERE capability_id = ? ORDER BY schema_version",
                (capability_id,),
            ).fetchall()
        return [schema for (schema,) in found]

    def owners(self) -> list[StateSize]:
        """Who has state, under which schemas, and how much."""
        with _explained(), self._database.reading() as rows:
            found = rows.execute(
                "SELECT capability_id, schema_version, count(*), sum(bytes) FROM state"
                " GROUP BY capability_id, schema_version ORDER BY capability_id, schema_version"
            ).fetchall()
        return [StateSize(*fields) for fields in found]

    def rows(self, capability_id: str, schema_version: int) -> list[StateRow]:
        """All of that schema, by key."""
        with _explained(), self._database.reading() as rows:
            found = rows.execute(
                "SELECT key, value, bytes, version FROM state WHERE capability_id = ? AND schema_version = ?"
                " ORDER BY key",
                (capability_id, schema_version),
            ).fetchall()
        return [StateRow(key, orjson.loads(value), size, version) for key, value, size, version in found]

    def replace(self, capability_id: str, schema_version: int, new: Iterable[StateRow]) -> None:
        """From now on these are the rows of that schema, carried over from another: all of them, or nothing happens."""
        with _explained(), self._database.transaction() as rows:
            rows.execute(
                "DELETE FROM state WHERE capability_id = ? AND schema_version = ?", (capability_id, schema_version)
            )
            rows.executemany(
                "INSERT INTO state (capability_id, schema_version, key, value, bytes, version, migrated)"
                " VALUES (?, ?, ?, ?, ?, ?, 1)",
                [(capability_id, schema_version, row.key, encoded(row.value), row.bytes, row.version) for row in new],
            )

    def delete(self, capability_id: str, schema_version: int, key: str | None) -> int:
        """One key, or all where it is None; how many rows there were."""
        with _explained(), self._database.transaction() as rows:
            return rows.execute(
                "DELETE FROM state WHERE capability_id = ? AND schema_version = ? AND (? IS NULL OR key = ?)",
                (capability_id, schema_version, key, key),
            ).rowcount

    def prune(self, capability_id: str, kept: Collection[int]) -> None:
        """Lets go of the rows of every schema but the ``kept`` ones."""
        for schema in set(self.schemas(capability_id)).difference(kept):
            self.delete(capability_id, schema, None)

    def set(
        self,
        capability_id: str,
        schema_version: int,
        key: str,
        value: Any,
        expected_version: int | None = None,
        limit_bytes: int = 1_048_576,
        limit_keys: int = MAX_KEYS,
    ) -> int:
        """Store ``value``; returns its new version, which counts from 1.

        With ``expected_version`` only over that version (0: the key must not exist yet), else ``Conflict`` with
        ``details.version``. ``InvalidInput`` for a key that is not 1-256 visible characters or a value that is not
        JSON-like; ``HostError`` where all keys and values together would be over ``limit_bytes``, or the
        keys over ``limit_keys``.
        """
        data = encoded(value)
        size = row_bytes(key, data)
        place = (capability_id, schema_version, key)
        with _explained(), self._database.transaction() as rows:
            found = rows.execute(
                "SELECT version FROM state WHERE capability_id = ? AND schema_version = ? AND key = ?", place
            ).fetchone()
            version = found[0] if found else 0
            check_version(version, expected_version)
            keys, used = rows.execute(
                "SELECT count(*), coalesce(sum(bytes), 0) FROM state"
                " WHERE capability_id = ? AND schema_version = ? AND key <> ?",
                place,
            ).fetchone()
            check_room(keys + 1, used + size, limit_bytes, limit_keys)
            rows.execute(
                "INSERT INTO state (capability_id, schema_version, key, value, bytes, version)"
                " VALUES (?, ?, ?, ?, ?, ?)"
                " ON CONFLICT DO UPDATE SET value = excluded.value, bytes = excluded.bytes,"
                " version = excluded.version, migrated = 0",
                (*place, data, size, version + 1),
            )
        return int(version) + 1


@contextmanager
def _explained() -> Iterator[None]:
    try:
        yield
    except StorageError as error:
        raise failure(ErrorKind.HOST_ERROR, error.message, retryable=error.busy) from None


def check_version(version: int, expected: int | None) -> None:
    """Raises ``Conflict`` where a key is not at the version that was expected."""
    if expected is not None and expected != version:
        message = f"the key is at version {version}, not {expected}"
        raise failure(ErrorKind.CONFLICT, message, retryable=True, version=version)


def check_room(keys: int, used: int, limit_bytes: int, limit_keys: int = MAX_KEYS) -> None:
    """Raises ``HostError`` where the state would hold more than it may."""
    if keys > limit_keys:
        raise failure(ErrorKind.HOST_ERROR, f"the state is full: {limit_keys} keys are the limit")
    if used > limit_bytes:
        message = f"the state is full: it would hold {used} bytes, {limit_bytes} are the limit"
        raise failure(ErrorKind.HOST_ERROR, message)


def row_bytes(key: str, data: bytes) -> int:
    """What a row counts; raises ``InvalidInput`` for a key that is none."""
    return len(_checked(key)) + len(data)


def _checked(key: str) -> bytes:
    if not 1 <= len(key) <= MAX_KEY_CHARS:
        raise failure(ErrorKind.INVALID_INPUT, f"a key has 1 to {MAX_KEY_CHARS} characters, not {len(key)}")
    if clean_line(key, MAX_KEY_CHARS) != key:
        raise failure(ErrorKind.INVALID_INPUT, "a key has no control, bidirectional or invisible characters")
    try:
        return key.encode()
    except UnicodeEncodeError:
        raise failure(ErrorKind.INVALID_INPUT, "a key is Unicode text") from None


def encoded(value: Any) -> bytes:
    """As it is stored; raises ``InvalidInput`` for what is not JSON-like."""
    try:
        return orjson.dumps(value)
    except TypeError:
        raise failure(ErrorKind.INVALID_INPUT, "the value cannot be written as JSON") from None
