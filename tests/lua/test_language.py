"""Ordinary Lua gives the same results in the sandbox as in stock Lua."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from evatui.kernel.lua import Engine, Raised
from tests.lua.beside import in_sandbox, in_stock_lua
from tests.lua.harness import NAME, outcome_of, value_of

FILES = sorted((Path(__file__).parent / "programs").glob("*.yaml"))


@pytest.mark.parametrize("file", FILES, ids=[file.stem for file in FILES])
async def test_ordinary_programs_show_the_same(engine: Engine, file: Path) -> None:
    """Results with their types, and the texts of errors."""
    programs = yaml.load(file.read_text("utf-8"), yaml.CSafeLoader)
    assert len(programs) > 10
    shown = {name: await in_sandbox(engine, body) for name, body in programs.items()}
    assert shown == {name: in_stock_lua(body) for name, body in programs.items()}


async def test_a_metamethod_added_later_has_no_effect_until_set_again(engine: Engine) -> None:
    body = """
      local mt = {} local t = setmetatable({}, mt)
      mt.__index = function() return "late" end
      local before = t.x
      setmetatable(t, mt)
      return {before == nil, t.x, getmetatable(t) == mt}
    """
    assert await value_of(engine, body) == [True, "late", True]


async def test_methods_added_to_the_string_table_are_methods_of_texts(engine: Engine) -> None:
    assert await value_of(engine, "function string.twice(s) return s .. s end return ('ab'):twice()") == "abab"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("local x = ('x'):rep({})", "bad argument #1 to 'rep' (number expected, got table)"),
        ("local x = string.find(nil, 'x')", "bad argument #1"),
        ("local x = setmetatable(1, {})", "table expected, got number"),
        ("local x = coroutine.wrap(1)", "function expected, got number"),
        ("local x = xpcall(print)", "function expected, got nil"),
        ("local x = table.concat({1, {}})", "invalid value (table) at index 2"),
        ("local x = {} .. 'a'", "attempt to concatenate a table value"),
        ("local x = tostring()", "value expected"),
    ],
)
async def test_wrong_arguments_are_named(engine: Engine, body: str, message: str) -> None:
    outcome = await outcome_of(engine, f"function invoke()\n{body}\nend")
    assert isinstance(outcome, Raised)
    assert message in outcome.message
    assert outcome.line == 2
    assert outcome.message.startswith(f"{NAME}:2: ")
    assert "evatui" not in outcome.message
    assert "?" not in outcome.message
