"""The trusted Lua that every state starts from, compiled once a process."""

from __future__ import annotations

from functools import cache
from importlib import resources

import lupa.lua54 as lua54

__all__ = ["BOOT", "SUBJECTS", "compiled"]

SUBJECTS = (
    "limits",
    "metatables",
    "values",
    "coroutines",
    "text",
    "pattern_items",
    "matcher",
    "slow_strings",
    "patterns",
    "tables",
    "unpack",
    "pack",
    "json",
    "host",
    "program",
)
"""The files of the folder ``prelude``, in the order in which they build on each other."""

BOOT = b"""
local a, b, c, d = ...
math.randomseed(a ~ c, b ~ d)
local K = {}
for i = 5, select("#", ...) do
  load((select(i, ...)), "=eva", "b")(K)
end
return K.put, K.run
"""
"""Takes four random integers and the compiled files; returns the two functions by which a state is entered."""

_STRIP = b"local source, name = ... return string.dump(assert(load(source, name, 't')), true)"


@cache
def compiled() -> tuple[bytes, ...]:
    """Each file as bytecode without debug information: it loads quickly and shows no lines of its own."""
    lua = lua54.LuaRuntime(encoding=None, register_eval=False, register_builtins=False)
    strip = lua.compile(_STRIP)
    folder = resources.files(__package__) / "prelude"
    return tuple(strip((folder / f"{name}.lua").read_bytes(), b"=" + name.encode()) for name in SUBJECTS)
