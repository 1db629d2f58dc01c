"""Files of an audit log that do not bear the number of their first record: found, and put in order at a start."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import orjson

from evatui.kernel.records.damage import Damage
from evatui.kernel.records.judging import Finding
from evatui.kernel.records.segments import Segment, file_name, first_line, last_line, segments

__all__ = ["misnamed", "put_in_order"]


def misnamed(files: Sequence[Segment]) -> list[tuple[Segment, int, Finding]]:
    """Each with the number that it should bear, 0 where that is none. Raises `OSError`.

    What begins with no record should bear the number of the one that was to come; only the last may be empty.
    """
    found = []
    for index, segment in enumerate(files):
        first = _first(segment)
        in_place = first or _following(files[:index], segment.first)
        newest = index + 1 == len(files)
        if in_place != segment.first or (first == 0 and not newest):
            what = f"begins with record {first}" if first else "is empty" if first == 0 else "begins with no record"
            message = f"{segment.path.name} {what}"
            found.append((segment, first or 0, Finding(Damage.REORDER, segment.first, message)))
    return found


def put_in_order(directory: Path) -> Finding | None:
    """Gives each such file its name back, or, where that is taken or nothing is in it, one that is none of the log's.

    Returns what was found first. Raises `OSError`.
    """
    wrong = misnamed(segments(directory))
    aside = [(one.path.replace(one.path.with_suffix(".aside")), first) for one, first, _ in wrong]
    for path, first in aside:
        right = directory / file_name(first)
        if first and not right.exists():
            path.replace(right)
    return wrong[0][2] if wrong else None


def _first(segment: Segment) -> int | None:
    """The number of the first record; 0 where the file is empty, None where its first line is no record."""
    try:
        line = first_line(segment.path)
        empty = line is None and not segment.path.stat().st_size
    except FileNotFoundError:  # pruned meanwhile
        return segment.first
    return 0 if empty else _number(line) if line is not None else None


def _following(before: Sequence[Segment], otherwise: int) -> int:
    """The number of the record to come."""
    last = next((line for one in reversed(before) if (line := last_line(one.path)) is not None), None)
    number = _number(last) if last is not None else None
    return number + 1 if number is not None else otherwise


def _number(line: bytes) -> int | None:
    try:
        number = orjson.loads(line)["seq"]
    except (ValueError, TypeError, KeyError):
        return None
    return number if isinstance(number, int) and number > 0 else None
