"""Which changes of a schema nobody can notice."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evatui.kernel.admission.compat import Direction, incompatibilities
from tests.admission.compat_law import check
from tests.admission.schema_strategies import DRAFTS

INPUT, OUTPUT = Direction.INPUT, Direction.OUTPUT


def record(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "additionalProperties": False}


TEXT, COUNT = {"type": "string"}, {"type": "integer"}

WIDENS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "a new optional property": (record(a=TEXT), record(a=TEXT, b=COUNT)),
    "an open record": (record(a=TEXT), {"type": "object", "properties": {"a": TEXT}}),
    "one property less is required": (
        {**record(a=TEXT, b=TEXT), "required": ["a", "b"]},
        {**record(a=TEXT, b=TEXT), "required": ["b"]},
    ),
    "integer becomes number": (record(a=COUNT), record(a={"type": "number"})),
    "a type more": (record(a=TEXT), record(a={"type": ["string", "null"]})),
    "one value more": (record(a={"enum": ["x"]}), record(a={"enum": ["x", "y"]})),
    "values become text": (record(a={"enum": ["x", "y"]}), record(a={"type": "string", "maxLength": 1})),
    "both booleans named": (record(a={"type": "boolean"}), record(a={"enum": [True, False]})),
    "higher maximum": (record(a={"maximum": 3}), record(a={"maximum": 4})),
    "lower exclusive minimum": (record(a={"minimum": 3}), record(a={"exclusiveMinimum": 2})),
    "longer text": (record(a={"type": "string", "maxLength": 3}), record(a={"type": "string", "maxLength": 4})),
    "a pattern less": (record(a={"type": "string", "pattern": "^a"}), record(a=TEXT)),
    "fewer items at least": ({"items": TEXT, "minItems": 2}, {"items": TEXT, "minItems": 1}),
    "looser items": ({"type": "array", "items": COUNT}, {"type": "array", "items": {"type": "number"}}),
    "an alternative more": (record(a={"anyOf": [TEXT]}), record(a={"anyOf": [COUNT, TEXT]})),
    "types as alternatives": (
        record(a={"type": ["string", "null"]}),
        record(a={"anyOf": [{"type": "null"}, {"type": ["string", "array"]}]}),
    ),
    "alternatives as types": (record(a={"anyOf": [TEXT, {"type": "null"}]}), record(a={"type": ["string", "null"]})),
    "oneOf of different types": (record(a=TEXT), record(a={"oneOf": [TEXT, {"type": "null"}]})),
    "a multiple of a divisor": (
        record(a={"type": "integer", "multipleOf": 6}),
        record(a={"type": "integer", "multipleOf": 3}),
    ),
    "words for people": (record(a=TEXT), {**record(a={**TEXT, "title": "A", "default": "x"}), "description": "new"}),
    "written out in allOf": (
        record(a={"allOf": [TEXT, {"maxLength": 3}]}),
        record(a={"type": "string", "maxLength": 3}),
    ),
    "moved to $defs": (record(a=TEXT), {**record(a={"$ref": "#/$defs/t"}), "$defs": {"t": TEXT}}),
    "a deeper optional property": (record(a=record(b=TEXT)), record(a=record(b=TEXT, c=COUNT))),
    "a pattern for names that were refused": (record(a=TEXT), {**record(a=TEXT), "patternProperties": {"^x-": COUNT}}),
    "a tree": (
        {"$ref": "#/$defs/n", "$defs": {"n": record(v=COUNT, next={"$ref": "#/$defs/n"})}},
        {"$ref": "#/$defs/m", "$defs": {"m": record(v={"type": "number"}, next={"$ref": "#/$defs/m"})}},
    ),
}


@pytest.mark.parametrize("name", WIDENS)
def test_what_only_accepts_more_is_compatible_for_callers_and_not_for_readers(name: str) -> None:
    old, new = WIDENS[name]
    assert incompatibilities(old, new, INPUT) == ()
    assert incompatibilities(new, old, OUTPUT) == ()


SAME_BOTH_WAYS = {
    "alternatives as types",
    "both booleans named",
    "words for people",
    "written out in allOf",
    "moved to $defs",
}


@pytest.mark.parametrize("name", sorted(set(WIDENS) - SAME_BOTH_WAYS))
def test_the_way_back_is_not(name: str) -> None:
    old, new = WIDENS[name]
    assert incompatibilities(new, old, INPUT)
    assert incompatibilities(old, new, OUTPUT)


NARROWS: dict[str, tuple[dict[str, Any], dict[str, Any], str, str]] = {
    "required": (record(a=TEXT), {**record(a=TEXT), "required": ["a"]}, "/required", "a must now be there"),
    "removed": (record(a=TEXT, b=TEXT), record(a=TEXT), "/additionalProperties", "not accepted"),
    "type": (
        record(a={"type": ["string", "null"]}),
        record(a=TEXT),
        "/properties/a/type",
        "null is not accepted any more",
    ),
    "enum": (record(a={"enum": ["x", "y"]}), record(a={"enum": ["x"]}), "/properties/a/enum", "not every value"),
    "maximum": (record(a={"maximum": 9}), record(a={"maximum": 8}), "/properties/a/maximum", "maximum is now 8"),
    "pattern": (record(a=TEXT), record(a={**TEXT, "pattern": "^a"}), "/properties/a/pattern", "pattern is new"),
    "typed": ({"type": "object"}, {"type": "object", "properties": {"a": TEXT}}, "/properties/a/type", "not accepted"),
    "items": (record(a={"items": {}}), record(a={"items": TEXT}), "/properties/a/items/type", "not accepted any more"),
    "draft": (record(a=TEXT), {**record(a=TEXT), "$schema": DRAFTS[3]}, "/$schema", "another draft"),
}


@pytest.mark.parametrize("name", NARROWS)
def test_a_reason_says_where_in_the_new_schema(name: str) -> None:
    old, new, pointer, message = NARROWS[name]
    (found,) = incompatibilities(old, new, INPUT)
    assert found.pointer == pointer
    assert message in found.message.replace("nothing is accepted here any more", "not accepted")


def test_for_results_the_reason_is_in_the_new_schema_too() -> None:
    old = {**record(a=TEXT, b=TEXT), "required": ["a"]}
    found = incompatibilities(old, record(a={"type": ["string", "null"]}, b=TEXT), OUTPUT)
    assert {(one.pointer, one.message) for one in found} == {
        ("", "a may be missing now"),
        ("/properties/a/type", "null may come here now"),
    }


def test_everything_is_told_at_once() -> None:
    old = record(a=TEXT, b=COUNT, c=TEXT)
    new = {**record(a=COUNT, b={"type": "integer", "minimum": 1}), "required": ["b"]}
    assert [one.pointer for one in incompatibilities(old, new, INPUT)] == [
        "/required",
        "/properties/a/type",
        "/properties/b/minimum",
        "/additionalProperties",
    ]


@pytest.mark.parametrize(
    "part",
    [{"not": TEXT}, {"if": TEXT, "then": {"minLength": 1}}, {"contains": TEXT}, {"x-own": 1}, {"format": "email"}],
)
def test_what_is_only_compared_as_it_stands(part: dict[str, Any]) -> None:
    assert incompatibilities(record(a=part), record(a={**part, "title": "A"}), INPUT) == ()
    assert incompatibilities(record(a={}), record(a=part), INPUT)


def test_a_reference_that_turns_in_a_circle_is_told() -> None:
    loop = {"$ref": "#/$defs/a", "$defs": {"a": {"anyOf": [{"$ref": "#/$defs/a"}, TEXT]}}}
    assert incompatibilities(loop, {**loop, "title": "x"}, INPUT)


def test_an_intricate_schema_ends_in_a_reason() -> None:
    part: dict[str, Any] = {"anyOf": [{"minLength": n} for n in range(40)]}
    for _ in range(4):
        part = {"anyOf": [{**copy.deepcopy(part), "maxLength": n} for n in range(8)]}
    assert incompatibilities(record(a=part), record(a={"allOf": [part, {"pattern": "x"}]}), INPUT)


@pytest.mark.parametrize("draft", DRAFTS)
@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_compatible_means_that_nothing_accepted_is_refused(draft: str | None, data: st.DataObject) -> None:
    check(draft, data)
