"""Schemas: what is refused and where, and what a value that breaks one is told."""

from __future__ import annotations

import json
import re
import threading
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evatui.kernel.admission.json_tree import JsonProblem, parse_json, plain_json
from evatui.kernel.admission.schema_rules import _FORMATS
from evatui.kernel.admission.schemas import CompiledSchema
from evatui.kernel.workspace.layout import Layout
from evatui.kernel.workspace.yaml import plain
from tests.admission.harness import GIVES, MANIFEST, NOTES, TAKES, accepted, edited, judge, line_of, only, refused

# the schema, line and column to blame, code, words of the message
WRONG = [
    ('{"type": "objekt"}', 1, 10, "EVA-304", "type must be one of"),
    ('{\n "properties": {"a": {"minLength": -1}}}', 2, 36, "EVA-304", "minLength"),
    ('{"properties": []}', 1, 16, "EVA-304", "properties"),
    ('{"required": ["a", "a"]}', 1, 14, "EVA-304", "required"),
    ('{"$schema": "https://example.org/mine"}', 1, 13, "EVA-304", "none of the drafts"),
    ('{"items": {\n  "$ref": "urn:other"}}', 2, 11, "EVA-305", "leads out"),
    ('{"items": {"$ref": "http://169.254.169.254/x"}}', 1, 20, "EVA-305", "leads out"),
    ('{"allOf": [{"$dynamicRef": "file:///etc/passwd"}]}', 1, 28, "EVA-305", "leads out"),
    ('{"$defs": {"a": {"$id": "https://example.org/a"}}}', 1, 18, "EVA-305", "starts another"),
    ('{"$ref": "#/$defs/nobody"}', 1, 10, "EVA-308", "leads nowhere"),
    ('{"$ref": "#nobody"}', 1, 10, "EVA-308", "leads nowhere"),
    ('{"properties": {"a": {"pattern": "(?=x)"}}}', 1, 34, "EVA-306", "linear-time"),
    ('{"pattern": "(a)\\\\1"}', 1, 13, "EVA-306", "linear-time"),
    ('{"pattern": "("}', 1, 13, "EVA-306", "no regular expression: missing )"),
    ('{"pattern": "((a{1000}){1000}){1000}"}', 1, 13, "EVA-306", "too large"),
    ('{"$ref": "#"}', 1, 10, "EVA-308", "back to itself"),
    ('{"properties": {"a": {"$ref": "#/properties/a"}}}', 1, 31, "EVA-308", "back to itself"),
    (
        '{"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"allOf": [{"$ref": "#/$defs/a"}]}}}',
        1,
        47,
        "EVA-308",
        "itself",
    ),
    ('{"properties": {"a": {"anyOf": [{"type": "null"}, {"$ref": "#/properties/a"}]}}}', 1, 60, "EVA-308", "itself"),
    ('{"patternProperties": {"(?!x)": {}}}', 1, 24, "EVA-306", "linear-time"),
    ('{"type": "object",}', 1, 19, "EVA-303", "expected another key"),
    ('{"type": "object"', 1, 17, "EVA-303", "the file ends here"),
    ("{'type': 'object'}", 1, 2, "EVA-303", "double quotes"),
    ('{"a": 1} // note', 1, 10, "EVA-303", "nothing may follow"),
    ('{"a": 01}', 1, 8, "EVA-303", "expected a comma"),
    ('{"a": NaN}', 1, 7, "EVA-303", "expected a value"),
    ('{"a": 1e999}', 1, 7, "EVA-303", "too large"),
    ('{"a": "\\ud800"}', 1, 7, "EVA-303", "surrogate"),
    ('{"a":\n "tab\there"}', 2, 6, "EVA-303", "control character"),
    ('{"type": "object",\n "type": "array"}', 2, 2, "EVA-303", "given twice"),
    ("", 1, 1, "EVA-303", "expected a value"),
    ("[1]", 1, 1, "EVA-303", "no JSON object"),
    ("true", 1, 1, "EVA-303", "no JSON object"),
    ('{"not": ' * 70 + "{}" + "}" * 70, 1, 513, "EVA-307", "deeper than 64"),
]


@pytest.mark.parametrize(("text", "line", "column", "code", "words"), WRONG, ids=[case[0][:40] for case in WRONG])
def test_a_broken_schema_is_refused_at_its_place(
    layout: Layout, text: str, line: int, column: int, code: str, words: str
) -> None:
    found = only(judge({**NOTES, GIVES: text}, layout))
    assert (found.code, found.reason) == (code, "schema_invalid")
    assert words in found.message
    assert found.primary is not None
    assert (found.primary.file, found.primary.line, found.primary.column) == (GIVES, line, column)


def test_references_that_fan_out_without_end_are_refused(layout: Layout) -> None:
    fan = {f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}, {"$ref": f"#/$defs/d{n + 1}"}]} for n in range(40)}
    schema = {"properties": {"a": {"$ref": "#/$defs/d0"}}, "$defs": {**fan, "d40": {"type": "integer"}}}
    found = only(judge({**NOTES, GIVES: json.dumps(schema)}, layout))
    assert (found.code, "more than 100,000 ways" in found.message) == ("EVA-307", True)
    chain = {f"d{n}": {"$ref": f"#/$defs/d{n + 1}"} for n in range(1000)}
    chained = {"$ref": "#/$defs/d0", "$defs": {**chain, "d1000": {}}}
    assert only(judge({**NOTES, GIVES: json.dumps(chained)}, layout)).code == "EVA-307"


@pytest.mark.parametrize(
    "text", ['{"$anchor": []}', '{"$ref": []}', '{"pattern": {}}', '{"allOf": {}}', '{"not": []}', '{"items": []}']
)
def test_keywords_of_the_wrong_type_are_refused(layout: Layout, text: str) -> None:
    assert only(judge({**NOTES, GIVES: text}, layout)).code == "EVA-304"


def test_bytes_that_are_no_utf8_are_placed_too(layout: Layout) -> None:
    found = only(judge({**NOTES, GIVES: b'{"title":\n "caf\xe9"}'}, layout))
    assert (found.code, found.primary and (found.primary.line, found.primary.column)) == ("EVA-303", (2, 6))


def test_every_fault_of_a_schema_is_told(layout: Layout) -> None:
    text = '{"type": "a",\n "items": {"type": "b"},\n "properties": {"c": {"$ref": "x"}, "d": {"pattern": "(?=d)"}}}'
    verdict = refused(judge({**NOTES, TAKES: text}, layout))
    assert sorted(d.primary.line for d in verdict.diagnostics if d.primary) == [1, 2, 3, 3]


@pytest.mark.parametrize(
    "text",
    [
        '{"$ref": "#/$defs/a%20b", "$defs": {"a b": {"type": "string"}}}',
        '{"$ref": "#here", "$defs": {"a": {"$anchor": "here", "type": "string"}}}',
        '{"properties": {"$ref": {"type": "string"}, "pattern": {"type": "string"}, "type": {"const": "(?=x)"}}}',
        '{"enum": [{"$ref": "http://example.org", "pattern": "(?=x)"}]}',
        '{"$schema": "http://json-schema.org/draft-07/schema#", "definitions": {"a": {}}, "$ref": "#/definitions/a"}',
        '{"items": {"$ref": "#"}}',
        '\ufeff{"title": "\\u00e9\\ud83d\\ude00"}',
    ],
)
def test_what_only_looks_odd_is_admitted(layout: Layout, text: str) -> None:
    accepted(judge({**NOTES, GIVES: text}, layout))


def test_an_inline_schema_is_placed_in_the_manifest(layout: Layout) -> None:
    inline = "output_schema:\n  type: object\n  properties:\n    notes: {type: lst}\n"
    files = edited(manifest=("output_schema: schemas/notes.output.json\n", inline))
    found = only(judge(files, layout))
    assert (found.code, found.primary and found.primary.line) == ("EVA-304", line_of(files, MANIFEST, "lst"))
    files[MANIFEST] = files[MANIFEST].replace("lst", "array")
    assert accepted(judge(files, layout)).output.check({"notes": 1})


def test_one_file_for_both_schemas_is_told_of_once(layout: Layout) -> None:
    files = edited(manifest=("schemas/notes.output.json", "schemas/notes.input.json"), takes=("string", "strng"))
    only(judge(files, layout))


def test_a_schema_that_is_gone_is_told_at_the_line_that_names_it(layout: Layout) -> None:
    files = {path: text for path, text in NOTES.items() if path != TAKES}
    found = only(judge(files, layout))
    assert (found.code, found.reason) == ("EVA-302", "file_missing")
    assert found.primary is not None
    assert (found.primary.file, found.primary.line) == (MANIFEST, line_of(NOTES, MANIFEST, "input_schema"))


PERSON = CompiledSchema(
    {
        "type": "object",
        "properties": {
            "age": {"type": "integer", "minimum": 0},
            "mail": {"type": "string", "format": "email"},
            "role": {"enum": ["a", "b"]},
            "a/b~c": {"type": "string"},
            "friends": {"type": "array", "items": {"$ref": "#"}},
        },
        "required": ["age"],
        "additionalProperties": False,
    }
)


def test_violations_say_where_and_what_but_not_the_value() -> None:
    secret = "hunter2-SECRET"
    value = {"mail": secret, "role": secret, "a/b~c": 5, "friends": [{"age": secret}, {}], "x\x1b[31m": secret}
    found = PERSON.check(value)
    assert [violation.pointer for violation in found] == [
        "",
        "",
        "/a~1b~0c",
        "/friends/0/age",
        "/friends/1",
        "/mail",
        "/role",
    ]
    text = "\n".join(violation.text for violation in found)
    assert secret not in text
    assert "\x1b" not in text
    assert '/friends/0/age: this value is not of type "integer"' in text
    assert '"age" is a required property' in text
    assert PERSON.check({"age": 3, "friends": []}) == []


def test_violations_are_few_and_short() -> None:
    found = CompiledSchema({"items": {"type": "string"}, "propertyNames": {"maxLength": 2}}).check(list(range(5000)))
    assert len(found) == 20
    long = CompiledSchema({"additionalProperties": False}).check({"k" * 100_000: 1})
    assert all(len(violation.text) < 600 for violation in long)


def test_a_deep_value_that_breaks_alternatives_is_refused_at_once() -> None:
    """Spelt out, the alternatives of each level would multiply: 2 to the power of 200."""
    both = [{"properties": {"a": {"$ref": "#"}}}, {"properties": {"a": {"$ref": "#"}, "b": {}}}]
    tree = CompiledSchema({"type": "object", "anyOf": both})
    value: object = "leaf"
    for _ in range(200):
        value = {"a": value}
    assert [violation.pointer for violation in tree.check(value)] == [""]
    assert [violation.message for violation in tree.check({"a": "leaf"})] == [
        "this value is not valid under any of the schemas listed in the 'anyOf' keyword"
    ]


def test_of_very_many_violations_only_the_first_is_told() -> None:
    found = CompiledSchema({"items": {"anyOf": [{"type": "string"}, {"type": "null"}]}}).check([1] * 30_000)
    assert [violation.pointer for violation in found] == ["/0"]


def test_a_deep_value_without_alternatives_is_told_where_it_breaks() -> None:
    value: object = {"age": "old"}
    for _ in range(50):
        value = {"age": 1, "friends": [value]}
    fresh = CompiledSchema(PERSON.document)  # nothing was counted yet
    assert [violation.pointer for violation in fresh.check(value)] == [clean_pointer("/friends/0" * 50 + "/age")]


def clean_pointer(pointer: str) -> str:
    """As it is told: cut to a length that fits a line."""
    return pointer if len(pointer) <= 200 else pointer[:199] + "…"


def test_alternatives_that_share_parts_are_counted_before_a_schema_is_used(layout: Layout) -> None:
    step = [{"properties": {"a": {"$ref": "#/$defs/dN"}}}, {"properties": {"a": {"$ref": "#/$defs/dN"}}}]
    steps = {f"d{n}": json.loads(json.dumps({"anyOf": step}).replace("dN", f"d{n + 1}")) for n in range(30)}
    schema = {"$ref": "#/$defs/d0", "$defs": {**steps, "d30": {"type": "integer"}}}
    assert only(judge({**NOTES, GIVES: json.dumps(schema)}, layout)).code == "EVA-307"
    recursive = {"anyOf": [{"properties": {"a": {"$ref": "#"}}}, {"properties": {"a": {"$ref": "#"}}}]}
    accepted(judge({**NOTES, GIVES: json.dumps(recursive)}, layout))


@pytest.mark.parametrize("value", [b"x", {1: 2}, object(), "\ud800", {"a": float("nan")}])
def test_what_is_no_json_is_a_violation_and_no_crash(value: object) -> None:
    assert CompiledSchema({"type": "boolean"}).check(value)


@pytest.mark.parametrize(
    "text",
    [
        '{"properties": {"next": {"$ref": "#"}}}',
        '{"items": {"anyOf": [{"$ref": "#"}, {"type": "null"}]}, "$ref": "#/$defs/a", "$defs": {"a": {}}}',
        '{"$defs": {"tree": {"additionalProperties": {"$ref": "#/$defs/tree"}}}, "$ref": "#/$defs/tree"}',
        '{"allOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/a"}], "$defs": {"a": {"type": "object"}}}',
    ],
)
def test_a_reference_that_takes_a_step_into_the_value_is_no_circle(layout: Layout, text: str) -> None:
    accepted(judge({**NOTES, GIVES: text}, layout))


def test_a_misspelt_format_is_told_and_serves_all_the_same(layout: Layout) -> None:
    text = '{"properties": {"a": {"format": "emial"}, "b": {"format": "my-own-name"}, "c": {"format": "email"}}}'
    (warning,) = accepted(judge({**NOTES, GIVES: text}, layout)).warnings
    assert (warning.code, warning.level) == ("EVA-310", "warning")
    assert "did you mean email?" in warning.message


def test_every_format_that_is_said_to_be_known_is_checked() -> None:
    for name in _FORMATS - {"idn-email", "iri-reference", "uri-reference", "regex"}:
        assert CompiledSchema({"format": name}).check("\x00 not {one"), name
    assert CompiledSchema({"format": "uri-reference"}).check("http://[")
    assert CompiledSchema({"format": "regex"}).check("(")


def test_formats_are_checked_and_patterns_take_no_time() -> None:
    schema = CompiledSchema({"properties": {"at": {"format": "date-time"}, "p": {"pattern": "^(a+)+$"}}})
    assert schema.check({"at": "yesterday"})
    assert schema.check({"p": "a" * 50_000 + "!"})


def test_many_threads_may_ask_at_once() -> None:
    wrong: list[object] = []

    def ask() -> None:
        for age in range(200):
            if PERSON.check({"age": age}) or not PERSON.check({"age": -1 - age}):
                wrong.append(age)

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.parametrize(
    ("schema", "pointer", "wants"),
    [
        ({"type": "array"}, "", True),
        ({"type": "object"}, "", False),
        ({}, "", False),
        ({"type": ["array", "null"]}, "", True),
        ({"type": ["array", "object"]}, "", False),
        ({"properties": {"a": {"type": "array"}}}, "/a", True),
        ({"properties": {"a": {"type": "array"}}}, "/b", False),
        ({"properties": {"a/b": {"type": "array"}}}, "/a~1b", True),
        ({"properties": {"0": {"type": "array"}}}, "/0", True),
        ({"additionalProperties": {"type": "array"}}, "/any", True),
        ({"additionalProperties": True}, "/any", False),
        ({"items": {"items": {"type": "array"}}}, "/3/7", True),
        ({"prefixItems": [{"type": "array"}], "items": {"type": "object"}}, "/0", True),
        ({"prefixItems": [{"type": "array"}], "items": {"type": "object"}}, "/1", False),
        ({"$ref": "#/$defs/list", "$defs": {"list": {"type": "array"}}}, "", True),
        ({"allOf": [{"minItems": 0}, {"type": "array"}]}, "", True),
        ({"anyOf": [{"type": "array"}, {"type": "null"}]}, "", True),
        ({"anyOf": [{"type": "array"}, {"type": "object"}]}, "", False),
        ({"oneOf": [{"type": "null"}]}, "", False),
        ({"$ref": "#"}, "", False),
        ({"anyOf": [{"$ref": "#"}]}, "/a/b", False),
    ],
)
def test_an_empty_table_is_an_array_only_where_nothing_else_fits(
    schema: dict[str, object], pointer: str, wants: bool
) -> None:
    assert CompiledSchema(schema).empty_is_array(pointer) is wants


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=60, deadline=None)
@given(_VALUES)
def test_no_violation_means_valid(value: object) -> None:
    """`jsonschema`, the slow reference, is the judge."""
    import jsonschema

    schema = {
        "type": ["object", "array", "string"],
        "properties": {"a": {"type": "integer"}, "b": {"items": {"type": "string"}}},
        "items": {"not": {"type": "null"}},
        "maxProperties": 2,
    }
    valid = jsonschema.Draft202012Validator(schema).is_valid(value)
    assert (CompiledSchema(schema).check(value) == []) is valid


JSONISH = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4),
    max_leaves=15,
)


@given(JSONISH, st.integers(0, 80), st.sampled_from(["", ",", "}", "NaN", "1e999", "\\ud800", '"a":1,"a":2', "\ufeff"]))
@settings(max_examples=200, deadline=None)
def test_json_without_positions_is_the_same_json(value: Any, at: int, junk: str) -> None:
    text = json.dumps(value, ensure_ascii=False)
    data = (text[:at] + junk + text[at:]).encode("utf-8", "surrogatepass")
    try:
        slow = plain(parse_json(data, "f"))
    except JsonProblem as problem:
        with pytest.raises(JsonProblem, match=re.escape(problem.message[:20])):
            plain_json(data, "f")
    else:
        assert repr(plain_json(data, "f")) == repr(slow)
