"""What a hostile script can do while it is loaded, and what it can get hold of. Its calls: tests/runtime."""

from __future__ import annotations

from typing import Any

import pytest

from evatui.kernel.lua import Engine, LoadFailed, Returned
from evatui.kernel.model.errors import ErrorKind
from tests.lua.harness import call, program


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        ("while true do end", ErrorKind.TIMEOUT),
        ("while true do pcall(function() while true do end end) end", ErrorKind.TIMEOUT),
        ("local t = {} while true do t[#t + 1] = {} end", ErrorKind.MEMORY_EXCEEDED),
        ("local f = " + "(" * 300 + "1" + ")" * 300, ErrorKind.HANDLER_ERROR),
        ("\x1bLua not bytecode", ErrorKind.HANDLER_ERROR),
    ],
)
async def test_loading_runs_under_the_same_limits(engine: Engine, source: str, kind: ErrorKind) -> None:
    with pytest.raises(LoadFailed) as failed:
        await engine.load(program(source), timeout_s=0.3)
    assert failed.value.kind in {kind, ErrorKind.TIMEOUT}


async def test_nothing_of_the_sandbox_can_be_reached(engine: Engine) -> None:
    """Walks all that a handler can get hold of: only plain values, and only functions that are documented."""
    walk = """
      local types, functions, seen = {}, {}, {}
      local function visit(path, value)
        types[type(value)] = true
        if type(value) == "function" then functions[#functions + 1] = path end
        if type(value) ~= "table" or seen[value] then return end
        seen[value] = true
        for k, v in pairs(value) do visit(path .. "." .. tostring(k), v) end
        visit(path .. "#", getmetatable(value))
      end
      visit("", {G = _G, ctx = ctx, request = request, meta = getmetatable(""), fail = select(2, pcall(ctx.host.now))})
      table.sort(functions)
      return {types = types, functions = functions}
    """

    async def host(function: str, argument: Any) -> Any:
        raise RuntimeError

    loaded = await engine.load(program(f"function invoke(ctx, request) {walk} end"), timeout_s=20)
    outcome = await call(loaded, {"a": [{}]}, host=host)
    loaded.close()
    assert isinstance(outcome, Returned)
    assert set(outcome.value["types"]) == {"table", "function", "string", "number", "nil", "boolean"}
    reached = {path.removeprefix(".G").removeprefix("._G") for path in outcome.value["functions"]}
    names = {path.rsplit(".", 1)[-1] for path in reached}
    assert not names & {
        *("load", "loadstring", "loadfile", "dofile", "dump", "collectgarbage", "setfenv", "getfenv", "newproxy"),
        *("execute", "getenv", "exit", "rename", "tmpname", "setlocale", "open", "popen", "lines"),
        *("getinfo", "getregistry", "sethook", "getupvalue", "traceback", "loadlib", "searchpath", "as_attrgetter"),
    }
    assert {path for path in reached if path.startswith(".os.")} == {".os.clock", ".os.date", ".os.time"}
