"""Input schemas that no object can fit."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from evatui.kernel.admission.compat import Direction, incompatibilities
from evatui.kernel.admission.schema_empty import dead_end, likely_object, plainly_takes_objects
from evatui.kernel.admission.schema_rules import schema_faults, unremarkable
from evatui.kernel.admission.schemas import CompiledSchema
from evatui.kernel.admission.verdict import Candidate
from evatui.kernel.workspace.layout import Layout
from tests.admission.compat_law import validator
from tests.admission.harness import NOTES, TAKES, judge
from tests.admission.schema_strategies import DRAFTS, schemas, values

EMPTY: dict[str, tuple[dict[str, Any], str]] = {
    "text": ({"type": "string"}, "/type"),
    "a list of types": ({"type": ["array", "null"]}, "/type"),
    "values": ({"enum": ["a", 1]}, "/enum"),
    "a constant": ({"const": 4}, "/const"),
    "required and false": ({"required": ["a"], "properties": {"a": False}}, "/properties/a"),
    "required and unknown": (
        {"required": ["a"], "properties": {"b": {}}, "additionalProperties": False},
        "/additionalProperties",
    ),
    "required and never": (
        {"required": ["a"], "properties": {"a": {"type": "string", "enum": [1]}}},
        "/properties/a/enum",
    ),
    "too few allowed": ({"maxProperties": 1, "required": ["a", "b"]}, "/maxProperties"),
    "sizes": ({"minProperties": 3, "maxProperties": 2}, "/maxProperties"),
    "not anything": ({"not": {}}, "/not"),
    "not an object": ({"not": {"type": "object"}}, "/not"),
    "not an object, in parts": (
        {"type": ["object", "null"], "allOf": [{"not": {"type": ["object", "array"]}}]},
        "/allOf/0/not",
    ),
    "not what every object is": ({"not": {"minLength": 1, "type": ["object", "string"]}}, "/not"),
    "not one of two": ({"not": {"anyOf": [{"type": "object"}, {"pattern": "x"}]}}, "/not"),
    "not what no object is": ({"not": {"not": {"type": "string"}}}, "/not"),
    "on a condition that every object meets": ({"if": {"type": "object"}, "then": False}, "/if"),
    "on a condition and without it": (
        {"required": ["a"], "if": {"required": ["b"]}, "then": {"maxProperties": 1}, "else": {"type": "null"}},
        "/if",
    ),
    "a name that none may have": ({"required": ["a"], "propertyNames": {"maxLength": 0}}, "/propertyNames"),
    "a name of another kind": ({"required": ["a"], "propertyNames": {"pattern": "^x"}}, "/propertyNames"),
    "oneOf twice the same": ({"oneOf": [{"required": ["a"]}, {"required": ["a"], "title": "A"}]}, "/oneOf"),
    "oneOf twice the same and text": ({"oneOf": [{}, {"type": "string"}, {}]}, "/oneOf"),
    "allOf": ({"type": "object", "allOf": [{"type": "string"}]}, "/allOf/0/type"),
    "anyOf": ({"anyOf": [{"type": "string"}, {"const": 1}]}, ""),
    "by reference": ({"$ref": "#/$defs/t", "$defs": {"t": {"type": "integer"}}}, "/$defs/t/type"),
    "bounds": (
        {"required": ["n"], "properties": {"n": {"type": "number", "minimum": 3, "maximum": 2}}},
        "/properties/n/maximum",
    ),
    "deep": (
        {"required": ["a"], "properties": {"a": {"type": "object", "required": ["b"], "properties": {"b": False}}}},
        "/properties/a/properties/b",
    ),
}


@pytest.mark.parametrize("name", EMPTY)
def test_what_no_object_fits_is_told_with_its_place(name: str) -> None:
    document, pointer = EMPTY[name]
    found = dead_end(document)
    assert found is not None
    assert found.pointer == pointer or name == "anyOf"


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"type": ["object", "null"]},
        {"properties": {"a": False}},
        {"enum": [{}, 1]},
        {"required": ["a"], "properties": {"a": {"$ref": "#"}}},
        {"anyOf": [{"type": "string"}, {"type": "object"}]},
        {"$ref": "#"},
        {"required": ["a"], "patternProperties": {"^a": {"type": "string"}}, "additionalProperties": False},
        {"not": {"type": "string"}},
        {"not": {"type": "object", "required": ["a"]}},
        {"not": {"not": {"required": ["a"]}}},
        {"not": {"anyOf": [{"required": ["a"]}, {"type": "string"}]}},
        {"if": {"required": ["a"]}, "then": False},
        {"if": {"type": "object"}, "else": False},
        {"if": {"type": "object"}},
        {"required": ["a"], "propertyNames": {"maxLength": 1}},
        {"oneOf": [{"required": ["a"]}, {"required": ["b"]}]},
        {"oneOf": [{"const": {"a": 1}}, {"const": {"a": True}}]},
        {"anyOf": [{}, {}]},
    ],
)
def test_what_may_be_fitted_is_not(document: dict[str, Any]) -> None:
    assert dead_end(document) is None


@pytest.mark.parametrize("draft", [DRAFTS[0], DRAFTS[3], DRAFTS[5]])
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_nothing_that_accepts_an_object_is_called_empty(draft: str | None, data: st.DataObject) -> None:
    document = data.draw(schemas(draft, booleans=draft != DRAFTS[-1]))
    judge = validator(document)
    objects = st.dictionaries(st.sampled_from(["a", "b", "ab"]), values(), max_size=3)
    if judge is not None and dead_end(document) is not None:
        for value in data.draw(st.lists(objects, min_size=1, max_size=8)):
            assert not judge.is_valid(value), value


@pytest.mark.parametrize(
    "there",
    [
        {"enum": 5},
        {"type": "objekt"},
        {"properties": {"a": 5}, "required": ["a"]},
        {"required": "a"},
        {"anyOf": 5},
        {"minProperties": "x"},
        {"enum": [[], [1]], "properties": {"b": False}},
        {"propertyNames": 5, "required": ["a"]},
    ],
    ids=json.dumps,
)
@pytest.mark.parametrize("draft", [DRAFTS[0], DRAFTS[5]])
def test_a_reference_to_where_no_schema_is_looked_for_breaks_nothing(
    layout: Layout, there: dict[str, Any], draft: str | None
) -> None:
    """It is refused, or the library makes something of it."""
    document = {"allOf": [{"$ref": "#/const"}], "const": there, **({"$schema": draft} if draft else {})}
    verdict = judge({**NOTES, TAKES: json.dumps(document)}, layout)
    assert all(found.code.startswith("EVA-3") for found in getattr(verdict, "diagnostics", ()))
    if isinstance(verdict, Candidate):
        incompatibilities(document, {"required": ["b"]}, Direction.INPUT)
        incompatibilities({"required": ["b"]}, document, Direction.INPUT)


@settings(max_examples=30)
@given(st.sampled_from(DRAFTS).flatmap(schemas))
@example({"type": "object", "$schema": DRAFTS[4], "contentEncoding": 1})
@example({"required": ["a"], "properties": {"a": {"type": "string", "maxLength": 0}}, "additionalProperties": False})
def test_what_is_trusted_at_a_glance_compiles_and_takes_an_object(document: dict[str, Any]) -> None:
    """So it need not be compiled before its first value, nor searched for a dead end."""
    if unremarkable(document) and not schema_faults(document, lambda target: ("EVA-305", target), plain=True):
        schema = CompiledSchema(document)
        if plainly_takes_objects(document):
            assert schema.fits(likely_object(document))
