"""``config.validate_project``: what is wrong in a project, with file and line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.bundled.harness import Serving

MANIFEST = """\
id: greet
kind: lua_tool
version: 1.0.0
capabilities: [text.greet]
lua:
  script: capabilities/tools/greet.lua
  entry: invoke
  modules: {words: capabilities/modules/words.lua}
input_schema: schemas/greet.input.json
output_schema: schemas/greet.output.json
"""
CLOSED = {"type": "object", "additionalProperties": False}
PROJECT = {
    "eva.yaml": "version: 1\n",
    "capabilities/greet.yaml": MANIFEST,
    "capabilities/tools/greet.lua": 'local words = require("words")\nfunction invoke() end\n',
    "capabilities/modules/words.lua": "return {}\n",
    "capabilities/policies/default.yaml": "not: [a manifest\n",
    "schemas/greet.input.json": json.dumps(CLOSED),
    "schemas/greet.output.json": json.dumps(CLOSED),
}


Check = Callable[..., dict[str, Any]]
Found = Callable[..., list[tuple[str, int | None, str, str]]]


def write(folder: Path, files: dict[str, str | None]) -> None:
    for name, text in files.items():
        if text is not None:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)


@pytest.fixture
def check(folder: Path, look: Callable[..., dict[str, Any]]) -> Check:
    """Writes the project, with files replaced, added, or left out where the text is None; the result of the tool."""

    def check(changes: dict[str, str | None] | None = None, **payload: str) -> dict[str, Any]:
        write(folder, {**PROJECT, **(changes or {})})
        return look("config.validate_project", **payload)

    return check


@pytest.fixture
def found(check: Check) -> Found:
    """The place, severity and code of each finding."""

    def found(changes: dict[str, str | None] | None = None) -> list[tuple[str, int | None, str, str]]:
        return [(f["path"], f.get("line"), f["severity"], f["code"]) for f in check(changes)["findings"]]

    return found


def test_a_sound_project_has_no_findings(check: Check) -> None:
    result = check()
    assert result["findings"] == []
    assert result["valid"] is True
    assert result["checked"] == {"manifests": 1, "scripts": 1, "json_files": 2}
    assert result["summary"] == "nothing to say about 1 manifest, 1 script and 2 JSON files"


@pytest.mark.parametrize(
    ("name", "text", "finding"),
    [
        ("capabilities/greet.yaml", MANIFEST + "inputs: x\n", (11, "error", "key_unknown")),
        ("capabilities/greet.yaml", MANIFEST + "id: other\n", (11, "error", "yaml_duplicate_key")),
        ("capabilities/greet.yaml", MANIFEST + "limits:\n\ttimeout_ms: 1\n", (12, "error", "yaml_tab")),
        ("capabilities/greet.yaml", MANIFEST.replace("version: 1.0.0\n", ""), (1, "error", "key_missing")),
        ("capabilities/greet.yaml", MANIFEST.replace("[text.greet]", "[]"), (1, "error", "key_missing")),
        ("capabilities/greet.yaml", MANIFEST.replace("entry: invoke", "entry: run"), (7, "error", "function_missing")),
        (
            "capabilities/tools/greet.lua",
            "-- invoke\nlocal a = require 'more'\nrequire 'words'\n",
            (2, "error", "module_undeclared"),
        ),
        ("capabilities/modules/words.lua", "\nrequire('more')\n", (2, "error", "module_undeclared")),
        ("capabilities/tools/spare.lua", "", (None, "info", "script_unused")),
        ("capabilities/examples/gone/one.yaml", "name: x\n", (None, "warning", "examples_orphaned")),
        ("schemas/greet.input.json", '{"type": "object"}', (None, "warning", "schema_open")),
        ("schemas/greet.output.json", '{"type": "objekt"}', (None, "warning", "schema_type_unknown")),
        (
            "schemas/greet.output.json",
            '{"properties": {"a": {"properties": {}, "required": ["b"]}}}',
            (None, "warning", "schema_required_unknown"),
        ),
        ("schemas/greet.output.json", "[1]", (None, "warning", "schema_not_an_object")),
        ("schemas/old.input.json", "{}", (None, "info", "schema_unused")),
        ("eva.yaml", "version: 1\nwatcher: {}\n", (2, "error", "key_unknown")),
    ],
)
def test_a_mistake_is_found_at_its_place(
    found: Found, name: str, text: str, finding: tuple[int | None, str, str]
) -> None:
    path = "capabilities/examples/gone" if "examples" in name else name
    assert found({name: text}) == [(path, *finding)]


def test_broken_json_is_an_error_with_its_line(found: Found) -> None:
    findings = found({"schemas/greet.output.json": '{\n  "type": object\n}'})
    assert findings == [("schemas/greet.output.json", 2, "error", "json_invalid")]


@pytest.mark.parametrize(
    ("missing", "line"),
    [("capabilities/tools/greet.lua", 6), ("capabilities/modules/words.lua", 8), ("schemas/greet.input.json", 9)],
)
def test_a_reference_to_nothing_is_an_error_at_the_reference(found: Found, missing: str, line: int) -> None:
    findings = [f for f in found({missing: None}) if f[2] == "error"]
    assert findings == [("capabilities/greet.yaml", line, "error", "reference_missing")]


def test_a_reference_out_of_the_workspace_is_an_error(found: Found) -> None:
    manifest = MANIFEST.replace("schemas/greet.output.json", "../greet.output.json")
    findings = found({"capabilities/greet.yaml": manifest})
    assert ("capabilities/greet.yaml", 10, "error", "reference_outside") in findings


def test_two_manifests_with_one_id_are_both_named(check: Check) -> None:
    result = check({"capabilities/more/greet.yaml": MANIFEST.replace("greet\n", "Greet\n", 1)})
    (finding,) = result["findings"]
    assert (finding["code"], finding["path"], finding["line"]) == ("id_duplicate", "capabilities/more/greet.yaml", 1)
    assert "capabilities/greet.yaml" in finding["message"]


def test_only_the_asked_severity_is_listed_but_all_are_counted(check: Check) -> None:
    changes = {"eva.yaml": None, "schemas/greet.input.json": "{}", "schemas/greet.output.json": "{"}
    result = check(changes, severity="error")
    assert [finding["code"] for finding in result["findings"]] == ["json_invalid"]
    assert result["counts"] == {"error": 1, "warning": 1, "info": 1}
    assert result["findings_total"] == 3
    assert result["valid"] is False


def test_a_folder_without_capabilities_is_told(look: Callable[..., dict[str, Any]]) -> None:
    codes = [finding["code"] for finding in look("config.validate_project")["findings"]]
    assert codes == ["manifests_absent", "settings_absent"]


def test_the_config_layout_is_known(folder: Path, look: Callable[..., dict[str, Any]]) -> None:
    places = {"capabilities/tools/": "config/tools/", "capabilities/modules/": "config/tools/"}
    manifest = MANIFEST
    for old, new in places.items():
        manifest = manifest.replace(old, new)
    sound: dict[str, str | None] = {
        "config/eva.yaml": "version: 1\n",
        "config/capabilities/greet.yaml": manifest,
        "config/tools/greet.lua": PROJECT["capabilities/tools/greet.lua"],
        "config/tools/words.lua": PROJECT["capabilities/modules/words.lua"],
        "schemas/greet.input.json": PROJECT["schemas/greet.input.json"],
        "schemas/greet.output.json": PROJECT["schemas/greet.output.json"],
    }
    write(folder, sound)
    assert look("config.validate_project")["findings"] == []
    write(folder, {"config/tools/spare.lua": "", "config/eva.yaml": "watcher: {}\n"})
    findings = look("config.validate_project")["findings"]
    assert [finding["path"] for finding in findings] == ["config/eva.yaml", "config/tools/spare.lua"]


def test_the_bundled_workspace_is_sound(bundled: Serving) -> None:
    result = bundled.call("config.validate_project", {"severity": "warning"})["result"]
    assert result["findings"] == []
    assert result["complete"] is True


@pytest.mark.parametrize(
    "text",
    [
        "capabilities: # names\n- text.greet\n- 'more.words'\n",
        "capabilities:\n  - text.greet\n",
        'capabilities: ["text.greet",\n  more.words] # two\n',
    ],
)
def test_lists_are_read_in_every_spelling(found: Found, text: str) -> None:
    manifest = MANIFEST.replace("capabilities: [text.greet]\n", text)
    assert found({"capabilities/greet.yaml": manifest}) == []


def test_block_texts_and_quotes_are_no_keys(found: Found) -> None:
    more = [
        "description: |",
        "  wrong: here",
        "  id: here",
        """name: "it's: a # name\"""",
        "permissions: {fs: {read: [workspace]}}",
    ]
    assert found({"capabilities/greet.yaml": MANIFEST + "\n".join(more)}) == []
