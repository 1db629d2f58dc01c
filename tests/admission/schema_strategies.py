"""Small schemas and values that meet often."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

__all__ = ["DRAFTS", "schemas", "values"]

DRAFTS = (
    None,
    "https://json-schema.org/draft/2020-12/schema",
    "https://json-schema.org/draft/2019-09/schema",
    "http://json-schema.org/draft-07/schema#",
    "http://json-schema.org/draft-06/schema#",
    "http://json-schema.org/draft-04/schema#",
)
_NAMES = st.sampled_from(["a", "b", "ab"])
_TYPES = st.sampled_from(["null", "boolean", "object", "array", "string", "integer", "number"])
_SMALL = st.integers(0, 3)
_NUMBERS = st.one_of(st.integers(-2, 3), st.sampled_from([0.5, 1.0, -1.5, 2.5]))
_SCALARS = st.one_of(st.none(), st.booleans(), _NUMBERS, st.sampled_from(["", "a", "ab", "abc"]))
_PATTERNS = st.sampled_from(["^a", "b$", "^ab?$"])


def values() -> st.SearchStrategy[Any]:
    return st.recursive(
        _SCALARS,
        lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(_NAMES, inner, max_size=3)),
        max_leaves=6,
    )


def _simple() -> dict[str, st.SearchStrategy[Any]]:
    return {
        "type": st.one_of(_TYPES, st.lists(_TYPES, min_size=1, max_size=3, unique=True)),
        "enum": st.lists(_SCALARS, min_size=1, max_size=3),
        "const": _SCALARS,
        "minimum": _NUMBERS,
        "maximum": _NUMBERS,
        "multipleOf": st.sampled_from([1, 2, 3, 0.5]),
        "minLength": _SMALL,
        "maxLength": _SMALL,
        "pattern": _PATTERNS,
        "minItems": _SMALL,
        "maxItems": _SMALL,
        "uniqueItems": st.booleans(),
        "minProperties": _SMALL,
        "maxProperties": _SMALL,
        "required": st.lists(_NAMES, min_size=1, max_size=2, unique=True),
    }


def _nested(inner: st.SearchStrategy[Any]) -> dict[str, st.SearchStrategy[Any]]:
    several = st.lists(inner, min_size=1, max_size=2)
    return {
        "properties": st.dictionaries(_NAMES, inner, min_size=1, max_size=2),
        "patternProperties": st.dictionaries(_PATTERNS, inner, min_size=1, max_size=2),
        "additionalProperties": inner,
        "propertyNames": inner,
        "items": inner,
        "prefixItems": several,
        "contains": inner,
        "minContains": _SMALL,
        "allOf": several,
        "anyOf": several,
        "oneOf": several,
        "not": inner,
        "if": inner,
        "then": inner,
        "else": inner,
        "dependentRequired": st.dictionaries(_NAMES, st.lists(_NAMES, max_size=2, unique=True), max_size=1),
        "dependentSchemas": st.dictionaries(_NAMES, inner, max_size=1),
        "unevaluatedProperties": inner,
        "$ref": st.sampled_from(["#/$defs/x", "#/$defs/y"]),
    }


def _object(keywords: dict[str, st.SearchStrategy[Any]]) -> st.SearchStrategy[Any]:
    names = st.lists(st.sampled_from(sorted(keywords)), max_size=3, unique=True)
    return names.flatmap(lambda chosen: st.fixed_dictionaries({name: keywords[name] for name in chosen}))


def schemas(draft: str | None = None, *, booleans: bool = True) -> st.SearchStrategy[dict[str, Any]]:
    """Documents with two definitions that anything in them may refer to."""
    leaf = _object(_simple())
    if booleans:
        leaf = st.one_of(st.booleans(), leaf)
    part = st.recursive(leaf, lambda inner: _object({**_simple(), **_nested(inner)}), max_leaves=5)
    whole = _object({**_simple(), **_nested(part)})
    head = {"$schema": draft} if draft else {}
    return st.builds(lambda schema, x, y: {**head, **schema, "$defs": {"x": x, "y": y}}, whole, part, part)
