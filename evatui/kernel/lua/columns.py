"""Records of one shape, laid out by columns: their names go into Lua once, and numbers of a kind side by side."""

from __future__ import annotations

from operator import itemgetter
from typing import Any, Final

import ormsgpack

__all__ = ["in_columns"]

_RECORDS: Final = 1
"""The kind of extension value that prelude/unpack.lua reads as such records."""
_TABLES: Final = frozenset({dict, list})
_DICT: Final = {dict}
_STR: Final = {str}
_FEWEST: Final = 8
_LEVELS: Final = 4


def in_columns(value: Any, option: int, levels: int = _LEVELS) -> Any:
    """What to pack instead of ``value``, with ``option``.

    Looks for records only in objects, and no deeper than ``levels`` of them: that is where tables of any size are.
    """
    if type(value) is list:
        return _records(value, option)
    if type(value) is not dict or not levels or _TABLES.isdisjoint(map(type, value.values())):
        return value
    changed: dict[Any, Any] | None = None
    for name, item in value.items():
        kind = type(item)
        if kind is dict or kind is list:
            packed = in_columns(item, option, levels - 1)
            if packed is not item:
                changed = changed or dict(value)
                changed[name] = packed
    return changed or value


def _records(rows: list[Any], option: int) -> Any:
    if len(rows) < _FEWEST or type(rows[0]) is not dict or set(map(type, rows)) != _DICT:
        return rows
    names = tuple(rows[0])
    if len(names) < 2 or set(map(type, names)) != _STR or set(map(len, rows)) != {len(names)}:
        return rows
    try:
        columns = zip(*map(itemgetter(*names), rows), strict=True)
    except KeyError:
        return rows
    return ormsgpack.Ext(_RECORDS, ormsgpack.packb((names, *columns), option=option))
