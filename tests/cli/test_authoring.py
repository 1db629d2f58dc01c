"""Writing a capability: the scaffold works at once, and the manifest is shown as it is understood."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
import yaml

from evatui.cli.main import run
from tests.cli.real import holding
from tests.support.workspaces import write


class Said:
    def __init__(self, code: int, text: str) -> None:
        self.code = code
        self.json: dict[str, Any] = json.loads(text)
        self.data: dict[str, Any] = self.json["data"]


@pytest.fixture
def eva(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
    monkeypatch.chdir(tmp_path)

    def ask(*words: str) -> Said:
        code = run([*words, "-o", "json"])
        return Said(code, capsys.readouterr().out)

    return ask


KINDS = {"lua_tool": "my.tool", "lua_skill": "my.skill", "lua_mcp_handler": "my.handler"}


@pytest.mark.parametrize(("kind", "name"), KINDS.items())
@pytest.mark.parametrize("settings", ["eva.yaml", "config/eva.yaml"])
def test_a_new_capability_works_at_once(eva: Any, tmp_path: Path, kind: str, name: str, settings: str) -> None:
    write(tmp_path, {settings: "version: 1\n"})
    made = eva("capability", "new", kind, name.replace(".", "-"))
    assert (made.code, made.data["admitted"], made.data["name"]) == (0, True, name)
    assert all((tmp_path / path).is_file() for path in made.data["files"])
    (row,) = eva("capability", "list").data["capabilities"]
    assert (row["id"], row["state"], row["on_disk"]["status"]) == (name.replace(".", "-"), "Active", "same")
    assert eva("capability", "list").data["problems"] == []
    answer = eva("capability", "call", name, "--payload", '{"name": "Ada"}')
    assert answer.data["response"]["result"] == {"text": "Hello Ada"}


def test_one_that_is_made_beside_a_runtime_can_be_called_by_whoever_types_fast(eva: Any, tmp_path: Path) -> None:
    write(tmp_path, {"eva.yaml": "watch: {polling: true}\n"})  # the slowest way to see new files
    with holding(tmp_path):
        assert eva("capability", "new", "lua_tool", "made-new").code == 0
        assert eva("capability", "call", "made.new", "--payload", '{"name": "Ada"}').code == 0


def test_what_editors_need_lies_beside_it(eva: Any, tmp_path: Path) -> None:
    write(tmp_path, {"eva.yaml": "version: 1\n"})
    made = eva("capability", "new", "lua_tool", "greet")
    manifest = (tmp_path / made.data["manifest"]).read_text()
    path = manifest.split("\n")[0].removeprefix("# yaml-language-server: $schema=")
    schema = json.loads((tmp_path / made.data["manifest"]).parent.joinpath(path).read_text())
    assert jsonschema_rs.validator_for(schema).is_valid(yaml.safe_load(manifest))
    types = (tmp_path / "capabilities/evatui.d.lua").read_text()
    assert "---@class eva.Context" in types
    assert "eva capability call greet" in made.data["next"][0]


def test_nothing_is_ever_overwritten(eva: Any, tmp_path: Path) -> None:
    write(tmp_path, {"eva.yaml": "version: 1\n", "schemas/greet.input.json": "mine"})
    before = sorted(tmp_path.rglob("*"))
    refused = eva("capability", "new", "lua_tool", "greet")
    assert (refused.code, refused.json["error"]["kind"]) == (2, "Conflict")
    assert sorted(tmp_path.rglob("*")) == before


def test_an_id_that_is_taken_in_another_case_is_refused(eva: Any, tmp_path: Path) -> None:
    write(tmp_path, {"eva.yaml": "version: 1\n"})
    assert eva("capability", "new", "lua_tool", "greet").code == 0
    refused = eva("capability", "new", "lua_tool", "Greet")
    assert (refused.code, refused.json["error"]["kind"]) == (2, "Conflict")
    assert eva("capability", "new", "lua_tool", "../x").json["error"]["kind"] == "InvalidInput"


def test_a_policy_that_denies_it_is_told_with_what_to_change(eva: Any, tmp_path: Path) -> None:
    denies = "version: 1\ndeny: {ids: [greet]}\n"
    write(tmp_path, {"eva.yaml": "version: 1\n", "capabilities/policies/default.yaml": denies})
    made = eva("capability", "new", "lua_tool", "greet")
    assert (made.code, made.data["admitted"]) == (0, False)
    assert [found["code"] for found in made.data["diagnostics"]] == ["EVA-413"]
    assert "policy" in made.data["next"][0]


def test_a_rendered_manifest_says_where_each_value_comes_from(eva: Any, tmp_path: Path) -> None:
    write(tmp_path, {"eva.yaml": "version: 1\n"})
    made = eva("capability", "new", "lua_tool", "greet")
    path = tmp_path / made.data["manifest"]
    path.write_text(path.read_text() + "limits:\n  timeout_ms: 012\n")
    data = eva("capability", "render", "greet").data
    origins = {entry["pointer"]: (entry["value"], entry["origin"]) for entry in data["values"]}
    line = path.read_text().split("\n").index("  timeout_ms: 012") + 1
    assert origins["/limits/timeout_ms"] == (12, {"file": made.data["manifest"], "line": line, "column": 3})
    assert origins["/limits/concurrency"] == (4, "default")
    assert data["manifest"]["limits"]["timeout_ms"] == 12
    assert data["problems"] == []


def test_a_refused_manifest_is_rendered_as_far_as_it_is_understood(eva: Any, tmp_path: Path) -> None:
    write(tmp_path, {"eva.yaml": "version: 1\n"})
    path = tmp_path / eva("capability", "new", "lua_tool", "greet").data["manifest"]
    path.write_text(path.read_text() + "priority: high\n")
    data = eva("capability", "render", "greet").data
    assert data["manifest"]["priority"] == 50
    assert [line.split()[0] for line in data["problems"]] == ["EVA-203"]


@pytest.mark.parametrize("name", ["manifest", "adapter", "policy", "eva.yaml"])
def test_each_schema_is_printed(eva: Any, name: str) -> None:
    printed = eva("schema", "print", name)
    assert printed.code == 0
    assert printed.data["schema"]["properties"]
    assert name in [entry["name"] for entry in eva("schema", "print").data["schemas"]]


def test_an_unknown_schema_is_not_found(eva: Any) -> None:
    assert eva("schema", "print", "nothing").code == 2


ADAPTERS = {
    "stdio": "stdio: {command: [cat]}",
    "http": "http: {url: 'https://api.example.org/v1'}",
    "eventbus": "eventbus: {request_topic: /jobs/request, reply_topic: /jobs/reply}",
    "mcp": "mcp: {server: stdio, command: [server], tools: [read], headers: {Authorization: {credential: TOKEN}}}",
}


@pytest.mark.parametrize(("transport", "block"), ADAPTERS.items())
def test_the_adapter_schema_wants_the_block_of_its_transport(eva: Any, transport: str, block: str) -> None:
    check = jsonschema_rs.validator_for(eva("schema", "print", "adapter").data["schema"])
    whole = yaml.safe_load(f"id: files\nversion: 1.0.0\ntransport: {transport}\ncapabilities: [files.read]\n{block}\n")
    assert check.is_valid(whole)
    assert not check.is_valid({**whole, "transport": "skill"})
    assert not check.is_valid({key: value for key, value in whole.items() if key != transport})
