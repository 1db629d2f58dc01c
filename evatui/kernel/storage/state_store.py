"""The durable state of capabilities: small JSON values under keys, each with a version to compare against."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum
from typing import Any, Final

import orjson

from evatui.kernel.model.errors import ErrorKind, failure
from evatui.kernel.model.text import clean_line
from evatui.kernel.storage.database import Database, StorageError

__all__ = ["MAX_KEYS", "MAX_KEY_CHARS", "MISSING", "StateStore"]

MAX_KEYS = 1_000
MAX_KEY_CHARS = 256


class _Missing(Enum):
    MISSING = "missing"


MISSING: Final = _Missing.MISSING
"""What `StateStore.get` gives for a key that was never set; None is a value."""


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

    def written(self, capability_id: str, schema_version: int) -> bool:
        """Is there any state of that schema?"""
        with _explained(), self._database.reading() as rows:
            found = rows.execute(
                "SELECT 1 FROM state WHERE capability_id = ? AND schema_version = ? LIMIT 1",
                (capability_id, schema_version),
            ).fetchone()
        return found is not None

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
        data = _encoded(value)
        size = len(_checked(key)) + len(data)
        place = (capability_id, schema_version, key)
        with _explained(), self._database.transaction() as rows:
            found = rows.execute(
                "SELECT version FROM state WHERE capability_id = ? AND schema_version = ? AND key = ?", place
            ).fetchone()
            version = found[0] if found else 0
            if expected_version is not None and expected_version != version:
                raise failure(
                    ErrorKind.CONFLICT,
                    f"the key is at version {version}, not {expected_version}",
                    retryable=True,
                    version=version,
                )
            keys, used = rows.execute(
                "SELECT count(*), coalesce(sum(bytes), 0) FROM state"
                " WHERE capability_id = ? AND schema_version = ? AND key <> ?",
                place,
            ).fetchone()
            if keys + 1 > limit_keys:
                raise failure(ErrorKind.HOST_ERROR, f"the state is full: {limit_keys} keys are the limit")
            if used + size > limit_bytes:
                raise failure(
                    ErrorKind.HOST_ERROR,
                    f"the state is full: it would hold {used + size} bytes, {limit_bytes} are the limit",
                )
            rows.execute(
                "INSERT INTO state (capability_id, schema_version, key, value, bytes, version)"
                " VALUES (?, ?, ?, ?, ?, ?)"
                " ON CONFLICT DO UPDATE SET value = excluded.value, bytes = excluded.bytes, version = excluded.version",
                (*place, data, size, version + 1),
            )
        return int(version) + 1


@contextmanager
def _explained() -> Iterator[None]:
    try:
        yield
    except StorageError as error:
        raise failure(ErrorKind.HOST_ERROR, error.message, retryable=error.busy) from None


def _checked(key: str) -> bytes:
    if not 1 <= len(key) <= MAX_KEY_CHARS:
        raise failure(ErrorKind.INVALID_INPUT, f"a key has 1 to {MAX_KEY_CHARS} characters, not {len(key)}")
    if clean_line(key, MAX_KEY_CHARS) != key:
        raise failure(ErrorKind.INVALID_INPUT, "a key has no control, bidirectional or invisible characters")
    try:
        return key.encode()
    except UnicodeEncodeError:
        raise failure(ErrorKind.INVALID_INPUT, "a key is Unicode text") from None


def _encoded(value: Any) -> bytes:
    try:
        return orjson.dumps(value)
    except TypeError:
        raise failure(ErrorKind.INVALID_INPUT, "the value cannot be written as JSON") from None
