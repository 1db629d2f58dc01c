"""Reading an audit log from end to end: is every record the one that was written, and in its place?"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from evatui.kernel.records.codes import Code
from evatui.kernel.records.record import GENESIS, line_hash
from evatui.kernel.records.segments import segments

__all__ = ["BadRecord", "Damage", "Verification", "verify"]


class Damage(StrEnum):
    TRUNCATION = "truncation"
    """Records, or a part of one, are missing."""
    EDIT = "edit"
    """A record is not the one that the next was chained to."""
    REORDER = "reorder"
    """Records stand where others belong, and those stand elsewhere."""


@dataclass(frozen=True, slots=True)
class BadRecord:
    """``seq`` is the record that is wrong or missing; ``file`` and ``line`` (1-based) say where it shows."""

    kind: Damage
    seq: int
    file: str
    line: int
    message: str

    def to_json(self) -> dict[str, Any]:
        fields = {"kind": self.kind.value, "seq": self.seq, "file": self.file, "line": self.line}
        return {**fields, "message": self.message}


@dataclass(frozen=True, slots=True)
class Verification:
    """``records`` were read, the first bad one included; ``head`` is the hash of the last, None where there is none."""

    records: int
    head: str | None
    first_bad: BadRecord | None = None

    @property
    def ok(self) -> bool:
        return self.first_bad is None

    def to_json(self) -> dict[str, Any]:
        bad = self.first_bad.to_json() if self.first_bad else None
        return {"ok": self.ok, "records": self.records, "head": self.head, "first_bad": bad}


def verify(directory: Path) -> Verification:
    """Reads every file, changes nothing, and stops at the first bad record. Raises `OSError`.

    What was cut off at the very end, between two records, leaves no trace in the files themselves.
    """
    walk = _Walk()
    with ExitStack() as stack:
        # All are opened first: a file that is pruned meanwhile can still be read.
        files = [(segment.path.name, stack.enter_context(segment.path.open("rb"))) for segment in segments(directory)]
        lines = (_Line(name, number, data) for name, file in files for number, data in enumerate(_read(file), 1))
        first_bad = next((bad for line in lines if (bad := walk.step(line))), None)
        if first_bad and first_bad.kind is Damage.TRUNCATION and any(_seq(line) == first_bad.seq for line in lines):
            message = f"record {first_bad.seq} stands further down"
            first_bad = replace(first_bad, kind=Damage.REORDER, message=message)
    return Verification(walk.records, walk.head, first_bad or walk.unexplained_start())


@dataclass(frozen=True, slots=True)
class _Line:
    file: str
    number: int
    data: bytes

    def bad(self, kind: Damage, seq: int, message: str) -> BadRecord:
        return BadRecord(kind, seq, self.file, self.number, message)


class _Walk:
    """Goes from record to record; remembers the last one and what pruned files have left."""

    def __init__(self) -> None:
        self.records = 0
        self.head: str | None = None
        self._first: _Line | None = None
        self._start = (0, GENESIS)
        self._pruned: set[tuple[Any, Any]] = set()
        self._last: _Line | None = None
        self._seq = 0

    def step(self, line: _Line) -> BadRecord | None:
        self.records += 1
        if not line.data.endswith(b"\n"):
            return line.bad(Damage.TRUNCATION, self._seq + 1, "the line is cut off")
        try:
            record = orjson.loads(line.data)
            seq, prev, code, details = record["seq"], record["prev"], record["code"], record.get("details", {})
            if code == Code.AUDIT_PRUNED:
                self._pruned.add((details["last_seq"], details["last_hash"]))
            bad = self._place(line, int(seq), prev)
        except (ValueError, TypeError, KeyError, AttributeError):
            return line.bad(Damage.EDIT, self._seq + 1, "the line is not an audit record")
        self._last, self._seq, self.head = line, seq, line_hash(line.data[:-1])
        return bad

    def _place(self, line: _Line, seq: int, prev: str) -> BadRecord | None:
        if self._last is None:
            self._first, self._start = line, (seq - 1, prev)
            return None
        if seq <= self._seq:
            return line.bad(Damage.REORDER, seq, f"record {seq} stands after record {self._seq}")
        if seq > self._seq + 1:
            missing = f"record {self._seq + 1}" if seq == self._seq + 2 else f"records {self._seq + 1} to {seq - 1}"
            return line.bad(Damage.TRUNCATION, self._seq + 1, f"{missing} missing before this one")
        if prev != self.head:
            return self._last.bad(Damage.EDIT, self._seq, f"this is not the record that record {seq} was chained to")
        return None

    def unexplained_start(self) -> BadRecord | None:
        """Are the records before the first one gone without a record of their pruning?"""
        before = self._start[0]
        if self._first is None or self._start == (0, GENESIS) or self._start in self._pruned:
            return None
        if before == 0:
            return self._first.bad(Damage.EDIT, 1, "the first record does not begin a chain")
        missing = "record 1 is" if before == 1 else f"records 1 to {before} are"
        return self._first.bad(Damage.TRUNCATION, before, f"{missing} missing, and nothing says that they were pruned")


def _read(file: BinaryIO) -> Iterator[bytes]:
    """Lines with their newlines; the last one is tried twice, since it may be in the middle of being written."""
    for line in file:
        yield line if line.endswith(b"\n") else line + file.readline()


def _seq(line: _Line) -> Any:
    try:
        return orjson.loads(line.data)["seq"]
    except (ValueError, TypeError, KeyError):
        return None
