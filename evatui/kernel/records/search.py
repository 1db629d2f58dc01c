"""Finding records in the files of a log, the newest first, and without reading more of them than is needed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from evatui.kernel.records.codes import Code
from evatui.kernel.records.segments import Segment, first_line, last_line, lines_backwards, segments

__all__ = ["Filter", "find"]

_BLOCK = 1 << 20
_RARE = frozenset(code for code in Code if not code.startswith(("call.", "effect.")))
"""Whole codes that few lines have."""


@dataclass(frozen=True, slots=True)
class Filter:
    """A record matches where all that is given does.

    ``capability`` is an id or a name that is called, ``actor`` an id, a type, or ``type:id``, ``code`` a code or the
    first part of one (``call`` for every call). ``since`` and ``until`` are as ``at`` is written, and included.
    """

    capability: str | None = None
    generation: str | None = None
    request: str | None = None
    trace: str | None = None
    actor: str | None = None
    code: str | None = None
    outcome: str | None = None
    since: str | None = None
    until: str | None = None

    def matches(self, record: Mapping[str, Any]) -> bool:
        at = str(record.get("at") or "")
        return (
            self.capability in (None, record.get("capability_id"), record.get("capability"))
            and self.generation in (None, record.get("generation"))
            and self.request in (None, record.get("request_id"))
            and self.trace in (None, record.get("trace_id"))
            and self.outcome in (None, record.get("outcome"))
            and (self.code is None or f"{record.get('code')}.".startswith(f"{self.code}."))
            and (self.actor is None or self.actor in _names(record.get("actor")))
            and (self.since is None or at >= self.since)
            and (self.until is None or at <= self.until)
        )

    @property
    def needle(self) -> bytes:
        """What each line that matches holds, as it is written; it may be empty."""
        rare = self.code if self.code in _RARE else None
        for value in (self.request, self.trace, rare, self.generation, self.capability, self.outcome):
            if value is not None:
                return orjson.dumps(value)
        return b""


def _names(actor: Any) -> tuple[str, ...]:
    if not isinstance(actor, Mapping):
        return ()
    kind, name = str(actor.get("type", "")), str(actor.get("id", ""))
    return kind, name, f"{kind}:{name}"


def find(directory: Path, wanted: Filter) -> Iterator[tuple[dict[str, Any], bytes]]:
    """Records that match, with their lines, the newest first; lines that are no records are left out.

    A file outside of the time that is asked for, or without what every match holds, is passed over whole; so a clock
    that was set back can hide a record from a search by time. Raises `OSError`.
    """
    needle = wanted.needle
    for segment in reversed(segments(directory)):
        try:
            if not _in_time(segment, wanted) or (needle and not _holds(segment.path, needle)):
                continue
            for line in lines_backwards(segment.path):
                if needle in line and (record := _record(line)) is not None and wanted.matches(record):
                    yield record, line
        except FileNotFoundError:  # pruned meanwhile
            continue


def _in_time(segment: Segment, wanted: Filter) -> bool:
    if wanted.since is None and wanted.until is None:
        return True
    first, last = (_record(line or b"") for line in (first_line(segment.path), last_line(segment.path)))
    if first is None or last is None:
        return True
    began, ended = str(first.get("at")), str(last.get("at"))
    return (wanted.until is None or began <= wanted.until) and (wanted.since is None or ended >= wanted.since)


def _holds(path: Path, needle: bytes) -> bool:
    with path.open("rb") as file:
        rest = b""
        while block := file.read(_BLOCK):
            if needle in rest + block:
                return True
            rest = block[-len(needle) :]
    return False


def _record(line: bytes) -> dict[str, Any] | None:
    try:
        record = orjson.loads(line)
    except ValueError:
        return None
    return record if isinstance(record, dict) else None
