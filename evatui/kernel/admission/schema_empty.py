"""Can any object fit a schema at all? A payload is an object, so one that accepts none makes a capability useless.

Only what surely accepts nothing is told: whatever cannot be decided by looking counts as satisfiable.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evatui.kernel.admission.compat_keywords import NUMBERS, least, limit, most, required
from evatui.kernel.admission.compat_values import Properties, finite, holds
from evatui.kernel.admission.schema_parts import EVERY_TYPE, Circular, Part, Schema, TooIntricate, plain_types
from evatui.kernel.model.text import clean_line

__all__ = ["DeadEnd", "dead_end", "likely_object", "plainly_takes_objects"]

_MAX_DEPTH = 16
_OBJECT = Part(rules := {"type": "object"}, rules, "")
_LIKELY: Mapping[Any, Any] = {"string": "", "integer": 0, "number": 0, "boolean": False, "array": [], "object": {}}
_NOTES = {"title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "$comment"}
_OPEN = frozenset(
    ("type", "properties", "required", "additionalProperties", "$schema", "$defs", "definitions", *_NOTES)
)
_EASY = frozenset(("type", "properties", "additionalProperties", "items", "maxItems", "maxLength", *_NOTES))
"""Keywords of an object, and of a value in it, of which none rules out what is `_LIKELY`."""
_NUMERIC = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
_OF_ARRAYS = ("items", "prefixItems", "additionalItems", "contains", "minItems", "maxItems", "uniqueItems")
_OF_OBJECTS = ("properties", "required", "additionalProperties", "minProperties", "maxProperties", "propertyNames")
_CONCERNS: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(("minLength", "maxLength", "pattern", "format"), frozenset({"string"})),
    **dict.fromkeys(_NUMERIC, frozenset({"integer", "fraction"})),
    **dict.fromkeys(_OF_ARRAYS, frozenset({"array"})),
    **dict.fromkeys(_OF_OBJECTS, frozenset({"object"})),
    "patternProperties": frozenset({"object"}),
}
"""Of all other types, these keywords let every value through."""
_SIZES = {"string": "Length", "array": "Items", "object": "Properties"}


@dataclass(frozen=True, slots=True)
class DeadEnd:
    """``pointer`` is a JSON pointer into the schema, to what rules out the last object."""

    pointer: str
    message: str


def likely_object(document: Mapping[str, Any]) -> dict[str, Any]:
    """An object that fits most schemas: only what is required, each the simplest value of its type.

    Where it does fit, that spares the search for a dead end.
    """
    properties = document.get("properties", {})
    return {name: _likely(properties.get(name)) for name in document.get("required", ())}


def plainly_takes_objects(document: Mapping[str, Any]) -> bool:
    """Does the `likely_object` fit this schema, as everybody sees? The draft must allow it."""
    if not document.keys() <= _OPEN or document.get("type", "object") != "object":
        return False
    properties = document.get("properties", {})
    return all(_is_easy(properties.get(name)) for name in document.get("required", ()))


def _is_easy(schema: Any) -> bool:
    return isinstance(schema, Mapping) and schema.keys() <= _EASY and isinstance(schema.get("type", ""), str)


def _likely(schema: Any) -> Any:
    kind = schema.get("type") if isinstance(schema, Mapping) else None
    return _LIKELY.get(kind[0] if isinstance(kind, list) else kind)


def dead_end(document: Any) -> DeadEnd | None:
    """Why no object can fit the schema, None where one may."""
    schema = Schema(document)
    try:
        return _Search(schema).empty([*schema.parts(document, ""), _OBJECT], 0)
    except (Circular, TooIntricate, RecursionError):
        return None


class _Search:
    def __init__(self, schema: Schema) -> None:
        self._schema = schema

    def empty(self, parts: Sequence[Part], depth: int) -> DeadEnd | None:
        """Why no value at all fits the ``parts``."""
        if depth > _MAX_DEPTH:
            return None
        for part in parts:
            if part.rules is None:
                return DeadEnd(part.pointer, "false accepts nothing")
            if part.rules.get("not") in (True, {}):
                return DeadEnd(part.at("not"), "not rules out every value")
        types = self._schema.types(parts)
        if types and not (types := types - self._types_ruled_out(parts)):
            return DeadEnd(_first(parts, "not"), "not rules out every type that is left")
        if not types:
            return DeadEnd(_first(parts, "type"), "no type is left that an object could have")
        if (values := finite(self._schema, parts)) is not None and not values:
            return DeadEnd(_first(parts, "enum", "const"), "none of the values fits the rest of the schema")
        reasons = [self._of_type(kind, parts, depth) for kind in sorted(types)]
        if all(reasons):
            return reasons[0]
        return self._no_branch(parts, depth)

    def _types_ruled_out(self, parts: Sequence[Part]) -> frozenset[str]:
        """By each ``not``: the types of which every value fits what it denies."""
        denied = (self._below(part, "not") for part in parts if "not" in (part.rules or {}))
        return frozenset().union(*map(self._always, denied))

    def _always(self, parts: Sequence[Part]) -> frozenset[str]:
        """The types of which every value fits the ``parts``, as far as that is plain."""
        found = EVERY_TYPE
        for part in parts:
            if part.rules is None:
                return frozenset()
            for word in part.rules:
                found &= self._always_by(part, word)
        return found

    def _always_by(self, part: Part, word: str) -> frozenset[str]:
        if word == "type":
            return plain_types(part.rules or {})
        if word == "not":
            return EVERY_TYPE - self._schema.types(self._below(part, word))
        if word == "anyOf":
            return frozenset().union(*map(self._always, self._schema.children(part, word)))
        return EVERY_TYPE - _CONCERNS.get(word, EVERY_TYPE)

    def _below(self, part: Part, word: str) -> list[Part]:
        return self._schema.parts((part.rules or {})[word], part.at(word))

    def _of_type(self, kind: str, parts: Sequence[Part], depth: int) -> DeadEnd | None:
        if kind in NUMBERS:
            return _no_number(parts)
        if kind in _SIZES and (found := _no_size(parts, _SIZES[kind])):
            return found
        return self._no_object(parts, depth) if kind == "object" else None

    def _no_object(self, parts: Sequence[Part], depth: int) -> DeadEnd | None:
        said = [Properties(part) for part in parts]
        needed = sorted(required(parts))
        for name in needed:
            if found := self._no_name(name, parts):
                return found
            below = [schema for one in said for schema in one.of(name)]
            inner = [part for schema, pointer in below for part in self._schema.parts(schema, pointer)]
            if found := self.empty(inner, depth + 1):
                shown = clean_line(name, 80)
                return DeadEnd(found.pointer, f'"{shown}" is required, and no value fits it: {found.message}')
        return None

    def _no_name(self, name: str, parts: Sequence[Part]) -> DeadEnd | None:
        for part in parts:
            if "propertyNames" in (part.rules or {}):
                below = self._schema.parts((part.rules or {})["propertyNames"], part.at("propertyNames"))
                if any(holds(self._schema, one, [name]) is False for one in below):
                    shown = clean_line(name, 80)
                    return DeadEnd(part.at("propertyNames"), f'"{shown}" is required, and propertyNames rules it out')
        return None

    def _no_branch(self, parts: Sequence[Part], depth: int) -> DeadEnd | None:
        for index, part in enumerate(parts):
            for word in ("anyOf", "oneOf"):
                branches = self._schema.children(part, word) if part.rules and word in part.rules else []
                others = [*parts[:index], _without(part, word), *parts[index + 1 :]]
                if branches and all(
                    (word == "oneOf" and self._has_twin(branch, branches)) or self.empty([*others, *branch], depth + 1)
                    for branch in branches
                ):
                    return DeadEnd(part.at(word), f"no alternative under {word} can be fulfilled")
            if part.rules and "if" in part.rules and part.rules.keys() & {"then", "else"}:
                others = [*parts[:index], _without(part, "if", "then", "else"), *parts[index + 1 :]]
                if all(self.empty([*others, *branch], depth + 1) for branch in self._ways(part)):
                    return DeadEnd(part.at("if"), "neither what fits if nor what does not can be fulfilled")
        return None

    def _ways(self, part: Part) -> Iterator[list[Part]]:
        """What an ``if`` comes to: it fits and so does ``then``, or it does not and ``else`` fits."""
        rules = part.rules or {}
        denied = Part({"not": rules["if"]}, part.source, part.pointer)
        yield [*self._below(part, "if"), *(self._below(part, "then") if "then" in rules else ())]
        yield [denied, *(self._below(part, "else") if "else" in rules else ())]

    def _has_twin(self, branch: Sequence[Part], branches: Sequence[Sequence[Part]]) -> bool:
        """Whatever fits it fits another one too."""
        said = [part.rules for part in branch]
        return any(
            other is not branch and self._schema.same(said, [part.rules for part in other], self._schema)
            for other in branches
        )


def _without(part: Part, *words: str) -> Part:
    rules = {name: value for name, value in (part.rules or {}).items() if name not in words}
    return Part(rules, part.source, part.pointer)


def _first(parts: Sequence[Part], *names: str) -> str:
    """The pointer of the last part that has one of the keywords: it took what the ones before had left."""
    having = [part.at(name) for part in parts for name in names if name in (part.rules or {}) and part is not _OBJECT]
    return having[-1] if having else ""


def _no_size(parts: Sequence[Part], what: str) -> DeadEnd | None:
    low, high = least(parts, f"min{what}"), most(parts, f"max{what}")
    if high is None or low <= high:
        return None
    name = f"max{what}"
    return DeadEnd(_first(parts, name), f"{name} is {high}, and at least {low} are demanded")


def _no_number(parts: Sequence[Part]) -> DeadEnd | None:
    lows = [bound for part in parts if (bound := limit(part, "minimum", 1)) is not None]
    highs = [bound for part in parts if (bound := limit(part, "maximum", -1)) is not None]
    if not lows or not highs:
        return None
    (low, above), (high, below) = max(lows), max(highs)
    if low < -high or (low == -high and not (above or below)):
        return None
    return DeadEnd(_first(parts, "exclusiveMaximum", "maximum"), "no number lies between the bounds")
