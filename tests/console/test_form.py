"""Which fields a schema comes to, and that the payload they make is just what was meant."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evatui.console.view.form.field import ABSENT, Kind
from evatui.console.view.form.payload import entries_of, first_entries, payload_of, problem_of, shown_fields
from evatui.console.view.form.plan import Form, TooRich, plan

SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["path", "mode"],
    "properties": {
        "path": {"type": "string", "description": "where"},
        "depth": {"type": "integer", "default": 3},
        "ratio": {"type": ["number", "null"]},
        "deep": {"type": "boolean"},
        "mode": {"enum": ["fast", "slow", 3, None]},
        "names": {"type": "array", "items": {"type": "string"}, "default": ["a"]},
        "sizes": {"type": "array", "items": {"type": "integer"}},
        "place": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "at": {"properties": {"x": {"type": "number"}}}},
        },
        "free": {"description": "anything"},
        "many": {"type": "array", "items": {"type": "object"}},
    },
}

TAGGED: dict[str, Any] = {
    "type": "object",
    "properties": {"note": {"type": "string"}},
    "oneOf": [
        {"properties": {"kind": {"const": "file"}, "path": {"type": "string"}}, "required": ["kind", "path"]},
        {"properties": {"kind": {"const": "url"}, "path": {"type": "integer"}, "port": {"$ref": "#/$defs/port"}}},
    ],
    "$defs": {"port": {"type": "integer", "default": 80}},
}


def form(schema: object) -> Form:
    planned = plan(schema)
    assert isinstance(planned, Form), planned
    return planned


def test_each_value_has_the_field_that_is_made_for_it() -> None:
    fields = {field.label: field for field in form(SCHEMA).fields}
    assert {label: field.kind for label, field in fields.items()} == {
        "path": Kind.TEXT,
        "depth": Kind.INTEGER,
        "ratio": Kind.NUMBER,
        "deep": Kind.SWITCH,
        "mode": Kind.SELECT,
        "names": Kind.LIST,
        "sizes": Kind.LIST,
        "place.city": Kind.TEXT,
        "place.at.x": Kind.NUMBER,
        "free": Kind.JSON,
    }
    assert fields["mode"].options == ("fast", "slow", 3)
    assert fields["mode"].nullable
    assert fields["sizes"].item is Kind.INTEGER
    assert (fields["path"].required, fields["depth"].required) == (True, False)
    assert fields["place.at.x"].pointer == "/place/at/x"
    assert form(SCHEMA).left_out == ("many is a list of more than texts or numbers",)


def test_defaults_are_sent_and_nothing_else_is() -> None:
    assert payload_of(form(SCHEMA), first_entries(form(SCHEMA))) == {"depth": 3, "names": ["a"]}


def test_absent_empty_and_null_are_three_things() -> None:
    planned = form(SCHEMA)
    assert payload_of(planned, {("path",): ABSENT}) == {}
    assert payload_of(planned, {("path",): "", ("names",): ()}) == {"path": "", "names": []}
    assert payload_of(planned, {("ratio",): None}) == {"ratio": None}


def test_objects_are_there_with_the_first_of_their_values() -> None:
    assert payload_of(form(SCHEMA), {("place", "at", "x"): "1.5"}) == {"place": {"at": {"x": 1.5}}}


@pytest.mark.parametrize(
    ("path", "typed", "why"),
    [
        (("depth",), "3.5", "a whole number is wanted"),
        (("ratio",), "many", "a number is wanted"),
        (("ratio",), "nan", "a number is wanted"),
        (("sizes",), ("1", "x"), "line 2: a whole number is wanted"),
        (("depth",), "-12", ""),
        (("ratio",), "1e3", ""),
        (("free",), "{a", "not JSON: Expecting property name enclosed in double quotes at line 1, column 2"),
        (("free",), '[1, {"a": null}]', ""),
    ],
)
def test_what_no_number_can_be_made_of_is_said_at_its_field(path: tuple[str, ...], typed: Any, why: str) -> None:
    planned = form(SCHEMA)
    field = next(field for field in planned.fields if field.path == path)
    assert problem_of(field, typed) == why
    made = payload_of(planned, {path: typed})
    assert made == f"{field.label}: {why}" if why else isinstance(made, dict)


def test_the_fields_of_an_alternative_come_and_go_with_its_tag() -> None:
    planned = form(TAGGED)
    entries = first_entries(planned)
    assert [field.label for field in shown_fields(planned, entries)] == ["note", "kind", "path"]
    entries |= {("kind",): "url", ("path",): "7"}
    assert [field.label for field in shown_fields(planned, entries)] == ["note", "kind", "path", "port"]
    assert payload_of(planned, entries) == {"kind": "url", "path": 7, "port": 80}


@pytest.mark.parametrize(
    ("schema", "because"),
    [
        ({"type": "array"}, "no object"),
        ({"properties": {"a": {"anyOf": [{}]}}, "required": ["a"]}, "one of several things"),
        ({"properties": {"a": {"type": ["string", "integer"]}}, "required": ["a"]}, "string or integer"),
        ({"properties": {"a": {"type": "array", "items": {"type": "object"}}}, "required": ["a"]}, "list of more"),
        ({"properties": {"a": {"$ref": "other.json"}}, "required": ["a"]}, "another document"),
        ({"$ref": "#"}, "refers to itself"),
        ({"oneOf": [{"properties": {"a": {"const": 1}}}, {"properties": {"b": {}}}]}, "without a tag"),
        ({"allOf": [{}], "properties": {}}, "put together"),
        ({"properties": {f"a{n}": {"type": "string"} for n in range(50)}}, "50 fields"),
        (7, "allows nothing"),
    ],
)
def test_what_is_too_rich_says_why(schema: object, because: str) -> None:
    planned = plan(schema)
    assert isinstance(planned, TooRich)
    assert because in planned.because


def test_objects_go_down_to_depth_three_and_no_further() -> None:
    deep: dict[str, Any] = {"type": "object", "properties": {"x": {"type": "string"}}, "required": ["x"]}
    for name in ("c", "b", "a"):
        deep = {"type": "object", "properties": {name: deep}, "required": [name]}
    planned = plan(deep)
    assert isinstance(planned, TooRich)
    assert "a.b.c is an object at depth 4" in planned.because


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=12,
)
WORDS = st.sampled_from(["type", "properties", "required", "oneOf", "enum", "default", "const", "items", "$ref", "a"])


@given(st.recursive(JSON, lambda inner: st.dictionaries(WORDS, inner, max_size=4), max_leaves=12))
def test_no_schema_breaks_the_plan(schema: object) -> None:
    planned = plan(schema)
    if isinstance(planned, Form):
        assert isinstance(payload_of(planned, first_entries(planned)), dict | str)


LINE = st.text(max_size=6).filter(str.isprintable)
VALUES = st.fixed_dictionaries(
    {},
    optional={
        "path": LINE,
        "depth": st.integers(),
        "ratio": st.none() | st.floats(allow_nan=False, allow_infinity=False),
        "deep": st.booleans(),
        "mode": st.sampled_from(["fast", "slow", 3, None]),
        "names": st.lists(LINE, max_size=3),
        "sizes": st.lists(st.integers(), max_size=3),
        "place": st.fixed_dictionaries({"city": st.just("x")}),
        "free": JSON.filter(lambda value: json.dumps(value, ensure_ascii=False).isprintable()),
    },
)


@given(VALUES)
def test_a_payload_goes_through_the_form_unchanged(payload: dict[str, Any]) -> None:
    entries = entries_of(form(SCHEMA), payload)
    assert not isinstance(entries, str)
    assert payload_of(form(SCHEMA), entries) == payload


@pytest.mark.parametrize(
    "payload",
    [
        {"other": 1},
        {"names": "x"},
        {"depth": "3"},
        {"place": {}},
        {"path": "a\nb"},
        {"path": "\x9b"},
        {"names": ["\x1b"]},
        {"free": "\x9b"},
        {"free": math.inf},
    ],
)
def test_what_the_form_cannot_hold_stays_json(payload: dict[str, Any]) -> None:
    assert isinstance(entries_of(form(SCHEMA), payload), str)
