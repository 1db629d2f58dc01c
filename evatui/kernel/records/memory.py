"""An audit log that writes nothing down: for a runtime of the moment, which leaves the workspace as it was."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evatui.kernel.model.clock import Clock, rfc3339
from evatui.kernel.records.audit import AuditLog
from evatui.kernel.records.chain import Accept
from evatui.kernel.records.head import Head
from evatui.kernel.records.record import GENESIS, compose, line_hash

__all__ = ["MemoryAudit"]


class MemoryAudit(AuditLog):
    """`tail` shows the files of ``directory``, if one is given."""

    def __init__(self, clock: Clock, directory: Path | None = None) -> None:
        super().__init__(directory, clock, lambda accept: _MemoryLedger(clock, accept))


class _MemoryLedger:
    damage = ""

    def __init__(self, clock: Clock, accept: Accept) -> None:
        self._clock = clock
        self._accept = accept
        self._seq = 0
        self._prev = GENESIS

    def append(self, code: str, outcome: str, fields: Mapping[str, Any]) -> None:
        self._seq += 1
        record, line = compose(self._seq, rfc3339(self._clock.now()), code, outcome, fields, self._prev)
        self._prev = line_hash(line)
        self._accept(record, line)

    def commit(self) -> None:
        """Each record was accepted when it was appended."""

    def retract(self) -> None:
        """Nothing fails here."""

    def last_words(self, error: OSError) -> None:
        """Nothing fails here."""

    def look(self, needed_bytes: int, failed: str) -> None:
        """There is always room."""

    def head(self, clean: bool) -> Head:
        return Head(self._seq, self._seq, self._prev, GENESIS, rfc3339(self._clock.now()), clean)

    def close(self) -> None:
        """Nothing is held."""
