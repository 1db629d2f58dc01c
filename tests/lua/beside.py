"""One program in the sandbox and in stock Lua, and what each of them shows for it."""

from __future__ import annotations

import re

import lupa.lua54 as lua54

from evatui.kernel.lua import Engine, Returned
from tests.lua.harness import NAME, call, no_host, program

__all__ = ["in_sandbox", "in_stock_lua"]

# The program first, so that its lines are counted from one. What it returns or raises is then written out
# with the types of all values; what depends on an address is not, and tables are written in one order.
# A missing argument may be told as nil.
_SHOWN = r"""
local function fails(...) return (select(2, pcall(...))) end function program(...) {body}
end
local format, math_type = string.format, math.type
local function show(value, depth)
  local kind = math_type(value) or type(value)
  if kind == "float" then
    return value ~= value and "nan" or format("%.17g!", value)
  elseif kind == "string" then
    return (format("%q", value):gsub("[\128-\255]", function(c) return format("\\x%02x", c:byte()) end))
  elseif kind ~= "table" then
    return (kind == "function" or kind == "thread" or kind == "userdata") and kind or tostring(value)
  elseif depth > 6 then
    return "..."
  end
  local parts, n = {{}}, 0
  for k, v in next, value do
    n = n + 1
    parts[n] = "[" .. show(k, depth + 1) .. "]=" .. show(v, depth + 1)
  end
  table.sort(parts)
  return "{{" .. table.concat(parts, ", ") .. "}}"
end
local function told(...)
  local parts = {{}}
  for i = 1, select("#", ...) do
    parts[i] = show((select(i, ...)), 0)
  end
  return table.concat(parts, " | ")
end
function invoke() return told(pcall(program)) end
"""
_ADDRESS = re.compile(r"\b(table|function|thread|userdata)(: builtin)?: 0x[0-9a-f]+")


def _source(body: str) -> str:
    return _SHOWN.format(body=body).lstrip()


def in_stock_lua(body: str) -> str:
    """What the body of a function returns or raises in a bare state; an address is left out there."""
    lua = lua54.LuaRuntime(encoding=None, register_eval=False, register_builtins=False)
    lua.execute(_source(body).encode(), name=f"@{NAME}".encode(), mode=b"t")
    shown: bytes = lua.globals()[b"invoke"]()
    return _ADDRESS.sub(r"\1", shown.decode("utf-8", "backslashreplace")).replace("got no value", "got nil")


async def in_sandbox(engine: Engine, body: str) -> str:
    """The same of the same in the sandbox. It has the memory for a stack that overflows."""
    loaded = await engine.load(program(_source(body), memory_bytes=1 << 27), timeout_s=20)
    try:
        outcome = await call(loaded, host=no_host)
    finally:
        loaded.close()
    assert isinstance(outcome, Returned), outcome
    return str(outcome.value).replace("got no value", "got nil")
