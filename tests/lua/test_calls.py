"""Calling a handler: what it gets, what comes back, and what its errors say."""

from __future__ import annotations

from typing import Any

import pytest

from evatui.kernel.lua import AMBIGUOUS, Chunk, Engine, LoadFailed, Program, Raised, Returned, resolve_empty
from evatui.kernel.model.errors import ErrorKind
from tests.lua.harness import NAME, call, outcome_of, program, value_of


async def test_a_handler_gets_its_request_and_answers(engine: Engine) -> None:
    value = await value_of(engine, "return {ok = true, result = {sum = request.a + request.b}}", {"a": 1, "b": 2})
    assert value == {"ok": True, "result": {"sum": 3}}


async def test_a_script_may_return_a_table_of_functions(engine: Engine) -> None:
    source = "local M = {} function M.invoke(ctx, request) return request end return M"
    assert await outcome_of(engine, source, "hello") == Returned("hello")


async def test_only_the_first_result_counts(engine: Engine) -> None:
    assert await value_of(engine, "return 1, 2, 3") == 1


async def test_no_result_is_null(engine: Engine) -> None:
    assert await value_of(engine, "") is None


@pytest.mark.parametrize(
    "change",
    [
        "request.a = 1",
        "request.new = 1",
        "request.list[1] = 'x'",
        "request.deep.inner.x = nil",
        "rawset(request, 'a', 1)",
        "table.insert(request.list, 4)",
        "table.sort(request.list)",
        "table.remove(request.list)",
        "table.move({1}, 1, 1, 1, request.list)",
        "setmetatable(request, {})",
        "ctx.host.log = nil",
        "for _, inner in pairs(request) do if type(inner) == 'table' then inner.x = 1 end end",
        "local _, inner = next(request.deep) inner.x = 1",
        "local _, loop = pairs(request) loop.a = 1",
        "setmetatable({}, {__index = request}).list[1] = 'x'",
    ],
)
async def test_the_request_is_read_only(engine: Engine, change: str) -> None:
    request = {"a": 0, "list": [3, 1, 2], "deep": {"inner": {"x": 1}}}
    code = f"local ok, e = pcall(function() {change} end) return {{ok, tostring(e), request}}"
    ok, message, seen = await value_of(engine, code, request)
    assert not ok
    assert "read-only" in message or "protected" in message
    assert seen == request


async def test_a_read_only_request_reads_like_any_table(engine: Engine) -> None:
    body = """
      local names = {}
      for name in pairs(request) do names[#names + 1] = name end
      table.sort(names)
      local tags = {}
      for i, tag in ipairs(request.tags) do tags[i] = tag:upper() end
      return {
        names = names, tags = tags, count = #request.tags, joined = table.concat(request.tags, "+"),
        unpacked = {table.unpack(request.tags)}, first = select(2, next(request.one)), raw = rawget(request, "n"),
        empty = next(request.none) == nil, same = request.one == request.one, text = json.encode(request.tags),
        moved = table.move(request.tags, 1, 2, 1, {}), null = request.null == json.null, absent = request.x == nil,
        metatable = getmetatable(request.tags), raw_length = rawlen(request.tags),
      }
    """
    request = {"tags": ["a", "b"], "one": {"k": "v"}, "none": {}, "n": 7, "null": None}
    assert await value_of(engine, body, request) == {
        "names": ["n", "none", "null", "one", "tags"],
        "tags": ["A", "B"],
        "count": 2,
        "joined": "a+b",
        "unpacked": ["a", "b"],
        "first": "v",
        "raw": 7,
        "empty": True,
        "same": True,
        "text": '["a","b"]',
        "moved": ["a", "b"],
        "null": True,
        "absent": True,
        "metatable": "read-only",
        "raw_length": 2,
    }


async def test_an_error_names_its_file_and_line(engine: Engine) -> None:
    outcome = await outcome_of(engine, "function invoke()\n  local t\n  return t.x\nend")
    assert isinstance(outcome, Raised)
    assert (outcome.file, outcome.line) == (NAME, 3)
    assert "attempt to index a nil value (local 't')" in outcome.message


async def test_an_error_table_keeps_its_fields(engine: Engine) -> None:
    source = (
        "function invoke()\n\n  error({kind = 'NotFound', message = 'no such topic', retryable = true, n = 1})\nend"
    )
    assert await outcome_of(engine, source) == Raised(
        "no such topic",
        "NotFound",
        True,
        NAME,
        3,
        {"kind": "NotFound", "message": "no such topic", "retryable": True, "n": 1},
    )


@pytest.mark.parametrize(
    ("raised", "message"),
    [("nil", "a nil was raised"), ("42", "42"), ("print", "a function was raised"), ("{}", "a table was raised")],
)
async def test_an_error_may_be_anything(engine: Engine, raised: str, message: str) -> None:
    outcome = await outcome_of(engine, f"function invoke() error({raised}) end")
    assert isinstance(outcome, Raised)
    assert message in outcome.message


async def test_control_characters_of_an_error_are_made_visible(engine: Engine) -> None:
    outcome = await outcome_of(engine, r"function invoke() error('\27[2J\xff', 0) end")
    assert isinstance(outcome, Raised)
    assert outcome.message == "␛[2J�"


@pytest.mark.parametrize(
    ("source", "line", "message"),
    [
        ("function invoke(\n  return 1\nend", 2, "near 'return'"),
        ("local x\n\nx.y = 1", 3, "attempt to index a nil value"),
        ("local function deep()\n  error('not today')\nend\ndeep()", 2, "not today"),
    ],
)
async def test_a_script_that_does_not_load_says_where(engine: Engine, source: str, line: int, message: str) -> None:
    with pytest.raises(LoadFailed) as failed:
        await engine.load(program(source), timeout_s=20)
    assert failed.value.kind is ErrorKind.HANDLER_ERROR
    assert (failed.value.file, failed.value.line) == (NAME, line)
    assert message in failed.value.message


async def test_a_long_path_is_named_whole(engine: Engine) -> None:
    name = "capabilities/tools/" + "deeper/" * 20 + "tool.lua"
    with pytest.raises(LoadFailed) as failed:
        await engine.load(Program(Chunk(name, b"\n\nx = = 1")), timeout_s=20)
    assert (failed.value.file, failed.value.line) == (name, 3)


async def test_a_missing_entry_or_health_check_fails_the_load(engine: Engine) -> None:
    for fields in ({"entry": "run"}, {"health_check": "run"}):
        with pytest.raises(LoadFailed) as failed:
            await engine.load(program("function invoke() end", **fields), timeout_s=20)
        assert failed.value.kind is ErrorKind.NOT_FOUND
        assert "'run'" in failed.value.message


async def test_modules_are_those_of_the_manifest(engine: Engine) -> None:
    kit = b"loads = (loads or 0) + 1\nreturn {up = function(s) return s:upper() end}"
    script = b"local kit = require('kit')\nfunction invoke(ctx, r) return {require('kit').up(r), loads} end"
    loaded = await engine.load(
        Program(Chunk("a.lua", script), modules={"kit": Chunk("modules/kit.lua", kit)}), timeout_s=20
    )
    assert await call(loaded, "x") == Returned(["X", 1])
    loaded.close()


@pytest.mark.parametrize(
    ("module", "file", "line", "message"),
    [
        (b"x =\n+", "m.lua", 2, "near '+'"),
        (b"\nerror('broken')", "m.lua", 2, "broken"),
        (b"local m = require('m')", "m.lua", 1, "requires itself"),
        (b"local io = require('io')", "m.lua", 1, "not declared"),
    ],
)
async def test_a_module_that_fails_is_named(engine: Engine, module: bytes, file: str, line: int, message: str) -> None:
    with pytest.raises(LoadFailed) as failed:
        await engine.load(
            Program(Chunk("a.lua", b"\n\nlocal m = require('m')"), modules={"m": Chunk("m.lua", module)}), timeout_s=20
        )
    assert message in failed.value.message
    assert (failed.value.file, failed.value.line) == (file, line)


async def test_a_module_that_failed_is_tried_again(engine: Engine) -> None:
    source = b"""
      attempts = 0
      local function tried() return select(2, pcall(require, "m")) end
      function invoke() return {tried(), tried(), tried(), attempts} end
    """
    module = b"attempts = attempts + 1 if attempts < 3 then error('not yet ' .. attempts, 0) end return 'there'"
    loaded = await engine.load(Program(Chunk("a.lua", source), modules={"m": Chunk("m.lua", module)}), timeout_s=20)
    assert await call(loaded) == Returned(["not yet 1", "not yet 2", "there", 3])


async def test_bom_and_shebang_are_not_code(engine: Engine) -> None:
    assert await outcome_of(engine, "\ufeff#!/usr/bin/lua\nfunction invoke() return 1 end") == Returned(1)


async def test_an_unmarked_empty_table_is_what_the_schema_wants(engine: Engine) -> None:
    outcome = await outcome_of(
        engine, "function invoke() return {a = {}, ['b/c'] = {{}}, d = json.array(), e = json.object()} end"
    )
    assert outcome == Returned({"a": AMBIGUOUS, "b/c": [AMBIGUOUS], "d": [], "e": {}})
    asked: list[str] = []

    def wants_array(pointer: str) -> bool:
        asked.append(pointer)
        return pointer == "/a"

    assert isinstance(outcome, Returned)
    assert resolve_empty(outcome.value, wants_array) == {"a": [], "b/c": [{}], "d": [], "e": {}}
    assert sorted(asked) == ["/a", "/b~1c/0"]


async def test_what_finish_raises_reaches_the_caller(engine: Engine) -> None:
    def finish(outcome: Any) -> None:
        raise LookupError(str(outcome))

    with pytest.raises(LookupError, match="value=1"):
        await outcome_of(engine, "function invoke() return 1 end", finish=finish)


async def test_health_check_gets_only_the_context(engine: Engine) -> None:

    source = (
        "function invoke() end function check(ctx, r) return {ok = type(ctx.host.now) == 'function' and r == nil} end"
    )
    loaded = await engine.load(program(source, health_check="check"), timeout_s=5)
    assert await loaded.health(allowed_s=60, host=None) == Returned({"ok": True})  # type: ignore[arg-type]
    loaded.close()
