"""The payload of a call: what the input schema requires, with its defaults; and what a person made of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NoReturn

__all__ = ["NotJson", "first_payload", "pretty", "read_json", "typed_payload"]

_DEPTH = 6
_BLANKS: Mapping[str, Any] = {"string": "", "integer": 0, "number": 0, "boolean": False, "null": None, "array": []}


def first_payload(schema: object) -> dict[str, Any]:
    """Required fields and those with a default; a foreign schema that says nothing gives an empty object."""
    if not isinstance(schema, Mapping):
        return {}
    value = _value(schema, _DEPTH)
    return value if isinstance(value, dict) else {}


def _value(schema: Mapping[str, Any], depth: int) -> Any:
    for given in ("default", "const"):
        if given in schema:
            return schema[given]
    if isinstance(choices := schema.get("enum"), list) and choices:
        return choices[0]
    kind = schema.get("type")
    if isinstance(kind, list):
        kind = kind[0] if kind else None
    properties = schema.get("properties")
    if kind == "object" or isinstance(properties, Mapping):
        return _object(schema, properties, depth)
    return _BLANKS.get(kind) if isinstance(kind, str) else None


def _object(schema: Mapping[str, Any], properties: object, depth: int) -> dict[str, Any]:
    if not isinstance(properties, Mapping) or depth == 0:
        return {}
    required = schema.get("required")
    wanted = set(required) if isinstance(required, list) else set()
    return {
        name: _value(field, depth - 1)
        for name, field in properties.items()
        if isinstance(field, Mapping) and (name in wanted or "default" in field)
    }


def typed_payload(text: str) -> dict[str, Any] | str:
    """The object that ``text`` is, or why it is none. An empty text is an empty object."""
    try:
        payload = read_json(text or "{}")
    except NotJson as problem:
        return str(problem)
    return payload if isinstance(payload, dict) else "a payload is an object: { … }"


class NotJson(Exception):
    """Its text says where, and why."""


def read_json(text: str) -> Any:
    """Raises `NotJson`."""
    try:
        return json.loads(text, parse_constant=_refuse)
    except json.JSONDecodeError as problem:
        place = f"line {problem.lineno}, column {problem.colno}"
        raise NotJson(f"not JSON: {problem.msg} at {place}") from None
    except ValueError as problem:  # as of a number with more digits than Python reads
        raise NotJson(f"not JSON: {problem}") from None
    except RecursionError:
        raise NotJson("nested too deeply") from None


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"there is no {name} in it")


def pretty(value: object) -> str:
    """JSON as a person edits it; what is not JSON is shown as its text."""
    return json.dumps(value, indent=2, ensure_ascii=False, default=str)
