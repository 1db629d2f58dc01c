"""Schemas that refer to other schemas of the workspace, and schemas of older drafts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evatui.kernel.model.diagnostic import Reason
from tests.admission.harness import MANIFEST, NOTES, TAKES, accepted, edited, judge_disk, only

COMMON = "schemas/common/words.json"


def files(takes: Any, **others: Any) -> dict[str, str]:
    more = {path.replace("__", "/") + ".json": json.dumps(schema) for path, schema in others.items()}
    return {**NOTES, TAKES: json.dumps(takes), **more}


def test_a_schema_refers_to_another_by_its_path(tmp_path: Path) -> None:
    takes = {"type": "object", "properties": {"word": {"$ref": "common/words.json#/$defs/word"}}}
    words = {
        "$defs": {"word": {"allOf": [{"$ref": "#/$defs/text"}, {"$ref": "../more.json"}]}, "text": {"type": "string"}}
    }
    made = files(takes, schemas__common__words=words, schemas__more={"maxLength": 3})
    found = accepted(judge_disk(tmp_path, made)[MANIFEST])
    assert not found.input.check({"word": "abc"})
    assert [one.pointer for one in found.input.check({"word": "abcd"})] == ["/word"]
    assert [one.pointer for one in found.input.check({"word": 1})] == ["/word"]
    assert {COMMON, "schemas/more.json"} <= found.snapshot.files.keys()


def test_what_is_referred_to_is_part_of_the_version(tmp_path: Path) -> None:
    takes = {"type": "object", "properties": {"word": {"$ref": "common/words.json"}}}
    first = judge_disk(tmp_path, files(takes, schemas__common__words={"type": "string"}))[MANIFEST]
    second = judge_disk(tmp_path, files(takes, schemas__common__words={"type": "integer"}))[MANIFEST]
    assert first.digest != second.digest


def test_circles_over_several_files_end(tmp_path: Path) -> None:
    takes = {"type": "object", "properties": {"next": {"$ref": "more.json"}}}
    more = {"type": "object", "properties": {"word": {"type": "string"}, "next": {"$ref": "notes.input.json"}}}
    found = accepted(judge_disk(tmp_path, files(takes, schemas__more=more))[MANIFEST])
    assert not found.input.check({"next": {"next": {"next": {"word": "x"}}}})
    assert found.input.check({"next": {"next": {"next": {"word": 1}}}})


@pytest.mark.parametrize(
    ("target", "code"),
    [
        ("nowhere.json", "EVA-302"),
        ("../capabilities/tools/notes.lua", "EVA-302"),
        ("../../etc/passwd", "EVA-305"),
        ("/etc/passwd", "EVA-305"),
        ("file:///etc/passwd", "EVA-305"),
        ("https://example.org/s.json", "EVA-305"),
        ("notes.output.json#/nowhere", "EVA-308"),
        ("notes.output.json#anchor", "EVA-305"),
    ],
)
def test_what_cannot_be_followed_is_refused_at_its_place(tmp_path: Path, target: str, code: str) -> None:
    found = only(judge_disk(tmp_path, files({"type": "object", "properties": {"a": {"$ref": target}}}))[MANIFEST])
    assert (found.code, found.primary and found.primary.file) == (code, TAKES)


def test_a_fault_in_the_other_file_is_told_there(tmp_path: Path) -> None:
    takes = {"type": "object", "properties": {"word": {"$ref": "more.json"}}}
    found = only(judge_disk(tmp_path, files(takes, schemas__more={"type": "strng"}))[MANIFEST])
    assert (found.code, found.primary and found.primary.file) == ("EVA-304", "schemas/more.json")


def test_an_inline_schema_refers_by_the_path_from_the_workspace(tmp_path: Path) -> None:
    inline = "input_schema: {type: object, properties: {word: {$ref: schemas/more.json}}}"
    made = edited(manifest=("input_schema: schemas/notes.input.json", inline))
    found = accepted(judge_disk(tmp_path, {**made, "schemas/more.json": '{"type": "string"}'})[MANIFEST])
    assert found.input.check({"word": 1})


DRAFTS: dict[str, tuple[dict[str, Any], Any, Any]] = {
    "http://json-schema.org/draft-04/schema#": (
        {"properties": {"n": {"type": "number", "minimum": 3, "exclusiveMinimum": True}}},
        {"n": 4},
        {"n": 3},
    ),
    "http://json-schema.org/draft-06/schema#": ({"properties": {"n": {"exclusiveMinimum": 3}}}, {"n": 4}, {"n": 3}),
    "http://json-schema.org/draft-07/schema#": (
        {"if": {"required": ["a"]}, "then": {"required": ["b"]}},
        {"a": 1, "b": 2},
        {"a": 1},
    ),
    "https://json-schema.org/draft/2019-09/schema": (
        {"properties": {"l": {"items": [{"type": "string"}], "additionalItems": False}}},
        {"l": ["x"]},
        {"l": ["x", "y"]},
    ),
    "https://json-schema.org/draft/2020-12/schema": (
        {"properties": {"l": {"prefixItems": [{"type": "string"}], "items": False}}},
        {"l": ["x"]},
        {"l": ["x", "y"]},
    ),
}


@pytest.mark.parametrize("draft", DRAFTS)
def test_each_draft_is_read_as_it_reads_itself(tmp_path: Path, draft: str) -> None:
    rules, fits, fails = DRAFTS[draft]
    found = accepted(judge_disk(tmp_path, files({"$schema": draft, "type": "object", **rules}))[MANIFEST])
    assert not found.input.check(fits)
    assert found.input.check(fails)


def test_an_input_schema_without_room_for_an_object_is_refused(tmp_path: Path) -> None:
    found = only(judge_disk(tmp_path, files({"type": "string"}))[MANIFEST])
    assert (found.code, found.reason, found.primary and found.primary.line) == ("EVA-309", Reason.SCHEMA_INVALID, 1)


def test_a_result_need_be_no_object(tmp_path: Path) -> None:
    made = {**NOTES, "schemas/notes.output.json": '{"type": "string"}'}
    accepted(judge_disk(tmp_path, made)[MANIFEST])
