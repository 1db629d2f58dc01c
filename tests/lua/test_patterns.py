"""Patterns mean the same whether the stock matcher runs them or, for dear ones, the one in Lua."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evatui.kernel.lua import Chunk, Program, Returned
from evatui.kernel.lua.judge import judge
from evatui.kernel.lua.state import Operation, State
from evatui.kernel.lua.values import pack
from tests.lua.bare import bare_value

TRY = """
  local text, pattern, replacement = ...
  local out = {}
  local function try(name, ...)
    local results = table.pack(pcall(...))
    for i = 1, results.n do
      if results[i] == nil then results[i] = "(nil)" end
    end
    if not results[1] then results[2] = "an error" end
    results.n = nil
    out[#out + 1] = results
  end
  try("find", string.find, text, pattern)
  try("find from 3", string.find, text, pattern, 3)
  try("find from -2", string.find, text, pattern, -2)
  try("match", string.match, text, pattern)
  try("gsub text", string.gsub, text, pattern, replacement)
  try("gsub table", string.gsub, text, pattern, {a = "A", [""] = "-"})
  try("gsub function", string.gsub, text, pattern, function(...) return select("#", ...) .. tostring((...)) end, 3)
  try("gmatch", function()
    local all = {}
    for a, b in string.gmatch(text, pattern) do
      all[#all + 1] = tostring(a) .. ":" .. tostring(b)
    end
    return table.concat(all, ",")
  end)
  return out
"""
DEAR = "~*" * 25
"""Matches nothing, but makes any pattern too dear for the stock matcher by estimate."""


@pytest.fixture(scope="module")
def state() -> State:
    source = f"local function try(...) {TRY} end function invoke(ctx, r) return try(r[1], r[2], r[3]) end"
    program = Program(Chunk("t.lua", source.encode()), memory_bytes=1 << 26)
    state = State(program.memory_bytes)
    assert judge(state.load(program), program) == Returned(None)
    return state


def sandboxed(state: State, *arguments: str) -> Any:
    outcome = judge(state.enter(Operation.ENTER, pack("invoke") + pack(list(arguments))), Program(Chunk("t.lua", b"")))
    assert isinstance(outcome, Returned), outcome
    return outcome.value


ITEMS = st.sampled_from(
    ["a", "b", ".", "%a", "%d", "%s", "%w", "%S", "%.", "[ab]", "[^a]", "[a-c%d]", "[]x]", "[^]]", "[%a_-]", "x"]
)
REPEATED = st.builds(str.__add__, ITEMS, st.sampled_from(["", "", "*", "+", "-", "?"]))
SPECIAL = st.sampled_from(["()", "(", ")", "%1", "%b()", "%f[%w]", "%f[^%w]", "$", "^"])
GROUP = st.builds(lambda items: f"({''.join(items)})", st.lists(REPEATED, max_size=3))
PATTERN = st.builds(
    lambda anchor, items, end: anchor + DEAR + "".join(items) + end,
    st.sampled_from(["", "", "^"]),
    st.lists(st.one_of(REPEATED, REPEATED, GROUP, SPECIAL), max_size=5),
    st.sampled_from(["", "", "$"]),
)
TEXT = st.text("ab1 (x)_.%", max_size=12)
REPLACEMENT = st.sampled_from(["", "x", "<%0>", "%1", "%2", "%%", "%", "a%1b%0"])


@given(text=TEXT, pattern=PATTERN, replacement=REPLACEMENT)
@settings(max_examples=150, deadline=None)
def test_dear_patterns_mean_what_they_mean_in_stock_lua(
    state: State, text: str, pattern: str, replacement: str
) -> None:
    assert sandboxed(state, text, pattern, replacement) == bare_value(TRY, text, pattern, replacement)


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ("key = value " * 60, "^%s*(.-)%s*$"),
        ("a=1, b = 22,c=3;" * 50, "(%w+)%s*=%s*(%w+)"),
        ("x" * 5000 + "y", "x*y"),
        ("(" * 200 + ")" * 200, "%b()"),
        ("THE (quick) fox " * 400, "%f[%a]%a+%f[%A]"),
        ("one two  three " * 500, "(%a+)(%s+)(%a+)"),
    ],
)
def test_long_texts_are_matched_as_in_stock_lua(state: State, text: str, pattern: str) -> None:
    assert sandboxed(state, text, pattern, "<%0>") == bare_value(TRY, text, pattern, "<%0>")


def test_a_plain_search_finds_what_spans_its_windows(state: State) -> None:
    source = """
      function invoke(ctx, r)
        local wanted = ("a"):rep(2000) .. "b"
        local text = ("a"):rep(150000) .. wanted
        local from, to = text:find(wanted, 5, true)
        return {from, to, text:find(wanted .. "c", 1, true) == nil, text:find(wanted, -2001, true)}
      end"""
    program = Program(Chunk("t.lua", source.encode()), memory_bytes=1 << 26)
    fresh = State(program.memory_bytes)
    fresh.load(program)
    outcome = judge(fresh.enter(Operation.ENTER, pack("invoke")), program)
    assert outcome == Returned([150001, 152001, True, 150001, 152001])


@pytest.mark.parametrize("pattern", ["%", "[a", "[^", "[%", "%b(", "%f", "(a", "a)", "%1", "(" * 40])
def test_malformed_patterns_are_errors(state: State, pattern: str) -> None:
    tried = sandboxed(state, "aaa", DEAR + pattern, "")
    assert tried[0] == [False, "an error"]
