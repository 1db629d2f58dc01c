"""Whether an answer is one that a state can give. A worker may be in the hands of its program."""

from __future__ import annotations

import math
import re
from typing import Any, Final

import ormsgpack

from evatui.kernel.lua.program import Program
from evatui.kernel.lua.state import Answer
from evatui.kernel.lua.values import MAX_DEPTH, json_like, unpack

__all__ = ["MAX_ANSWER_BESIDE", "MAX_QUESTION", "most", "read"]

MAX_QUESTION: Final = 1 << 20
"""Bytes of the argument of a host call: MAX_ARGUMENT in prelude/program.lua."""
MAX_ANSWER_BESIDE: Final = 1 << 16
"""Bytes of an answer beside its value."""

_PLAIN: Final = frozenset({str, int, float, bool, type(None)})
_HIGHEST: Final = 2**63 - 1
_ENDLESS: Final = re.compile(rb"\xcb[\x7f\xff][\xf0-\xff]")
_ENDLESS_SINGLE: Final = re.compile(rb"\xca[\x7f\xff][\x80-\xff]")
_LARGE: Final = re.compile(rb"\xcf[\x80-\xff]")
"""How floats that are not finite begin in a frame, and integers of more than 63 bits."""
_RETURNED_ROW, _ASKED_ROW = int(Answer.RETURNED_ROW), int(Answer.ASKED_ROW)
_MAP, _EMPTY, _ALONE = 1, 2, 3
_SHORTEST, _ALONE_LENGTH = 4, 5
_MAX_LINE: Final = 1 << 31


def most(program: Program) -> int:
    """Bytes of the largest answer. Packed values come as text, in which a byte may take two."""
    return 2 * max(program.max_output_bytes, MAX_QUESTION) + MAX_ANSWER_BESIDE


def read(frame: bytes, program: Program) -> tuple[Any, ...] | None:
    """The answer in a frame, None for what no state says.

    With what it gives, `judge` raises nothing, ends, and yields nothing but JSON-like values.
    """
    try:
        answer = ormsgpack.unpackb(frame)
    except (ValueError, RecursionError):
        return None
    if type(answer) is list and answer and type(answer[0]) is int and _is_plausible(answer, program, frame):
        return tuple(answer)
    return None


def _is_plausible(answer: list[Any], program: Program, frame: bytes) -> bool:
    kind = answer[0]
    if kind == _RETURNED_ROW:
        return _is_row(answer, frame)
    if kind == _ASKED_ROW:
        return len(answer) > 1 and _is_host_function(answer[1], program) and _is_row(answer, frame)
    parts = answer[1:]
    match parts:
        case []:
            return kind in (Answer.NO_MEMORY, Answer.OVERSIZED, Answer.REFUSED)
        case [str(text)]:
            return (
                (kind == Answer.RETURNED and (text == "" or _is_packed(text)))
                or (kind == Answer.MISSING and text in program.entries)
                or kind == Answer.BROKEN
            )
        case [str(first), str(second)]:
            return kind == Answer.BAD_VALUE or (
                kind == Answer.ASKED and _is_host_function(second, program) and _is_packed(first)
            )
        case [str(), str(), retryable, str(file), line, str(value)]:
            return (
                kind == Answer.RAISED
                and type(retryable) is int
                and type(line) is int
                and (file == "" or file in program.files)
                and 0 <= line < _MAX_LINE
                and (value == "" or _is_packed(value))
            )
    return False


def _is_host_function(name: Any, program: Program) -> bool:
    return type(name) is str and (name in program.host_functions or name == "log")  # which is also `print`


def _is_packed(text: str) -> bool:
    try:
        return json_like(unpack(text, dict))
    except (ValueError, RecursionError):
        return False


def _is_row(row: list[Any], frame: bytes) -> bool:
    """Whether `from_row` can read it, and nothing in it is in two tables, or deeper than Lua gives."""
    try:
        sound = len(row) >= _SHORTEST and _can_be_put_together(row)
    except TypeError:  # a place or a size that is no number
        return False
    return sound and set(map(type, row)) <= _PLAIN and _are_json(row, frame)


def _can_be_put_together(row: list[Any]) -> bool:
    """It is read from the end, as `from_row` does.

    A table belongs in one that is read later, at a place before that of the last table; so each is in one other,
    and at last all are in the one at place 0. The first that is read is among the deepest; the table with its place
    is a level up, and so on.
    """
    end = above = first = len(row)
    depth, place = 0, -1
    places: list[int] = []
    names: list[Any] = []
    while end > 2 and place:
        place, code = row[end - 2], row[end - 1]
        stop = end - 2
        end = stop - (code >> 2)
        if end < 2 or end > stop or place >= end or place >= above or place < 0 or code is False:
            return False
        kind = code & 3
        if kind == _MAP:
            names += row[end:stop:2]
            if (stop - end) & 1:
                return False
        elif (kind == _EMPTY and end != stop) or (kind == _ALONE and len(row) != _ALONE_LENGTH):
            return False
        if end <= first:
            first = place
            depth += 1
        above = place
        places.append(place)
    places.pop()  # of the outermost: it is 0
    return (
        (end, place, type(place)) == (2, 0, int)
        and depth <= MAX_DEPTH
        and (not places or places[-1] >= 2)
        and set(map(type, names)) <= {str}
        and set(map(type, map(row.__getitem__, places))) <= {bool}
        and not any(map(row.__getitem__, places))  # it is False: so it is neither a name, nor a place or a size
    )


def _are_json(row: list[Any], frame: bytes) -> bool:
    """Numbers are looked at only where the frame has bytes that may be those of one that JSON does not have."""
    endless = (b"\xcb" in frame and _ENDLESS.search(frame)) or (b"\xca" in frame and _ENDLESS_SINGLE.search(frame))
    if endless and not all(map(math.isfinite, [item for item in row if type(item) is float])):
        return False
    large = b"\xcf" in frame and _LARGE.search(frame)
    return not large or max([item for item in row if type(item) is int]) <= _HIGHEST
