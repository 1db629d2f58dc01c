"""What a worker says is believed only where a state could have said it."""

from __future__ import annotations

import json
import math
from typing import Any

import ormsgpack
from hypothesis import given, settings
from hypothesis import strategies as st

from evatui.kernel.lua import AMBIGUOUS, BadValue, Chunk, Program, Raised, Returned, Verdict
from evatui.kernel.lua.judge import Missing, Question, Refused, judge
from evatui.kernel.lua.state import Answer, Operation, State
from evatui.kernel.lua.worker.plausible import most, read

PROGRAM = Program(Chunk("t.lua", b"function invoke(ctx, request) return ctx.host.call_tool(request) end"))

scalars = st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats() | st.text(max_size=5)
anything = st.recursive(
    scalars | st.binary(max_size=3),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)
small = st.integers(-3, 20)
codes = st.builds(lambda size, kind: 4 * size + kind, st.integers(-2, 8), st.integers(0, 3))
rows = st.builds(
    lambda kind, name, cells: [kind, name, *cells],
    st.sampled_from([Answer.RETURNED_ROW, Answer.ASKED_ROW]).map(int),
    st.sampled_from(["", "log", "call_tool", "nothing"]),
    st.lists(small | codes | scalars, max_size=16),
)
packed = anything.map(lambda value: ormsgpack.packb(value, option=ormsgpack.OPT_NON_STR_KEYS).decode("latin-1"))
texts = packed | st.text(max_size=5) | st.sampled_from(["", "t.lua", "invoke", "call_tool"])
answers = st.builds(
    lambda kind, parts: [kind, *parts], st.integers(-1, 15), st.lists(texts | small | scalars, max_size=7)
)
json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=30,
)


def is_json(value: Any) -> bool:
    def marked(item: Any) -> None:
        if item is not AMBIGUOUS:
            raise TypeError

    try:
        return json.dumps(value, allow_nan=False, ensure_ascii=False, default=marked).encode() != b""
    except (TypeError, ValueError, RecursionError):
        return False


def survives(answer: Any) -> None:
    said = read(ormsgpack.packb(answer, option=ormsgpack.OPT_NON_STR_KEYS), PROGRAM)
    if said is None:
        return
    found = judge(said, PROGRAM)
    match found:
        case Returned(value):
            assert is_json(value)
        case Question(function, argument):
            assert function in PROGRAM.host_functions
            assert is_json(argument)
        case Raised(message=message, file=file, line=line, value=value):
            assert isinstance(message, str)
            assert file is None or file == "t.lua"
            assert line is None or type(line) is int
            assert is_json(value)
        case Missing(name):
            assert name == "invoke"
        case _:
            assert isinstance(found, (Verdict, BadValue, Refused))
            assert not (isinstance(found, Verdict) and found.retryable)


@settings(max_examples=400, deadline=None)
@given(rows)
def test_a_row_is_refused_or_harmless(row: list[Any]) -> None:
    survives(row)


@settings(max_examples=300, deadline=None)
@given(answers | anything)
def test_any_answer_is_refused_or_harmless(answer: Any) -> None:
    survives(answer)


@settings(max_examples=80, deadline=None)
@given(json_values, st.data())
def test_what_a_state_says_is_believed_and_what_was_changed_in_it_is_harmless(value: Any, data: st.DataObject) -> None:
    state = State(PROGRAM.memory_bytes)
    state.load(PROGRAM)
    asked = state.enter(int(Operation.ENTER), ormsgpack.packb("invoke") + ormsgpack.packb(value))
    reply = state.enter(int(Operation.GO_ON), ormsgpack.packb([True, value]))
    for answer in (asked, reply):
        sent = ormsgpack.packb(answer)
        assert len(sent) <= most(PROGRAM)
        assert read(sent, PROGRAM) == answer
        changed = ormsgpack.unpackb(sent)
        changed[data.draw(st.integers(0, len(changed) - 1))] = data.draw(small | codes | anything)
        survives(changed)


def test_rows_that_would_make_a_reader_err_are_refused() -> None:
    row = int(Answer.RETURNED_ROW)
    for crafted in (
        [row, "", 1, 2, -4],  # goes forward for ever
        [row, "", "a", 1, 2, 5],  # belongs where it is itself
        [row, "", "k", 0, 2, 2, 0, 9],  # a table as a name
        [row, "", 1, 2, 3, 0, 4 * 9],  # more than there is
        [row, "", math.inf, 0, 7],
        [row, "", 2**63, 0, 7],
        [row, "", b"x", 0, 7],
        [row, "", [], 0, 7],
        [row, 5, [], 0, 7],
        [int(Answer.LOST), "all is well"],
        [int(Answer.RETURNED), ormsgpack.packb(b"bytes").decode("latin-1")],
        [int(Answer.RETURNED), "\u0100"],
    ):
        assert read(ormsgpack.packb(crafted), PROGRAM) is None, crafted


def test_a_row_deeper_than_lua_gives_is_refused() -> None:
    def nested(levels: int) -> list[Any]:
        """[[[…]]]: each level holds one cell, in which the next one belongs."""
        row: list[Any] = [int(Answer.RETURNED_ROW), ""]
        place = 0
        for _ in range(levels):
            row += [False, place, 4]
            place = len(row) - 3
        return row

    deep = read(ormsgpack.packb(nested(60)), PROGRAM)
    assert deep is not None
    assert isinstance(judge(deep, PROGRAM), Returned)
    assert read(ormsgpack.packb(nested(70)), PROGRAM) is None
