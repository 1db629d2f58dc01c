"""A state's answer, put into the words of the kernel."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from evatui.kernel.lua.outcome import BadValue, Outcome, Raised, Returned, Verdict
from evatui.kernel.lua.program import Program
from evatui.kernel.lua.state import Answer
from evatui.kernel.lua.values import AMBIGUOUS, from_row, unpack
from evatui.kernel.model.errors import ErrorKind
from evatui.kernel.model.text import clean, clean_line

__all__ = ["Lost", "Missing", "Question", "Refused", "judge"]

_RETURNED_ROW = int(Answer.RETURNED_ROW)
_ASKED_ROW = int(Answer.ASKED_ROW)
_PLACE = re.compile(r"([^\n]{1,300}?):(\d{1,9}): ")


@dataclass(frozen=True, slots=True)
class Question:
    """The handler calls the host."""

    function: str
    argument: Any


@dataclass(frozen=True, slots=True)
class Missing:
    """The program has no such function."""

    name: str


@dataclass(frozen=True, slots=True)
class Refused:
    """What was to enter holds something that is not JSON-like; the state is unharmed."""


@dataclass(frozen=True, slots=True)
class Lost:
    """The state has gone, for ``reason``. Where it had before it ``heard``, another can be entered in its place."""

    reason: str
    heard: bool


def judge(answer: tuple[Any, ...], program: Program) -> Outcome | Question | Missing | Refused | Lost:
    kind = answer[0]
    if kind == _RETURNED_ROW:
        return _returned(from_row, answer)
    if kind == _ASKED_ROW:
        return Question(answer[1], from_row(answer, dict))
    match answer:
        case (Answer.RETURNED, data):
            return _returned(unpack, data) if data else Returned(None)
        case (Answer.ASKED, data, name):
            return Question(name, unpack(data, dict))
        case (Answer.RAISED, *parts):
            return _raised(program, *parts)
        case (Answer.NO_MEMORY,):
            return Verdict(ErrorKind.MEMORY_EXCEEDED, f"needed more than {program.memory_bytes} bytes of memory")
        case (Answer.OVERSIZED,):
            return Verdict(ErrorKind.OUTPUT_TOO_LARGE, f"the result is larger than {program.max_output_bytes} bytes")
        case (Answer.BAD_VALUE, path, message):
            return BadValue(clean_line(path), clean_line(message))
        case (Answer.MISSING, name):
            return Missing(name)
        case (Answer.REFUSED,):
            return Refused()
        case (Answer.LOST | Answer.UNHEARD, reason):
            return Lost(reason, heard=kind == Answer.LOST)
    return Verdict(ErrorKind.INTERNAL, "the sandbox failed")


class _Unmarked:
    """What stands for each empty table that the handler did not mark."""

    __slots__ = ("met",)

    def __init__(self) -> None:
        self.met = False

    def __call__(self) -> Any:
        self.met = True
        return AMBIGUOUS


def _returned(read: Callable[[Any, Callable[[], Any]], Any], data: Any) -> Returned:
    unmarked = _Unmarked()
    value = read(data, unmarked)
    return Returned(value, not unmarked.met)


def _raised(program: Program, message: str, kind: str, retryable: int, file: str, line: int, value: str) -> Raised:
    place = _said_place(message, program) or ((file, line) if file else (None, None))
    return Raised(
        message=clean(message),
        kind=clean_line(kind, 100) or None,
        retryable=retryable == 1,
        file=place[0],
        line=place[1] or None,
        value=unpack(value, dict) if value else None,
    )


def _said_place(text: str, program: Program) -> tuple[str, int] | None:
    """The place that the message itself begins with, if that is one of the program's files.

    Lua shows a name of 60 bytes or more as ``...`` and its end.
    """
    match = _PLACE.match(text)
    if match is None:
        return None
    said = match[1]
    for name in program.files:
        if name == said or (said.startswith("...") and name.endswith(said[3:])):
            return name, int(match[2])
    return None
