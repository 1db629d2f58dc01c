"""The trusted Lua that every state starts from, compiled once a process."""

from __future__ import annotations

from functools import cache
from importlib import resources

import lupa.lua54 as lua54

__all__ = ["BOOT", "SUBJECTS", "compiled"]

SUBJECTS = (
    "errors",
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
    "flat",
    "json",
    "host",
    "globals",
    "program",
)
"""The files of the folder ``prelude``, in the order in which they build on each other."""

BOOT = b"""
local a, b, c, d = ...
math.randomseed(a ~ c, b ~ d)
local K = {}
for i = 5, select("#", ...) do
  load((select(i, ...)), "=[evatui]", "b")(K)
end
return K.inbox, K.run
"""
"""Takes four random integers and the compiled files; returns the table in which bytes are left, and the
function that takes them: so a state is entered."""

_DUMP = b"local source, name = ... return string.dump(assert(load(source, name, 't')))"


@cache
def compiled() -> tuple[bytes, ...]:
    """Each file as bytecode: a state then starts without parsing them."""
    lua = lua54.LuaRuntime(encoding=None, register_eval=False, register_builtins=False)
    dump = lua.compile(_DUMP)
    folder = resources.files(__package__) / "prelude"
    return tuple(dump((folder / f"{name}.lua").read_bytes(), b"=[evatui]") for name in SUBJECTS)
