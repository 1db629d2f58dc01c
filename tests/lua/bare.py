"""Stock Lua, to compare with: the same code, without a sandbox."""

from __future__ import annotations

from typing import Any

import lupa.lua54 as lua54

__all__ = ["bare_value"]


def bare_value(body: str, *arguments: Any) -> Any:
    """What this function body returns in a bare state, tables as lists and dicts."""
    lua = lua54.LuaRuntime(unpack_returned_tuples=True)
    return _plain(
        lua.execute(body, *(lua.table_from(a, recursive=True) if isinstance(a, (list, dict)) else a for a in arguments))
    )


def _plain(value: Any) -> Any:
    if lua54.lua_type(value) != "table":
        return value
    keys = list(value)
    if (
        keys
        and sorted(map(str, keys)) == sorted(map(str, range(1, len(keys) + 1)))
        and all(type(k) is int for k in keys)
    ):
        return [_plain(value[k]) for k in range(1, len(keys) + 1)]
    return {k: _plain(value[k]) for k in keys}
