"""From record to record of an audit log: is each the one that was written, and in its place?"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import orjson

from evatui.kernel.records.codes import Code
from evatui.kernel.records.damage import BadRecord, Damage
from evatui.kernel.records.record import GENESIS, line_hash

__all__ = ["Line", "Walk"]


@dataclass(frozen=True, slots=True)
class Line:
    """With its newline, where it has one; ``number`` is 1-based."""

    file: str
    number: int
    data: bytes

    def bad(self, kind: Damage, seq: int, message: str) -> BadRecord:
        return BadRecord(kind, seq, self.file, self.number, message)

    @property
    def seq(self) -> Any:
        try:
            return orjson.loads(self.data)["seq"]
        except (ValueError, TypeError, KeyError):
            return None


class Walk:
    """Remembers the last record, what pruned files have left, what a start found, and the hashes of ``wanted``."""

    def __init__(self, wanted: Collection[int] = ()) -> None:
        self.records = 0
        self.head: str | None = None
        self.seq = 0
        self.last: Line | None = None
        self.hashes = {0: GENESIS}
        self.unsealed = 0
        """Records that starts took over unsigned, since the run that wrote them did not end well."""
        self.told: BadRecord | None = None
        """The first damage that a start found, wrote down, and went on behind."""
        self._wanted = frozenset(wanted)
        self._first: Line | None = None
        self._start = (0, GENESIS)
        self._pruned: set[tuple[Any, Any]] = set()

    def step(self, line: Line) -> BadRecord | None:
        self.records += 1
        if not line.data.endswith(b"\n"):
            return line.bad(Damage.TRUNCATION, self.seq + 1, "the line is cut off")
        try:
            record = orjson.loads(line.data)
            seq, prev, code, details = record["seq"], record["prev"], record["code"], record.get("details", {})
            self._note(line, code, details)
            bad = self._place(line, int(seq), prev)
        except (ValueError, TypeError, KeyError, AttributeError):
            return line.bad(Damage.EDIT, self.seq + 1, "the line is not an audit record")
        self.last, self.seq, self.head = line, seq, line_hash(line.data[:-1])
        if seq in self._wanted:
            self.hashes[seq] = self.head
        return bad

    def _note(self, line: Line, code: Any, details: Any) -> None:
        if code == Code.AUDIT_PRUNED:
            self._pruned.add((details["last_seq"], details["last_hash"]))
        elif code == Code.AUDIT_UNSEALED:
            self.unsealed += details["last_seq"] - details["first_seq"] + 1
        elif code == Code.AUDIT_DAMAGED and self.told is None:
            self.told = line.bad(Damage(details["kind"]), details["bad_seq"], f"found at a start: {details['message']}")

    def _place(self, line: Line, seq: int, prev: str) -> BadRecord | None:
        if self.last is None:
            self._first, self._start = line, (seq - 1, prev)
            return None
        if seq <= self.seq:
            return line.bad(Damage.REORDER, seq, f"record {seq} stands after record {self.seq}")
        if seq > self.seq + 1:
            missing = f"record {self.seq + 1}" if seq == self.seq + 2 else f"records {self.seq + 1} to {seq - 1}"
            return line.bad(Damage.TRUNCATION, self.seq + 1, f"{missing} missing before this one")
        if prev != self.head:
            return self.last.bad(Damage.EDIT, self.seq, f"this is not the record that record {seq} was chained to")
        return None

    @property
    def pruned(self) -> int:
        """How many records before the first one are gone, and were meant to."""
        return self._start[0] if self._start in self._pruned else 0

    def unexplained_start(self) -> BadRecord | None:
        """Are the records before the first one gone without a record of their pruning?"""
        before = self._start[0]
        if self._first is None or self._start == (0, GENESIS) or self._start in self._pruned:
            return None
        if before == 0:
            return self._first.bad(Damage.EDIT, 1, "the first record does not begin a chain")
        missing = "record 1 is" if before == 1 else f"records 1 to {before} are"
        return self._first.bad(Damage.TRUNCATION, before, f"{missing} missing, and nothing says that they were pruned")
