"""The payload that a call starts from: what the input schema requires, with its defaults."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

__all__ = ["first_payload", "pretty"]

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


def pretty(value: object) -> str:
    """JSON as a person edits it; what is not JSON is shown as its text."""
    return json.dumps(value, indent=2, ensure_ascii=False, default=str)
