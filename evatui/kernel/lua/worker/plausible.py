"""Whether an answer is one that a state can give. A worker may be in the hands of its program."""

from __future__ import annotations

import math
from collections import deque
from typing import Any, Final

from evatui.kernel.lua.program import Program
from evatui.kernel.lua.state import Answer
from evatui.kernel.lua.values import MAX_DEPTH, json_like, unpack

__all__ = ["MAX_ANSWER_BESIDE", "MAX_QUESTION", "most", "plausible"]

MAX_QUESTION: Final = 1 << 20
"""Bytes of the argument of a host call: MAX_ARGUMENT in prelude/program.lua."""
MAX_ANSWER_BESIDE: Final = 1 << 16
"""Bytes of an answer beside its value."""

_PLAIN: Final = frozenset({str, int, float, bool, type(None)})
_LOWEST, _HIGHEST = -(2**63), 2**63 - 1
_LIST, _MAP, _EMPTY, _ALONE = 0, 1, 2, 3
_MAX_LINE: Final = 1 << 31


def most(program: Program) -> int:
    """Bytes of the largest answer. Packed values come as text, in which a byte may take two."""
    return 2 * max(program.max_output_bytes, MAX_QUESTION) + MAX_ANSWER_BESIDE


def plausible(answer: Any, program: Program) -> bool:
    """True for what `judge` can be given: then it raises nothing, ends, and yields nothing but JSON-like values."""
    if type(answer) is not list or not answer or type(answer[0]) is not int:
        return False
    kind, parts = answer[0], answer[1:]
    if kind == Answer.RETURNED_ROW or kind == Answer.ASKED_ROW:
        named = kind == Answer.RETURNED_ROW or (len(parts) > 1 and _is_host_function(parts[0], program))
        return named and _is_row(answer)
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


def _is_row(row: list[Any]) -> bool:
    """Read from its end as `from_row` does: each table is before what it holds, and nothing is in two of them."""
    kinds = set(map(type, row))
    if len(row) < 4 or not kinds <= _PLAIN or not _are_json(row, kinds):
        return False
    end, above = len(row), len(row)
    waiting: deque[tuple[int, int]] = deque()  # where tables belong, the last place first, and how deep they are
    while end > 2:
        slot, code = row[end - 2], row[end - 1]
        stop = end - 2
        if type(code) is not int or type(slot) is not int or code < 0:
            return False
        size, kind = code >> 2, code & 3
        end = stop - size
        if end < 2:
            return False
        if kind == _ALONE:
            return size == 1 and end == 2 and stop + 2 == len(row)
        depth = 1
        while waiting and waiting[0][0] >= end:
            place, below = waiting.popleft()
            depth = max(depth, below + 1)
            if place >= stop or (kind == _MAP and (place - end) % 2 == 0):
                return False
        if depth > MAX_DEPTH or not _is_table(row, kind, end, stop):
            return False
        if slot == 0:
            return end == 2 and not waiting
        if not 2 <= slot < min(end, above):
            return False
        above = slot
        waiting.append((slot, depth))
    return False


def _is_table(row: list[Any], kind: int, end: int, stop: int) -> bool:
    if kind == _EMPTY:
        return end == stop
    return kind == _LIST or ((stop - end) % 2 == 0 and all(type(name) is str for name in row[end:stop:2]))


def _are_json(row: list[Any], kinds: set[type]) -> bool:
    if float in kinds and not all(map(math.isfinite, [item for item in row if type(item) is float])):
        return False
    integers = [item for item in row if type(item) is int]
    return min(integers) >= _LOWEST and max(integers) <= _HIGHEST
