"""The files of an audit log: which there are, how the newest one ends, and their last lines."""

from __future__ import annotations

import os
import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import orjson

from evatui.kernel.records.codes import Code
from evatui.kernel.records.record import GENESIS, line_hash

__all__ = [
    "RECENT",
    "Segment",
    "Standing",
    "Written",
    "file_name",
    "first_line",
    "hash_at",
    "last_line",
    "lines_backwards",
    "read_tail",
    "segments",
    "standing",
]

_NAME = re.compile(r"audit-([1-9][0-9]*)\.jsonl", re.ASCII)
_IDENTITY = ("actor", "capability_id", "capability", "generation", "script_digest", "manifest_digest", "trace_id")
_BLOCK = 65_536
_CALL_OK = str(Code.CALL_OK)

Written = tuple[dict[str, Any], bytes]
"""A record, and the line that it was written as."""

RECENT = 2_000
"""How many of the newest records are worth keeping at hand."""


@dataclass(frozen=True, slots=True)
class Segment:
    """One file; ``first`` is the sequence number that its name promises."""

    path: Path
    first: int


@dataclass(slots=True)
class Standing:
    """Where a log stands: its last record, and the calls that announced an effect and have not ended.

    ``pending`` maps a request id to the call's identity, with ``first_intent`` (seq) and ``intents`` (count).
    """

    seq: int = 0
    prev: str = GENESIS
    pending: dict[str, dict[str, Any]] = field(default_factory=dict)
    good_bytes: int = 0
    """Of the newest file: up to here it consists of whole lines."""
    torn: bytes = b""
    """What comes after them."""

    def follow(self, record: dict[str, Any]) -> None:
        """Keep ``pending`` in step with a record that was appended."""
        code, request = record.get("code"), record.get("request_id")
        if code == _CALL_OK and not self.pending:
            return
        if code in (Code.AUDIT_ROTATED, Code.AUDIT_REOPENED):
            self.pending = dict(record.get("details", {}).get("pending", {}))
        elif code == Code.EFFECT_INTENT and request:
            call = self.pending.setdefault(
                request, {**{name: record.get(name) for name in _IDENTITY}, "first_intent": record["seq"], "intents": 0}
            )
            call["intents"] += 1
        elif isinstance(code, str) and code.startswith("call."):
            self.pending.pop(request or "", None)


def file_name(first: int) -> str:
    """Of the file whose first record is ``first``."""
    return f"audit-{first}.jsonl"


def segments(directory: Path) -> list[Segment]:
    """Regular files in the order of their numbers; none where the directory does not exist. Raises `OSError`."""
    try:
        with os.scandir(directory) as entries:
            names = [entry.name for entry in entries if entry.is_file(follow_symlinks=False)]
    except FileNotFoundError:
        return []
    found = [Segment(directory / name, int(match[1])) for name in names if (match := _NAME.fullmatch(name))]
    return sorted(found, key=lambda segment: segment.first)


def standing(files: list[Segment]) -> tuple[Standing, list[Written]]:
    """Reads back from the newest file to one that holds a record; also its newest records. Raises `OSError`."""
    newest: Standing | None = None
    for segment in reversed(files):
        state, recent = _scan(segment)
        if newest is None:
            newest = state
        if state.good_bytes:
            newest.seq, newest.prev, newest.pending = state.seq, state.prev, state.pending
            return newest, recent
    return newest or Standing(), []


def _scan(segment: Segment) -> tuple[Standing, list[Written]]:
    whole, newline, torn = segment.path.read_bytes().rpartition(b"\n")
    state = Standing(seq=segment.first - 1, good_bytes=len(whole) + len(newline), torn=torn)
    recent: deque[Written] = deque(maxlen=RECENT)
    for line in whole.split(b"\n") if newline else ():
        state.seq += 1
        state.prev = line_hash(line)
        try:
            record = orjson.loads(line)
            state.seq = int(record["seq"])
            state.follow(record)
        except (ValueError, TypeError, KeyError, AttributeError):
            continue  # not a record: `verify` tells; the chain runs on over its bytes
        recent.append((record, line))
    return state, list(recent)


def hash_at(files: list[Segment], seq: int) -> str | None:
    """The hash of record ``seq``, by its place in its file; None where there is none. Raises `OSError`."""
    if not seq:
        return GENESIS
    held = next((segment for segment in reversed(files) if segment.first <= seq), None)
    if held is None:
        return None
    with held.path.open("rb") as file:
        line = next(islice(file, seq - held.first, None), b"")
    return line_hash(line[:-1]) if line.endswith(b"\n") else None


def first_line(path: Path) -> bytes | None:
    """The first whole line of the file, None where there is none. Raises `OSError`."""
    with path.open("rb") as file:
        line = file.readline()
    return line[:-1] if line.endswith(b"\n") else None


def last_line(path: Path) -> bytes | None:
    """The last whole line of the file, None where there is none. Raises `OSError`."""
    return next(lines_backwards(path), None)


def read_tail(directory: Path, limit: int) -> list[dict[str, Any]]:
    """The newest ``limit`` records, oldest first; lines that are no records are left out. Raises `OSError`."""
    newest: list[dict[str, Any]] = []
    for segment in reversed(segments(directory)):
        for line in lines_backwards(segment.path):
            if len(newest) >= limit:
                return newest[::-1]
            try:
                record = orjson.loads(line)
            except ValueError:
                continue
            if isinstance(record, dict):
                newest.append(record)
    return newest[:limit][::-1]


def lines_backwards(path: Path) -> Iterator[bytes]:
    """Whole lines, last one first, reading no more of the file than is asked for."""
    with path.open("rb") as file:
        position = file.seek(0, os.SEEK_END)
        rest = b""
        complete = False  # what follows the last newline is no whole line
        while position > 0:
            step = min(_BLOCK, position)
            position -= step
            file.seek(position)
            head, *lines = (file.read(step) + rest).split(b"\n")
            if lines and not complete:
                lines.pop()
                complete = True
            yield from reversed(lines)
            rest = head
        if complete and rest:
            yield rest
