"""A schema taken apart for comparison: what all has to hold of one value, with references and ``allOf`` written out.

Only keywords that the schema's draft knows are kept: what a validator passes over promises nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from evatui.kernel.admission.schema_cost import resolve_pointer

__all__ = ["EVERY_TYPE", "Circular", "Part", "Schema", "TooIntricate", "plain_types", "pointer_to"]

EVERY_TYPE = frozenset({"null", "boolean", "object", "array", "string", "integer", "fraction"})
"""``number`` is ``integer`` and ``fraction``."""

_NEWEST = "2020-12"
_ORDER = ("draft-04", "draft-06", "draft-07", "2019-09", _NEWEST)
_SINCE = {
    "const": 1,
    "contains": 1,
    "propertyNames": 1,
    "if": 2,
    "then": 2,
    "else": 2,
    "dependentRequired": 3,
    "dependentSchemas": 3,
    "unevaluatedItems": 3,
    "unevaluatedProperties": 3,
    "minContains": 3,
    "maxContains": 3,
    "prefixItems": 4,
}
_NOTES = frozenset(
    (
        *("title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "$comment"),
        *(
            "$schema",
            "$id",
            "id",
            "$anchor",
            "$dynamicAnchor",
            "$recursiveAnchor",
            "$vocabulary",
            "$defs",
            "definitions",
        ),
    )
)
_MAX_HOPS = 64
_MAX_STEPS = 30_000


class Circular(Exception):
    """A reference leads back to itself without a step into the value, or nowhere."""


class TooIntricate(Exception):
    """Taking the schema apart goes on for too long."""


@dataclass(frozen=True, slots=True)
class Part:
    """``rules`` are the keywords that say something, None for the schema ``false``; ``source`` is what has them."""

    rules: Mapping[str, Any] | None
    source: Any
    pointer: str

    def at(self, *steps: str | int) -> str:
        return self.pointer + pointer_to(*steps)


def pointer_to(*steps: str | int) -> str:
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in steps)


class Schema:
    """A document, and how the parts of it are read."""

    def __init__(self, document: Any) -> None:
        self.document = document
        self.draft = _draft(document)
        self._level = _ORDER.index(self.draft)
        self._steps = 0

    def parts(self, schema: Any, pointer: str) -> list[Part]:
        """All that ``schema`` (at ``pointer``) demands of one value. Raises `Circular` and `TooIntricate`."""
        return list(self._spread(schema, pointer, frozenset()))

    def children(self, part: Part, keyword: str) -> list[list[Part]]:
        """The alternatives under ``anyOf`` or ``oneOf``."""
        found = (part.rules or {}).get(keyword, ())
        return [self.parts(child, part.at(keyword, index)) for index, child in enumerate(found)]

    def items(self, part: Part) -> tuple[list[tuple[Any, str]], tuple[Any, str]]:
        """The schemas of the first items, and the one of all after them, each with its pointer."""
        rules = part.rules or {}
        name, rest = ("prefixItems", "items") if self.draft == _NEWEST else ("items", "additionalItems")
        first = rules.get(name)
        if not isinstance(first, list):
            return [], (rules.get("items", True), part.at("items") if "items" in rules else part.pointer)
        listed = [(child, part.at(name, index)) for index, child in enumerate(first)]
        return listed, (rules.get(rest, True), part.at(rest) if rest in rules else part.pointer)

    def types(self, parts: Iterable[Part], hops: int = 0) -> frozenset[str]:
        """The types that a value may have for which all ``parts`` hold, as far as their keywords say so."""
        found = EVERY_TYPE
        for part in parts:
            if part.rules is None:
                return frozenset()
            found &= plain_types(part.rules)
            for word in ("anyOf", "oneOf"):
                if word in part.rules and hops < _MAX_HOPS:
                    found &= self._of_branches(part, word, hops + 1)
        return found

    def _of_branches(self, part: Part, word: str, hops: int) -> frozenset[str]:
        try:
            return frozenset().union(*(self.types(branch, hops) for branch in self.children(part, word)))
        except Circular:
            return EVERY_TYPE

    def same(self, mine: Any, theirs: Any, other: Schema, seen: frozenset[str] = frozenset()) -> bool:
        """Are two pieces equal, and everything that they refer to?"""
        if isinstance(mine, Mapping) and isinstance(theirs, Mapping):
            if mine.keys() != theirs.keys():
                return False
            reference = mine.get("$ref")
            if isinstance(reference, str) and reference == theirs.get("$ref") and reference not in seen:
                inside = seen | {reference}
                if not self.same(self._target(reference), other._target(reference), other, inside):
                    return False
                return all(self.same(mine[key], theirs[key], other, inside) for key in mine)
            return all(self.same(mine[key], theirs[key], other, seen) for key in mine)
        if isinstance(mine, list) and isinstance(theirs, list):
            return len(mine) == len(theirs) and all(
                self.same(one, another, other, seen) for one, another in zip(mine, theirs, strict=True)
            )
        return isinstance(mine, bool) == isinstance(theirs, bool) and bool(mine == theirs)

    def _spread(self, schema: Any, pointer: str, above: frozenset[str]) -> Iterator[Part]:
        self._steps += 1
        if self._steps > _MAX_STEPS:
            raise TooIntricate
        if schema is True:
            return
        if not isinstance(schema, Mapping):
            yield Part(None, schema, pointer)
            return
        rules = {name: value for name, value in schema.items() if self._says(name)}
        reference = rules.pop("$ref", None)
        if isinstance(reference, str):
            if self._level < 3:
                rules = {}  # beside a reference, older drafts pass everything over
            if reference in above or len(above) > _MAX_HOPS:
                raise Circular
            yield from self._spread(self._target(reference), reference.removeprefix("#"), above | {reference})
        every = rules.pop("allOf", ())
        if rules:
            yield Part(rules, schema, pointer)
        for index, child in enumerate(every):
            yield from self._spread(child, f"{pointer}/allOf/{index}", above)

    def _target(self, reference: str) -> Any:
        found = resolve_pointer(self.document, unquote(reference.removeprefix("#")))
        if found is None or not reference.startswith("#"):
            raise Circular
        return found

    def _says(self, name: str) -> bool:
        if name == "additionalItems" and self.draft == _NEWEST:
            return False
        return name not in _NOTES and _SINCE.get(name, 0) <= self._level


def plain_types(rules: Mapping[str, Any]) -> frozenset[str]:
    """What ``type`` allows."""
    if "type" not in rules:
        return EVERY_TYPE
    given: Sequence[str] = rules["type"] if isinstance(rules["type"], list) else [rules["type"]]
    found = frozenset(given)
    return (found - {"number"}) | {"integer", "fraction"} if "number" in found else found


def _draft(document: Any) -> str:
    named = document.get("$schema", "") if isinstance(document, Mapping) else ""
    return next((draft for draft in _ORDER if f"/{draft}/" in str(named)), _NEWEST)
