"""The JSON Schema documents for editors say what the checks say."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

import evatui
from evatui.kernel.admission.documents import adapter_document, manifest_document, policy_document
from evatui.kernel.workspace.layout import Layout, WorkspaceError, open_layout
from evatui.kernel.workspace.settings import Settings
from tests.admission.harness import MANIFEST, NOTES, POLICY, Candidate, edited, judge
from tests.admission.test_manifest import WRONG
from tests.admission.test_policy import BROKEN

SCHEMAS = Path(evatui.__file__).parent.parent / "schemas"


def document(name: str) -> Any:
    return json.loads((SCHEMAS / f"evatui.{name}.schema.json").read_text())


@pytest.mark.parametrize(
    ("name", "made"), [("manifest", manifest_document), ("adapter", adapter_document), ("policy", policy_document)]
)
def test_the_file_is_what_the_tables_say(name: str, made: Any) -> None:
    assert document(name) == made(), (
        f"write schemas/evatui.{name}.schema.json anew from evatui.kernel.admission.documents"
    )


@pytest.mark.parametrize("name", ["manifest", "policy", "workspace"])
def test_each_document_is_a_valid_schema(name: str) -> None:
    jsonschema.Draft202012Validator.check_schema(document(name))


def test_a_document_accepts_what_is_admitted() -> None:
    jsonschema.validate(yaml.safe_load(NOTES[MANIFEST]), document("manifest"))
    jsonschema.validate(yaml.safe_load(NOTES[POLICY]), document("policy"))


@pytest.mark.parametrize(("old", "new"), [case[:2] for case in WRONG], ids=[case[1][:40] for case in WRONG])
def test_a_document_refuses_almost_all_that_is_refused(old: str, new: str) -> None:
    """What a schema cannot say: which of two values belong together, which differ in case only, where a path leads."""
    beyond = (
        "..",
        "C:/",
        "\\",
        "from: 3, to: 3",
        "runtime_gate: {}",
        "mcp: {tool_name: a}",
        "expose_as",
        "1.02.3",
        "Notes.Find",
    )
    raw = yaml.safe_load(edited(manifest=(old, new))[MANIFEST])
    valid = jsonschema.Draft202012Validator(document("manifest")).is_valid(raw)
    if not any(word in new for word in beyond) and "enabled: yes" not in new:  # the loader here reads YAML 1.1
        assert not valid


@pytest.mark.parametrize("text", [case[0] for case in BROKEN if case[2] != "EVA-401"])
def test_the_policy_document_refuses_a_broken_policy(text: str) -> None:
    valid = jsonschema.Draft202012Validator(document("policy")).is_valid(yaml.safe_load(text))
    assert valid is ("match: {}" in text)


def test_the_workspace_document_has_the_defaults_that_hold(tmp_path: Path) -> None:
    stated = _defaults(document("workspace"))
    defaults = Settings()
    assert stated.pop("version") == 1
    assert stated.pop("roots") == dict(defaults.roots)
    for block, value in (
        ("layout", defaults.folders),
        ("runtime", defaults.runtime),
        ("watch", defaults.watch),
        ("audit", defaults.audit),
        ("mcp_server", defaults.mcp_server),
    ):
        assert json.loads(json.dumps(stated.pop(block))) == json.loads(json.dumps(dataclasses.asdict(value)))
    assert not stated


def _defaults(schema: Any) -> Any:
    if "default" in schema:
        return schema["default"]
    return {name: _defaults(part) for name, part in schema["properties"].items()}


@pytest.mark.parametrize(
    ("text", "fits"),
    [
        ("version: 1\nruntime: {mode: team}\n", True),
        ("watch: {polling: true, debounce_ms: 10}\n", True),
        ("roots: {docs: docs/public}\n", True),
        ("runtime: {mode: tem}\n", False),
        ("runtime: {mod: team}\n", False),
        ("watch: {debounce_ms: 0}\n", False),
        ("mcp_server: {bind: nowhere}\n", False),
        ("layout: {scripts: [/etc]}\n", False),
        ("version: 2\n", False),
    ],
)
def test_the_workspace_document_agrees_with_what_opens(tmp_path: Path, text: str, fits: bool) -> None:
    (tmp_path / "eva.yaml").write_text(text)
    try:
        opened = isinstance(open_layout(tmp_path), Layout)
    except WorkspaceError:
        opened = False
    valid = jsonschema.Draft202012Validator(document("workspace")).is_valid(yaml.safe_load(text))
    assert (opened, valid) == (fits, fits)


def test_the_shortest_manifest_fits_the_document(layout: Layout) -> None:
    text = "id: a\nkind: lua_tool\nversion: 1.0.0\ncapabilities: [a]\nlua: {script: capabilities/tools/notes.lua}\n"
    text += "input_schema: {}\noutput_schema: {}\n"
    assert isinstance(judge({**NOTES, MANIFEST: text}, layout), Candidate)
    jsonschema.validate(yaml.safe_load(text), document("manifest"))
