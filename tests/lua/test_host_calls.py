"""ctx.host: calls leave Lua and come back, wherever the handler makes them."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from evatui.kernel.lua import HOST_FUNCTIONS, Engine, Raised, Returned, Verdict
from evatui.kernel.model.errors import ErrorKind, failure
from tests.lua.harness import call, outcome_of, program, value_of


class Recorder:
    """Answers with what it was asked, and remembers it."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, Any]] = []

    async def __call__(self, function: str, argument: Any) -> Any:
        await asyncio.sleep(0)
        self.calls.append((function, argument))
        match function:
            case "now":
                return ["2026-01-02T03:04:05.678Z", 1767323045678]
            case "state_get":
                return {"value": argument["key"], "version": len(self.calls)}
            case "fs_read_text":
                raise failure(ErrorKind.POLICY_DENIED, "no grant covers it", retryable=False, secret="x")
            case "spawn_process":
                raise ZeroDivisionError("/etc/secret")
            case "fs_list":
                return [float("nan")]
        return argument


async def test_every_documented_function_is_there(engine: Engine) -> None:
    names = await value_of(engine, "local t = {} for k, f in pairs(ctx.host) do t[k] = type(f) end return t")
    assert names == dict.fromkeys(HOST_FUNCTIONS, "function")


async def test_arguments_and_answers(engine: Engine) -> None:
    host = Recorder()
    body = """
      local text, ms = ctx.host.now()
      ctx.host.log("warn", {a = 1, empty = {}})
      ctx.host.log("info")
      print("x", 1, nil, {}, true)
      ctx.host.progress()
      return {text, ms, ctx.host.state_get{key = "k"}.value, ctx.host.call_tool({list = json.array()})}
    """
    assert await value_of(engine, body, host=host) == ["2026-01-02T03:04:05.678Z", 1767323045678, "k", {"list": []}]
    assert host.calls == [
        ("now", None),
        ("log", {"level": "warn", "fields": {"a": 1, "empty": {}}}),
        ("log", {"level": "info"}),
        ("log", {"level": "info", "fields": {"message": "x\t1\tnil\ttable\ttrue"}}),
        ("progress", None),
        ("state_get", {"key": "k"}),
        ("call_tool", {"list": []}),
    ]


@pytest.mark.parametrize(
    "body",
    [
        "return get('a')",
        "return select(2, pcall(get, 'a'))",
        "return select(2, xpcall(get, error, 'a'))",
        "return coroutine.wrap(function() return get('a') end)()",
        "return coroutine.wrap(function() return coroutine.wrap(function() return get('a') end)() end)()",
        "local co = coroutine.create(get) return select(2, coroutine.resume(co, 'a'))",
        "for v in coroutine.wrap(function() coroutine.yield(get('a')) end) do return v end",
        "for v in function() return get('a') end do return v end",
        "return setmetatable({}, {__index = function(_, k) return get(k) end}).a",
        "return setmetatable({}, {__call = function() return get('a') end})()",
        "return setmetatable({}, {__concat = function() return get('a') end}) .. 'x'",
        "local v do local c <close> = setmetatable({}, {__close = function() v = get('a') end}) end return v",
        "local _, e = pcall(function() error({v = get('a')}) end) return e.v",
        "local _, v = xpcall(error, function() return get('a') end) return v",
        "local ok, v = coroutine.resume(coroutine.create(function() return select(2, pcall(get, 'a')) end)) return v",
    ],
)
async def test_a_host_call_works_wherever_lua_can_wait(engine: Engine, body: str) -> None:
    body = "local function get(k) return ctx.host.state_get{key = k}.value end " + body
    assert await value_of(engine, body, host=Recorder()) == "a"


@pytest.mark.parametrize(
    "body",
    [
        "table.sort({2, 1}, function(a, b) get() return a < b end)",
        "string.gsub('a', 'a', function() get() end)",
        "string.gsub('a', 'a', function() coroutine.wrap(get)() end)",
        "local function f() local c <close> = setmetatable({}, {__close = get}) coroutine.yield() end "
        "local co = coroutine.create(f) coroutine.resume(co) error(select(2, coroutine.close(co)))",
    ],
)
async def test_where_lua_cannot_wait_a_host_call_says_so(engine: Engine, body: str) -> None:
    host = Recorder()
    source = f"function invoke(ctx)\nlocal function get() return ctx.host.state_get{{key = 'a'}} end\n{body}\nend"
    outcome = await outcome_of(engine, source, host=host)
    assert isinstance(outcome, Raised)
    assert outcome.kind == "HostError"
    assert outcome.message.startswith("state_get cannot be called here")
    assert host.calls == []


async def test_a_refusal_can_be_caught_and_read(engine: Engine) -> None:
    body = """
      local ok, e = pcall(ctx.host.fs_read_text, {path = "x"})
      return {ok, e.kind, e.message, e.retryable, tostring(e)}
    """
    assert await value_of(engine, body, host=Recorder()) == [
        *(False, "PolicyDenied", "no grant covers it", False),
        "PolicyDenied: no grant covers it",
    ]


async def test_a_refusal_that_is_not_caught_is_the_outcome(engine: Engine) -> None:
    outcome = await outcome_of(engine, "function invoke(ctx)\n\nctx.host.fs_read_text{}\nend", host=Recorder())
    assert isinstance(outcome, Raised)
    assert (outcome.kind, outcome.message, outcome.line) == ("PolicyDenied", "no grant covers it", 3)


async def test_a_host_that_breaks_tells_nothing_of_itself(engine: Engine) -> None:
    outcome = await outcome_of(engine, "function invoke(ctx) ctx.host.spawn_process{} end", host=Recorder())
    assert isinstance(outcome, Raised)
    assert (outcome.kind, outcome.message) == ("HostError", "the host call failed")


async def test_an_answer_that_cannot_enter_is_a_host_error(engine: Engine) -> None:
    outcome = await outcome_of(engine, "function invoke(ctx) ctx.host.fs_list{} end", host=Recorder())
    assert isinstance(outcome, Raised)
    assert outcome.kind == "HostError"
    assert "Lua: /0: a number that is not finite" in outcome.message


async def test_an_argument_that_cannot_leave_is_an_error_in_the_handler(engine: Engine) -> None:
    host = Recorder()
    body = """
      local _, e = pcall(ctx.host.state_set, {key = "k", value = {print}})
      local _, big = pcall(ctx.host.state_set, {value = ("x"):rep(2000000)})
      return {e.kind, e.message, big.message}
    """
    kind, message, big = await value_of(engine, body, host=host)
    assert kind == "InvalidInput"
    assert message == "the argument of state_set at /value/0: a function cannot leave Lua"
    assert "larger than" in big
    assert host.calls == []


async def test_past_its_limit_of_host_calls_a_handler_is_ended(engine: Engine) -> None:
    host = Recorder()
    source = "function invoke(ctx) for i = 1, 6 do pcall(ctx.host.progress, {done = i}) end return 'caught' end"
    outcome = await outcome_of(engine, source, host=host, host_calls=5)
    assert isinstance(outcome, Verdict)
    assert outcome.kind is ErrorKind.HOST_CALL_LIMIT
    assert len(host.calls) == 5


async def test_answers_belong_to_the_handler_and_may_be_changed(engine: Engine) -> None:
    body = """
      local answer = ctx.host.call_tool({list = {3, 1, 2}, none = {}})
      table.sort(answer.list) answer.extra = true answer.none[1] = "x"
      return answer
    """
    assert await value_of(engine, body, host=Recorder()) == {"list": [1, 2, 3], "none": ["x"], "extra": True}


async def test_print_at_the_top_level_does_not_keep_a_script_from_loading(engine: Engine) -> None:
    loaded = await engine.load(program("print('loading') function invoke() return 1 end"), timeout_s=20)
    assert await call(loaded) == Returned(1)
    loaded.close()


async def test_one_text_that_is_no_utf_8_after_the_other_is_refused(engine: Engine) -> None:
    body = """
      local refused = 0
      for i = 1, 5 do
        local ok, e = pcall(ctx.host.call_tool, "\\xff")
        refused = refused + (e.kind == "InvalidInput" and 1 or 0)
      end
      return refused
    """
    assert await value_of(engine, body) == 5
