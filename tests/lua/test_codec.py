"""Values keep their type on the way into Lua and out again, or the reason why not is given with its place."""

from __future__ import annotations

import json
import math
from typing import Any

import orjson
import ormsgpack
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evatui.kernel.lua import BadValue, Chunk, Engine, Program, Raised, Returned, Unpackable, Verdict
from evatui.kernel.lua.judge import judge
from evatui.kernel.lua.state import Operation, State
from evatui.kernel.lua.values import MAX_DEPTH, pack
from evatui.kernel.model.errors import ErrorKind, failure
from tests.lua.harness import NAME, call, outcome_of, value_of

SCRIPT = b"""
function echo(ctx, request) return request end
function rebuild(ctx, request)
  local function copy(value)
    if type(value) ~= "table" or value == json.null then return value end
    local t, n = {}, 0
    for k, v in pairs(value) do t[k] = copy(v) n = n + 1 end
    if n == 0 then return value end
    return t
  end
  return copy(request)
end
function through_json(ctx, request) return json.decode(json.encode(request)) end
"""
PROGRAM = Program(Chunk("t.lua", SCRIPT), entry="echo", memory_bytes=1 << 26, max_output_bytes=1 << 22)

LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.sampled_from([0, -1, 127, 128, 255, 256, 65535, 65536, 2**32 - 1, 2**32, -32, -33, -128, -129, 2**63 - 1]),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=40),
    st.sampled_from(["", "\0", '"\\', "é", "😀", "x" * 31, "x" * 32, "y" * 255, "y" * 256, "z" * 65536]),
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(st.lists(inner, max_size=20), st.dictionaries(st.text(max_size=8), inner, max_size=20)),
    max_leaves=60,
)


@pytest.fixture(scope="module")
def state() -> State:
    state = State(PROGRAM.memory_bytes)
    assert judge(state.load(PROGRAM), PROGRAM) == Returned(None)
    return state


NUMBERS = st.one_of(
    st.integers(-(2**63), 2**63 - 1), st.integers(0, 300), st.floats(allow_nan=False, allow_infinity=False)
)
SMALL = st.one_of(st.none(), st.booleans(), NUMBERS, st.text(max_size=40))
CELLS = st.one_of(SMALL, st.lists(SMALL, max_size=3), st.dictionaries(st.text(max_size=4), SMALL, max_size=3))


@st.composite
def tables(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Records with the same names, in whatever order, each name with values of its own kind."""
    names = draw(st.lists(st.text(max_size=40), min_size=2, max_size=12, unique=True))
    patterns = [draw(st.lists(draw(st.sampled_from([NUMBERS, CELLS])), min_size=1, max_size=4)) for _ in names]
    rows = [
        {name: pattern[row % len(pattern)] for name, pattern in zip(names, patterns, strict=True)}
        for row in range(draw(st.integers(8, 40)))
    ]
    return [*rows, dict(reversed(rows[0].items()))]


def packed(entry: str, value: Any) -> bytes:
    return ormsgpack.packb(entry) + pack(value)


def nested(levels: int) -> Any:
    value: Any = "here"
    for _ in range(levels):
        value = [value]
    return value


def typed(value: Any) -> Any:
    """Equal only where the types are equal too: 1, 1.0 and True are three things, -0.0 is not 0.0."""
    if isinstance(value, dict):
        return {key: typed(item) for key, item in value.items()}
    if isinstance(value, list):
        return [typed(item) for item in value]
    return type(value).__name__, repr(value)


@pytest.mark.parametrize("entry", ["echo", "rebuild", "through_json"])
@given(value=VALUES)
@settings(max_examples=80, deadline=None)
def test_values_keep_their_types(state: State, entry: str, value: Any) -> None:
    outcome = judge(state.enter(Operation.ENTER, packed(entry, value)), PROGRAM)
    assert isinstance(outcome, Returned), outcome
    assert typed(outcome.value) == typed(value)


@pytest.mark.parametrize("entry", ["echo", "rebuild"])
@given(rows=tables(), below=st.sampled_from([(), ("rows",), ("payload", "rows")]))
@settings(max_examples=30, deadline=None)
def test_records_of_one_shape_keep_what_they_hold(
    state: State, entry: str, rows: list[dict[str, Any]], below: tuple[str, ...]
) -> None:
    value: Any = rows
    for name in reversed(below):
        value = {"beside": [name], name: value}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("evatui.kernel.lua.values.LARGE", 0)
        data = packed(entry, value)
    outcome = judge(state.enter(Operation.ENTER, data), PROGRAM)
    assert isinstance(outcome, Returned), outcome
    assert typed(outcome.value) == typed(value)


async def test_large_records_are_read_only_like_any_other_value(engine: Engine) -> None:
    rows = [{"id": n, "name": f"row {n}", "inner": {"n": n}, "none": None} for n in range(200)]
    body = """
        local t = request.rows
        local function fixed(f) return not pcall(f) end
        local names = {}
        for name in pairs(t[200]) do names[#names + 1] = name end
        table.sort(names)
        return {
            #t, t[200].id, t[200].name, t[200].inner.n, t[200].none == json.null, t[201] == nil, names,
            fixed(function() t[1] = 1 end), fixed(function() t[201] = 1 end), fixed(function() t[7].id = 8 end),
            fixed(function() t[7].inner.n = 8 end), fixed(function() rawset(t[7], "x", 1) end),
        }
    """
    expected = [200, 199, "row 199", 199, True, True, ["id", "inner", "name", "none"], True, True, True, True, True]
    assert await value_of(engine, body, {"rows": rows}) == expected


@pytest.mark.parametrize(
    "odd", [{"a": 1}, {"a": 1, "b": 2, "c": 3}, {"a": 1, "c": 2}, [1, 2], None, "ab", {}, {"b": 2, "a": [[1], {}]}]
)
@pytest.mark.parametrize("place", [0, 100, 199])
def test_one_record_of_another_shape_is_no_matter(state: State, odd: Any, place: int) -> None:
    rows: list[Any] = [{"a": n, "b": "text" * 5} for n in range(200)]
    rows[place] = odd
    outcome = judge(state.enter(Operation.ENTER, packed("echo", {"rows": rows})), PROGRAM)
    assert isinstance(outcome, Returned), outcome
    assert typed(outcome.value) == typed({"rows": rows}) or odd == {}


@pytest.mark.parametrize("bad", [math.nan, 2**63, b"raw", {"deep": nested(MAX_DEPTH - 4)}, {1: 2}])
async def test_what_cannot_enter_is_found_in_a_record_too(engine: Engine, bad: Any) -> None:
    loaded = await engine.load(Program(Chunk("t.lua", SCRIPT), entry="echo"), timeout_s=20)
    rows = [{"id": n, "name": "text" * 10, "value": 0.5} for n in range(200)]
    assert await call(loaded, {"payload": {"rows": rows}}, entry="echo", size=9000) == Returned(
        {"payload": {"rows": rows}}
    )
    rows[150]["value"] = bad
    outcome = await call(loaded, {"payload": {"rows": rows}}, entry="echo", size=9000)
    assert isinstance(outcome, Verdict)
    assert outcome.kind is ErrorKind.INVALID_INPUT
    assert outcome.message.startswith("the request cannot enter Lua: /payload/rows/150/value")
    loaded.close()


@given(value=VALUES)
@settings(max_examples=60, deadline=None)
def test_json_of_lua_is_json(state: State, value: Any) -> None:
    encoded = judge(state.enter(Operation.ENTER, packed("echo", json.dumps(value))), PROGRAM)
    assert encoded == Returned(json.dumps(value))
    outcome = judge(state.enter(Operation.ENTER, packed("through_json", value)), PROGRAM)
    assert isinstance(outcome, Returned)
    assert typed(outcome.value) == typed(orjson.loads(orjson.dumps(value)) if value != [] else [])


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ({"a": [1, math.nan]}, "/a/1"),
        ([math.inf], "/0"),
        ({"n": 2**63}, "/n"),
        ({"n": {"x/y~": -(2**63) - 1}}, "/n/x~1y~0"),
        ([b"bytes"], "/0"),
        ({1: 2}, ""),
        ({"deep": nested(MAX_DEPTH)}, "/deep/0/0/0/0/0/0/0"),
        ({"s": "\ud800"}, "/s"),
        ([{1, 2}], "/0"),
        ([object()], "/0"),
        (["x" * 5_000_000], ""),
        (list(range(300_000)), ""),
    ],
)
@pytest.mark.parametrize("size", [None, 6_000_000])
async def test_what_cannot_enter_is_named(engine: Engine, value: Any, path: str, size: int | None) -> None:
    loaded = await engine.load(Program(Chunk("t.lua", SCRIPT), entry="echo"), timeout_s=20)
    outcome = await call(loaded, value, entry="echo", size=size)
    assert isinstance(outcome, Verdict)
    assert outcome.kind is ErrorKind.INVALID_INPUT
    assert outcome.message.startswith(f"the request cannot enter Lua: {path or 'the value'}: ")
    assert await call(loaded, "after", entry="echo") == Returned("after")
    loaded.close()


@pytest.mark.parametrize(
    "value", [math.nan, [1.5, 2.5, -math.inf, 4.5], [2**63] * 4, [1, b"raw"], {"deep": nested(MAX_DEPTH)}]
)
async def test_measured_values_are_looked_at_on_the_way_in(engine: Engine, value: Any) -> None:
    loaded = await engine.load(Program(Chunk("t.lua", SCRIPT), entry="echo"), timeout_s=20)
    outcome = await call(loaded, value, entry="echo", size=100)
    assert isinstance(outcome, Verdict)
    assert outcome.kind is ErrorKind.INVALID_INPUT
    assert await call(loaded, nested(MAX_DEPTH), entry="echo", size=100) == Returned(nested(MAX_DEPTH))
    loaded.close()


@pytest.mark.parametrize(
    ("value", "path"),
    [
        (math.inf, "the value"),
        ({"n": [2**63]}, "/n/0"),
        (b"raw", "the value"),
        ({1: 2}, "the value"),
        (nested(MAX_DEPTH + 1), "/0/0/0/0/0/0/0/0"),
    ],
)
async def test_an_answer_of_the_host_that_cannot_enter_is_an_error(engine: Engine, value: Any, path: str) -> None:
    async def host(function: str, argument: Any) -> Any:
        return value

    body = "local ok, e = pcall(ctx.host.call_tool, {}) return {ok, e.kind, e.message}"
    ok, kind, message = await value_of(engine, body, host=host)
    assert (ok, kind) == (False, "HostError")
    assert message.startswith(f"the host's answer cannot enter Lua: {path}: ")


def test_a_value_that_is_endless_when_written_out_is_refused_early() -> None:
    value: Any = ["x"]
    for _ in range(60):
        value = [value, value]
    with pytest.raises(Unpackable, match="larger than"):
        pack(value)
    for wide in ("x" * 100_000, [0] * 100_000, dict.fromkeys(map(str, range(100_000)), 0)):
        with pytest.raises(Unpackable, match="larger than"):
            pack([wide] * 100_000)


@pytest.mark.parametrize(
    ("expression", "path", "message"),
    [
        ("{a = {1, 2, {b = print}}}", "/a/2/b", "a function cannot leave Lua"),
        ("{['x/y~z'] = {0/0}}", "/x~1y~0z/0", "a number that is not finite"),
        ("{list = {1, 2, nil, 4}}", "/list", "an array with holes"),
        ("{{}, {1, x = 2}}", "/1", "a table with both positions and names"),
        ("{a = {[true] = 1}}", "/a", "a boolean as a name"),
        ("{a = {[2.5] = 1}}", "/a", "with a fraction as a name"),
        ("{a = '\\xff'}", "/a", "the text is not valid UTF-8"),
        ("{a = {['\\xff'] = 1}}", "/a/\ufffd", "the name is not valid UTF-8"),
        ("print", "", "a function cannot leave Lua"),
        ("(function() local t = {x = {}} t.x.y = {t.x} return t end)()", "/x", "a table that contains itself"),
    ],
)
async def test_what_cannot_leave_is_named(engine: Engine, expression: str, path: str, message: str) -> None:
    outcome = await outcome_of(engine, f"function invoke() return {expression} end")
    assert isinstance(outcome, BadValue)
    assert outcome.path == path
    assert message in outcome.message


async def test_arrays_are_told_by_their_keys_alone(engine: Engine) -> None:
    body = """
      local backwards = {} for i = 40, 1, -1 do backwards[i] = i end
      local shrunk = json.array({1}) shrunk[1] = nil
      local filled = json.object() filled[1] = "x"
      return {backwards, shrunk, filled, setmetatable({1, 2}, {__index = {x = 1}, __len = function() return 9 end})}
    """
    assert await value_of(engine, body) == [list(range(1, 41)), [], ["x"], [1, 2]]


async def test_nothing_in_a_table_is_left_behind(engine: Engine) -> None:
    """Where a name or a hole lies in a table is Lua's matter: it may be before the last position, or after it."""
    body = """
      local function tells(t)
        local sent, why = pcall(ctx.host.call_tool, t)
        return sent and "sent" or why.message:match(": (a[%a ]+)") or why.message
      end
      local seen = {}
      for n = 1, 70 do
        for more = 1, 4 do
          local mixed, gap = {}, {}
          for i = 1, n do mixed[i], gap[i] = i, i end
          mixed["k" .. n] = 1
          gap[2 * n + 9] = 1
          for i = n + 1, n + more do mixed[i], gap[i] = i, i end
          seen[tells(mixed)], seen[tells(gap)] = true, true
          mixed["k" .. n], gap[2 * n + 9] = nil, nil
          seen[tells({mixed, gap})] = true
        end
      end
      return seen
    """

    async def host(function: str, argument: Any) -> Any:
        return None

    assert await value_of(engine, body, host=host) == {
        "sent": True,
        "a table with both positions and names": True,
        "an array with holes ": True,
    }


async def test_a_hole_before_the_last_position_is_named(engine: Engine) -> None:
    outcome = await outcome_of(engine, "function invoke() return {1, 2, [10] = 10, [3] = 3} end")
    assert isinstance(outcome, BadValue)
    assert "an array with holes" in outcome.message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[1,]", "a value expected at byte 4"),
        ('{"a" 1}', "':' expected at byte 6"),
        ("{a:1}", "a name in quotes expected at byte 2"),
        ("[1 2]", "',' or ']' expected"),
        ("01", "a value expected at byte 1"),
        ("[-]", "a value expected"),
        ("nul", "a value expected"),
        ('"\\x"', "an escape expected"),
        ('"\\ud800"', "second half"),
        ('"\\udc00"', "first half"),
        ('"abc', "closing quote"),
        ('"a\nb"', "control character"),
        ("", "a value expected at byte 1"),
        ("[" * 100, "nested deeper"),
    ],
)
async def test_json_that_is_none_is_an_error_with_its_place(engine: Engine, text: str, message: str) -> None:
    found = await value_of(engine, "local ok, e = pcall(json.decode, request) return {ok, e}", text)
    assert found[0] is False
    assert message in found[1]


async def test_json_numbers_and_order(engine: Engine) -> None:
    body = """
      local numbers = {1.0, 0.1, -0.0, 1e300, 2^53, 123456789012345678}
      return {json.encode({b = 1, a = numbers, c = {}, d = json.array(), e = json.null}),
        json.decode("[1, 1.0, 1e2, -0, 9223372036854775807, 9223372036854775808, \\"\\\\u00e9\\\\ud83d\\\\ude00\\"]")}
    """
    text, numbers = await value_of(engine, body)
    assert text == ('{"a":[1.0,0.1,-0.0,1e+300,9007199254740992.0,123456789012345678],"b":1,"c":{},"d":[],"e":null}')
    assert typed(numbers) == typed([1, 1.0, 100.0, 0, 2**63 - 1, float(2**63), "é😀"])


async def test_results_out_of_the_ordinary_leave_as_well(engine: Engine) -> None:
    """What the quick way out does not take: metatables, mixed places, errors, values beside its limits."""
    body = """
      local point = setmetatable({x = 1.5, name = "é"}, {__index = {y = 2}})
      local backwards = {} for i = 3, 1, -1 do backwards[i] = {i} end
      local ok, failure = pcall(ctx.host.call_tool, {})
      local long = {} for i = 1, 20000 do long[i] = "" end
      return {point, backwards, failure, #long, {long}}
    """

    async def host(function: str, argument: Any) -> Any:
        raise failure(ErrorKind.NOT_FOUND, "no such tool ñ")

    value = await value_of(engine, body, host=host)
    error = {"kind": "NotFound", "message": "no such tool ñ", "retryable": False}
    assert value == [{"x": 1.5, "name": "é"}, [[1], [2], [3]], error, 20000, [[""] * 20000]]


async def test_text_that_is_no_utf_8_is_refused_on_every_way_out(engine: Engine) -> None:
    body = """
      local sent, why = pcall(ctx.host.call_tool, {a = {"fine", "\\xff"}})
      local printed, message = pcall(error, "bad \\xe9 text")
      return {sent, why.message, printed, (message:gsub("\\xe9", "e"))}
    """
    value = await value_of(engine, body)
    assert value == [False, "the argument of call_tool at /a/1: the text is not valid UTF-8", False, "bad e text"]
    outcome = await outcome_of(engine, "function invoke() error('bad \\xe9 text ' .. ('ñ'):rep(2000)) end")
    assert isinstance(outcome, Raised)
    assert outcome.message.startswith(f"{NAME}:1: bad \ufffd text ñññ")
    outcome = await outcome_of(engine, "function invoke() error({message = '\\xff', kind = '\\xfe'}) end")
    assert outcome == Raised("\ufffd", "\ufffd", False, NAME, 1, None)
