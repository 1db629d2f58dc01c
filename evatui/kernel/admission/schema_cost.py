"""In how many ways a schema can come to judge one value.

Alternatives that share parts, or that refer back to the whole, multiply: checking a value, or saying what is
wrong with it, would then take time without end. So the ways are counted before either is done.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote

__all__ = ["MAX_WAYS", "Ways", "pointer_steps", "refers", "resolve_pointer", "same_value"]

MAX_WAYS = 100_000
"""Counting stops here."""

_MAX_CHAIN = 150
_ANY_DEPTH = -1
_REFERENCES = frozenset({"$ref", "$dynamicRef", "$recursiveRef"})
_SEVERAL = (dict, list)
_SAME_VALUE = ("not", "if", "then", "else")
_SAME_VALUE_LISTS = ("allOf", "anyOf", "oneOf")
_EVERY_CHILD = ("contains", "propertyNames", "unevaluatedItems", "unevaluatedProperties")


class Ways:
    """Counts for one document. May be used from several threads: what is counted twice is only counted twice."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self.returns = False
        """Was, in counting, a part met again within itself?"""
        self._document = document
        self._known: dict[tuple[int, int], int] = {}

    def unrolled(self) -> int:
        """The ways over values of any depth, each part of the document entered once on the way down."""
        return self._count(self._document, _ANY_DEPTH, frozenset(), 0)

    def at_depth(self, depth: int) -> int:
        """The ways over a value that is nested ``depth`` levels deep.

        Counted from the ground up: what is known of fewer levels keeps every chain short, however deep the value is.
        """
        for lower in range(depth):
            self._count(self._document, lower, frozenset(), 0)
        return self._count(self._document, depth, frozenset(), 0)

    def _count(self, schema: Any, depth: int, above: frozenset[int], chain: int) -> int:
        if not isinstance(schema, Mapping):
            return 0
        if id(schema) in above:
            self.returns = True
            return 1
        if chain > _MAX_CHAIN:
            return MAX_WAYS + 1
        key = (id(schema), depth)
        if key not in self._known:
            inside = above | {id(schema)}
            total = 1
            for part in same_value(self._document, schema):
                total += self._count(part, depth, inside, chain + 1)
                if total > MAX_WAYS:
                    break
            if depth != 0 and total <= MAX_WAYS:
                total += self._below(schema, depth, inside, chain + 1)
            self._known[key] = min(total, MAX_WAYS + 1)
        return self._known[key]

    def _below(self, schema: Mapping[str, Any], depth: int, inside: frozenset[int], chain: int) -> int:
        """For the child that is judged in the most ways: of the named ones, one; of the others, all."""
        lower, above = (depth, inside) if depth == _ANY_DEPTH else (depth - 1, frozenset[int]())

        def count(part: Any) -> int:
            return self._count(part, lower, above, chain)

        named = [*_values(schema.get("properties")), schema.get("additionalProperties")]
        items = schema.get("items")
        listed = [*_values(schema.get("prefixItems")), *(items if isinstance(items, list) else [items])]
        every = [*_values(schema.get("patternProperties")), *(schema.get(name) for name in _EVERY_CHILD)]
        most = max(map(count, named), default=0) + max(map(count, listed), default=0)
        return most + sum(count(part) for part in every if part is not None)


def same_value(document: Mapping[str, Any], schema: Mapping[str, Any]) -> Iterator[Any]:
    """What judges the same value as ``schema`` does, and because of it."""
    for name in ("$ref", "$dynamicRef", "$recursiveRef"):
        reference = schema.get(name)
        if isinstance(reference, str) and reference.startswith("#"):
            yield resolve_pointer(document, unquote(reference[1:]))
    yield from (schema[name] for name in _SAME_VALUE if name in schema)
    for name in _SAME_VALUE_LISTS:
        yield from _values(schema.get(name))
    yield from _values(schema.get("dependentSchemas"))
    yield from _values(schema.get("dependencies"))


def refers(value: Any) -> bool:
    """Is there a reference anywhere in a piece of a schema?"""
    if value.__class__ is dict:
        if not _REFERENCES.isdisjoint(value):
            return True
        value = value.values()
    elif value.__class__ is not list:
        return False
    return any(child.__class__ in _SEVERAL and refers(child) for child in value)


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


def _values(parts: Any) -> list[Any]:
    if isinstance(parts, Mapping):
        return list(parts.values())
    return parts if isinstance(parts, list) else []
