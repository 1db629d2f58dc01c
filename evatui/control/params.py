"""The parameters of a command, each checked as it is taken: they may come from anybody at the socket.

Every function raises `CommandFailed` ``InvalidInput``, which names the parameter.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from evatui.control.failing import CommandFailed
from evatui.kernel.model.errors import ErrorKind
from evatui.kernel.model.ids import new_id

__all__ = [
    "Params",
    "read_flag",
    "read_ids",
    "read_names",
    "read_needed",
    "read_number",
    "read_request_id",
    "read_short",
    "read_tags",
    "read_text",
]

_MAX_TAGS = 32
_MAX_WORD = 256
_REQUEST_ID = re.compile(r"[A-Za-z0-9_.:-]{1,64}", re.ASCII)

Params = Mapping[str, Any]


def _unfit(key: str, wanted: str) -> CommandFailed:
    return CommandFailed(ErrorKind.INVALID_INPUT, f"the parameter {key} must be {wanted}")


def read_text(params: Params, key: str) -> str | None:
    value = params.get(key)
    if value is not None and not _is_text(value):
        raise _unfit(key, "text")
    return str(value) if value is not None else None


def read_request_id(params: Params) -> str:
    """The caller's, or a new one; it goes into records, so it has the shape of one."""
    given = read_text(params, "request_id") or new_id("req")
    if not _REQUEST_ID.fullmatch(given):
        raise _unfit("request_id", "1 to 64 characters of A-Z a-z 0-9 _ . : -")
    return given


def _is_text(value: Any) -> bool:
    """Half a character, as of an argument that is not UTF-8, can neither be recorded nor handed to a handler."""
    try:
        return isinstance(value, str) and isinstance(value.encode(), bytes)
    except UnicodeEncodeError:
        return False


def read_short(params: Params, key: str) -> str | None:
    value = read_text(params, key)
    if value is not None and len(value) > _MAX_WORD:
        raise _unfit(key, f"of at most {_MAX_WORD} characters")
    return value


def read_needed(params: Params, key: str) -> str:
    value = read_text(params, key)
    if not value:
        raise _unfit(key, "given")
    return value


def read_number(params: Params, key: str) -> int | None:
    value = params.get(key)
    if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 0):
        raise _unfit(key, "a whole number, not negative")
    return value


def read_flag(params: Params, key: str) -> bool:
    value = params.get(key)
    if not isinstance(value, bool | None):
        raise _unfit(key, "true or false")
    return bool(value)


def read_ids(params: Params) -> tuple[str, ...]:
    value = params.get("ids") or ()
    if not isinstance(value, list | tuple) or not all(_is_text(item) for item in value):
        raise _unfit("ids", "a list of ids")
    return tuple(value)


def read_names(params: Params, key: str) -> tuple[str, ...]:
    """A list of texts, empty where it is not there."""
    value = params.get(key) or ()
    if not isinstance(value, list | tuple) or not all(_is_text(item) and len(item) <= _MAX_WORD for item in value):
        raise _unfit(key, f"a list of texts of at most {_MAX_WORD} characters")
    return tuple(value)


def read_tags(params: Params) -> dict[str, str]:
    value = params.get("tags") or {}
    if not isinstance(value, Mapping) or not all(map(_is_text, (*value, *value.values()))):
        raise _unfit("tags", "a mapping of text to text")
    if len(value) > _MAX_TAGS or any(len(text) > _MAX_WORD for text in (*value, *value.values())):
        raise _unfit("tags", f"at most {_MAX_TAGS}, of at most {_MAX_WORD} characters each")
    return dict(value)
