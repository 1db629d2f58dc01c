"""Frozen values over a line of JSON and back.

orjson writes dataclasses, enums and mappings by itself; `read` builds them again from the type
hints, so that a snapshot from a socket is the same value as one from the process.
"""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from typing import Any, Union, get_args, get_origin, get_type_hints

import orjson

__all__ = ["MAX_ANSWER", "MAX_REQUEST", "encode", "read"]

MAX_REQUEST = 17 << 20
"""Bytes of one line to a runtime, which has room for the largest payload of a command line. A longer one ends the
connection."""
MAX_ANSWER = 32 << 20
"""Bytes of one line from a runtime."""


def encode(message: Mapping[str, Any]) -> bytes:
    return orjson.dumps(message, default=_plain, option=orjson.OPT_NON_STR_KEYS) + b"\n"


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(type(value).__name__)


def read(kind: Any, data: Any) -> Any:
    """``data`` (of JSON) as a value of ``kind``. Raises `TypeError`, `ValueError` or `KeyError` where it is none."""
    if kind is Any or data is None:
        return data
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        return read(next(a for a in arguments if a is not type(None)), data)
    if origin is tuple:
        return tuple(read(arguments[0], item) for item in data)
    if origin in (Mapping, dict):
        return {read(arguments[0], key): read(arguments[1], item) for key, item in data.items()}
    if isinstance(kind, type) and issubclass(kind, Enum):
        return kind(data)
    if isinstance(kind, type) and is_dataclass(kind):
        hints = _hints(kind)
        return kind(**{f.name: read(hints[f.name], data[f.name]) for f in fields(kind) if f.name in data})
    return data


@cache
def _hints(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind)
