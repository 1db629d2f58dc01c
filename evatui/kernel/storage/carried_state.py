"""State on its way from one schema to the next: what a migration reads, and what it has made so far."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from evatui.kernel.storage.state_store import MISSING, StateRow, check_room, check_version, encoded, row_bytes

__all__ = ["CarriedState"]


class CarriedState:
    """In memory: nothing is stored before all of it is. For one thread at a time.

    A key goes on counting its versions, so that nobody takes a new value for the one that they have seen.
    """

    def __init__(self, old: Iterable[StateRow], limit_bytes: int) -> None:
        self.new: dict[str, StateRow] = {}
        """What was made, by key."""
        self._old: Mapping[str, StateRow] = {row.key: row for row in old}
        self._limit_bytes = limit_bytes
        self._used = 0

    @property
    def old(self) -> list[StateRow]:
        return list(self._old.values())

    def get(self, key: str) -> tuple[Any, int]:
        """The old value and its version; ``(MISSING, 0)`` where there is none."""
        row = self._old.get(key)
        return (row.value, row.version) if row is not None else (MISSING, 0)

    def set(self, key: str, value: Any, expected_version: int | None = None) -> int:
        """As `StateStore.set`, in the new schema; a key that was not set there yet is at its old version."""
        size = row_bytes(key, encoded(value))
        before = self.new.get(key)
        known = before or self._old.get(key)
        version = known.version if known is not None else 0
        check_version(version, expected_version)
        used = self._used + size - (before.bytes if before is not None else 0)
        check_room(len(self.new) + (before is None), used, self._limit_bytes)
        self.new[key] = StateRow(key, value, size, version + 1)
        self._used = used
        return version + 1
