"""JSON-like values on their way into Lua and out of it."""

from __future__ import annotations

import gc
import math
import sys
from collections.abc import Callable
from typing import Any, Final

import ormsgpack

from evatui.kernel.lua.columns import in_columns

__all__ = [
    "AMBIGUOUS",
    "LARGE",
    "MAX_BYTES",
    "MAX_DEPTH",
    "MAX_NODES",
    "Unpackable",
    "from_row",
    "json_like",
    "pack",
    "refusal",
    "resolve_empty",
    "unpack",
]

MAX_DEPTH = 64
MAX_NODES = 200_000
MAX_BYTES = 4_194_304
_LIST, _MAP, _, _ALONE = 0, 1, 2, 3
LARGE = 4096
"""Bytes from which on it is worth the while to look for records of one shape."""
_HANDFUL = 16
_SCALARS = frozenset({str, int, float, bool, type(None)})
_LOWEST, _HIGHEST = -(2**63), 2**63 - 1
_PLAIN = (
    ormsgpack.OPT_PASSTHROUGH_SUBCLASS
    | ormsgpack.OPT_PASSTHROUGH_DATACLASS
    | ormsgpack.OPT_PASSTHROUGH_DATETIME
    | ormsgpack.OPT_PASSTHROUGH_ENUM
    | ormsgpack.OPT_PASSTHROUGH_UUID
)


class Unpackable(Exception):
    """A value that cannot enter Lua: ``path`` is its JSON pointer."""

    def __init__(self, path: tuple[str | int, ...], message: str) -> None:
        self.path = "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)
        self.message = message
        super().__init__(f"{self.path or 'the value'}: {message}")


class _Ambiguous:
    """An empty table that is neither marked as an array nor as an object."""

    def __repr__(self) -> str:
        return "AMBIGUOUS"


AMBIGUOUS: Final = _Ambiguous()


def pack(value: Any, size: int | None = None) -> bytes:
    """MessagePack of a JSON-like value for Lua; raises `Unpackable`.

    The packer has no limits of its own: a value that shares its parts can be small here and endless
    when written out. So values and texts are counted first, unless ``size`` says how many bytes the value
    has as JSON. Numbers and depth are checked where it is unpacked: if refused there, `refusal` says why.
    """
    try:
        if size is None and _is_flat(value):
            data = ormsgpack.packb(value, option=_PLAIN)
            if len(data) <= MAX_BYTES:
                return data
        elif _fits(value) if size is None else size <= MAX_BYTES:
            if size is not None and size < LARGE:
                return ormsgpack.packb(value, option=_PLAIN)
            return ormsgpack.packb(in_columns(value, _PLAIN), option=_PLAIN)
    except (TypeError, ValueError):  # a name that is no text, or text that is no UTF-8
        pass
    raise refusal(value)


def refusal(value: Any) -> Unpackable:
    """Why the value cannot enter Lua."""
    try:
        _check(value, (), [MAX_NODES, MAX_BYTES])
    except Unpackable as problem:
        return problem
    return Unpackable((), "it is not JSON-like")


def json_like(value: Any) -> bool:
    """Whether the value is, whatever its size."""
    try:
        _check(value, (), [sys.maxsize, sys.maxsize])
    except Unpackable:
        return False
    return True


def _is_flat(value: Any) -> bool:
    """Is it, at first glance, a handful of values that hold no others? Written out, that is no larger than it is."""
    kind = type(value)
    if kind is dict:
        return len(value) <= _HANDFUL and _SCALARS.issuperset(map(type, value.values()))
    if kind is list or kind is tuple:
        return len(value) <= _HANDFUL and _SCALARS.issuperset(map(type, value))
    return kind in _SCALARS


def _fits(root: Any) -> bool:
    """The quick look at a value, level by level. Where it says no, `_check` says why."""
    level: list[Any] = [[root]]
    nodes, size = 1, 0
    for _ in range(MAX_DEPTH + 2):
        held = gc.get_referents(*level)  # what the containers of this level hold, names included
        level = []
        for item in held:
            kind = type(item)
            if kind is str:
                size += len(item)
            elif kind is dict or kind is list or kind is tuple:
                nodes += len(item)  # before it is looked into: it may be here a thousand times
                level.append(item)
        if nodes > MAX_NODES or size > MAX_BYTES:
            return False
        if not level:
            return True
    return False


def _check(value: Any, path: tuple[str | int, ...], budget: list[int]) -> None:
    kind = type(value)
    budget[0] -= 1
    if kind is str:
        _check_text(value, path, budget)
    elif kind is dict or kind is list or kind is tuple:
        if len(path) >= MAX_DEPTH:
            raise Unpackable(path[:8], f"nested deeper than {MAX_DEPTH}")
        if kind is dict:
            for key, item in value.items():
                if type(key) is not str:
                    raise Unpackable(path, f"a {type(key).__name__} as a name")
                _check_text(key, path, budget)
                _check(item, (*path, key), budget)
        else:
            for index, item in enumerate(value):
                _check(item, (*path, index), budget)
    elif kind is int:
        if not _LOWEST <= value <= _HIGHEST:
            raise Unpackable(path, "an integer of more than 64 bits")
    elif kind is float:
        if not math.isfinite(value):
            raise Unpackable(path, "a number that is not finite")
    elif value is not None and kind is not bool:
        raise Unpackable(path, f"a {kind.__name__} cannot enter Lua")
    if budget[0] < 0 or budget[1] < 0:
        raise Unpackable((), f"larger than {MAX_NODES} values or {MAX_BYTES} bytes of text")


def _check_text(text: str, path: tuple[str | int, ...], budget: list[int]) -> None:
    budget[1] -= len(text)
    if not text.isascii():
        try:
            budget[1] -= len(text.encode()) - len(text)
        except UnicodeEncodeError:
            raise Unpackable(path, "text with half a character (a lone surrogate)") from None


def unpack(data: str, empty: Callable[[], Any]) -> Any:
    """The value that Lua packed, its bytes as text; ``empty()`` stands for each table that is empty and unmarked."""
    return ormsgpack.unpackb(data.encode("latin-1"), ext_hook=lambda tag, body: empty())


def from_row(row: tuple[Any, ...], empty: Callable[[], Any]) -> Any:
    """The value in a row of plain values, whose order is explained in prelude/flat.lua."""
    if row[-1] & 3 == _ALONE:
        return row[2]
    values = list(row)
    end = len(values)
    while end > 2:
        code, stop = values[end - 1], end - 2
        end = stop - (code >> 2)
        kind = code & 3
        if kind == _MAP:
            pairs = iter(values[end:stop])
            values[values[stop]] = dict(zip(pairs, pairs))  # noqa: B905 (it is even, and being strict costs)
        elif kind == _LIST:
            values[values[stop]] = values[end:stop]
        else:
            values[values[stop]] = empty()
    return values[0]


def resolve_empty(value: Any, wants_array: Callable[[str], bool]) -> Any:
    """``value`` with each ``AMBIGUOUS`` made an array where ``wants_array(JSON pointer)``, else an object.

    Containers are changed in place.
    """
    if value is AMBIGUOUS:
        return [] if wants_array("") else {}
    pending: list[tuple[Any, _Way]] = [(value, None)]
    while pending:
        container, way = pending.pop()
        if type(container) is dict:
            entries: Any = container.items()
        elif type(container) is list:
            entries = enumerate(container)
        else:
            continue
        for key, item in entries:
            kind = type(item)
            if kind is dict or kind is list:
                pending.append((item, (way, key)))
            elif item is AMBIGUOUS:
                container[key] = [] if wants_array(_pointer((way, key))) else {}
    return value


_Way = tuple[Any, str | int] | None
"""The way down to a container: the way to the one that it is in, and its name or place there."""


def _pointer(way: _Way) -> str:
    steps: list[str] = []
    while way is not None:
        way, key = way
        steps.append("/" + str(key).replace("~", "~0").replace("/", "~1"))
    return "".join(reversed(steps))
