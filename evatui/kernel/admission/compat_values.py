"""Comparing schemas by trying values: for enumerations, and for the names of properties."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import jsonschema_rs

from evatui.kernel.admission.schema_cost import refers
from evatui.kernel.admission.schema_parts import Part, Schema
from evatui.kernel.admission.schema_rules import OPTIONS

__all__ = ["Properties", "finite", "holds"]

_MAX_VALUES = 1_000
_SCALARS: Mapping[str, Sequence[Any]] = {"null": (None,), "boolean": (False, True)}


def finite(schema: Schema, parts: Sequence[Part]) -> list[Any] | None:
    """The values for which all ``parts`` hold (and perhaps some more), None where they are not a short list."""
    values: list[Any] | None = None
    for part in parts:
        rules = part.rules or {}
        if "const" in rules:
            values = [rules["const"]]
        elif "enum" in rules and values is None:
            values = list(rules["enum"])
    if values is None:
        types = schema.types(parts)
        if not types <= _SCALARS.keys():
            return None
        values = [value for name in sorted(types) for value in _SCALARS[name]]
    if len(values) > _MAX_VALUES:
        return None
    return [value for value in values if all(holds(schema, part, [value]) is not False for part in parts)]


def holds(schema: Schema, part: Part, values: Iterable[Any]) -> bool | None:
    """Does the part hold for each of the values? None where only the whole document could tell."""
    if part.rules is None:
        return not list(values)
    if refers(part.rules):
        return None
    named = schema.document.get("$schema") if isinstance(schema.document, Mapping) else None
    asked = {**part.rules, "$schema": named} if named else dict(part.rules)
    try:
        validator = jsonschema_rs.validator_for(asked, **OPTIONS)
    except ValueError:  # by itself it is no schema: a reference led to where none was looked for
        return None
    return all(validator.is_valid(value) for value in values)


@dataclass(frozen=True, slots=True)
class Properties:
    """What a part says of properties: each schema with its pointer."""

    part: Part
    named: Mapping[str, tuple[Any, str]] = field(init=False)
    patterns: Mapping[str, tuple[Any, str]] = field(init=False)
    others: tuple[Any, str] = field(init=False)

    def __post_init__(self) -> None:
        rules, at = self.part.rules or {}, self.part.at
        named = {name: (child, at("properties", name)) for name, child in rules.get("properties", {}).items()}
        patterns = {
            name: (child, at("patternProperties", name)) for name, child in rules.get("patternProperties", {}).items()
        }
        pointer = at("additionalProperties") if "additionalProperties" in rules else self.part.pointer
        object.__setattr__(self, "named", named)
        object.__setattr__(self, "patterns", patterns)
        object.__setattr__(self, "others", (rules.get("additionalProperties", True), pointer))

    def of(self, name: str) -> list[tuple[Any, str]]:
        """All that the property ``name`` must satisfy."""
        found = [self.named[name]] if name in self.named else []
        found += [schema for pattern, schema in self.patterns.items() if _matcher(pattern).is_valid(name)]
        return found or [self.others]


@functools.lru_cache(maxsize=256)
def _matcher(pattern: str) -> Any:
    return jsonschema_rs.validator_for({"pattern": pattern}, **OPTIONS)
