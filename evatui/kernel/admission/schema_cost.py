"""How often a schema can look at one and the same value: references that fan out again and again never end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote

__all__ = ["MAX_PATHS", "paths", "pointer_steps", "resolve_pointer"]

MAX_PATHS = 10_000
_MAX_CHAIN = 200
_SAME_VALUE = ("not", "if", "then", "else")
_SAME_VALUE_LISTS = ("allOf", "anyOf", "oneOf")


def paths(schema: Any, document: Mapping[str, Any], known: dict[int, int]) -> int:
    """The number of ways to arrive at a subschema that judges the same value as ``schema``; stops past `MAX_PATHS`.

    ``known`` keeps what was counted before, for the next subschema of the same document.
    """
    return _count(schema, document, known, set(), 0)


def _count(schema: Any, document: Mapping[str, Any], known: dict[int, int], above: set[int], chain: int) -> int:
    if not isinstance(schema, Mapping) or id(schema) in above:
        return 1
    if chain > _MAX_CHAIN:
        return MAX_PATHS + 1
    if id(schema) not in known:
        above.add(id(schema))
        total = 1
        for part in _same_value(schema, document):
            total += _count(part, document, known, above, chain + 1)
            if total > MAX_PATHS:
                break
        above.discard(id(schema))
        known[id(schema)] = total
    return known[id(schema)]


def _same_value(schema: Mapping[str, Any], document: Mapping[str, Any]) -> Iterator[Any]:
    reference = schema.get("$ref")
    if isinstance(reference, str) and reference.startswith("#"):
        yield resolve_pointer(document, unquote(reference[1:]))
    for name in _SAME_VALUE:
        yield schema.get(name)
    for name in _SAME_VALUE_LISTS:
        yield from schema.get(name, ()) if isinstance(schema.get(name), list) else ()
    dependent = schema.get("dependentSchemas")
    yield from dependent.values() if isinstance(dependent, Mapping) else ()


def resolve_pointer(document: Any, pointer: str) -> Any:
    """What a JSON pointer (or the name of an anchor) leads to inside ``document``; None where it leads nowhere."""
    if pointer and not pointer.startswith("/"):
        return _anchored(document, pointer)
    found = document
    for key in pointer_steps(pointer):
        if isinstance(found, Mapping):
            found = found.get(key)
        elif isinstance(found, list) and key.isdecimal() and int(key) < len(found):
            found = found[int(key)]
        else:
            return None
    return found


def pointer_steps(pointer: str) -> list[str]:
    return [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]


def _anchored(value: Any, name: str) -> Any:
    if isinstance(value, Mapping):
        if name in (value.get("$anchor"), value.get("$dynamicAnchor")):
            return value
        value = list(value.values())
    if isinstance(value, list):
        return next((found for child in value if (found := _anchored(child, name)) is not None), None)
    return None
