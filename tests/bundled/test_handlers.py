"""The bundled MCP handlers: what a client hears of a project."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.bundled.harness import Serving

Look = Callable[..., dict[str, Any]]

MANIFEST = """\
id: my-tool
name: My Tool
kind: lua_tool
version: 2.0.1
description: Does it
capabilities: [my.tool, my.other]
lua: {script: capabilities/tools/my.lua}
input_schema: schemas/my.input.json
output_schema: {}
permissions:
  fs: {read: [workspace/docs]}
  events: {emit: [/my/**]}
"""
SCHEMA = (
    '{"type": "object", "properties": {"b": {"type": "string"}, "a": {"type": ["integer", "null"]},'
    ' "word": {"enum": [1], "description": "One of them."}}, "required": ["word"]}'
)


@pytest.fixture
def project(folder: Path) -> Path:
    for name, text in {
        "capabilities/my.yaml": MANIFEST,
        "capabilities/handler.yaml": "id: my-handler\nkind: lua_mcp_handler\nversion: 1.0.0\nenabled: false\n"
        "mcp:\n  tool_name: my.handler\n  description: 'Says: \"hello\"'\n",
        "capabilities/nobody.yaml": "kind: lua_tool\n",
        "capabilities/examples/my-tool/one.yaml": "payload: {}\n",
        "schemas/my.input.json": SCHEMA,
        "README.md": "# The Thing\n\nIt does.\n",
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.mark.parametrize("name", ["my-tool", "my.tool", "my.other"])
def test_a_capability_is_explained_under_each_of_its_names(project: Path, look: Look, name: str) -> None:
    result = look("agent.explain", name=name)
    assert result["agent"] == {
        "id": "my-tool",
        "name": "My Tool",
        "kind": "lua_tool",
        "version": "2.0.1",
        "description": "Does it",
        "capabilities": ["my.tool", "my.other"],
        "enabled": True,
        "manifest": "capabilities/my.yaml",
    }
    assert result["takes"] == [
        {"name": "word", "type": "one of a list", "required": True, "description": "One of them."},
        {"name": "a", "type": "integer or null", "required": False},
        {"name": "b", "type": "string", "required": False},
    ]
    assert result["asks_to"] == ["read files under workspace/docs", "emit events on /my/**"]
    assert result["examples"] == ["capabilities/examples/my-tool/one.yaml"]
    assert "It needs word." in result["explanation"]
    assert "gives" not in result


@pytest.mark.parametrize("name", ["my.handler", "my_handler", "my-handler"])
def test_a_handler_is_found_as_clients_see_it(project: Path, look: Look, name: str) -> None:
    agent = look("agent.explain", name=name)["agent"]
    assert (agent["tool"], agent["enabled"], agent["description"]) == ("my.handler", False, 'Says: "hello"')


def test_without_a_name_all_are_listed(project: Path, look: Look) -> None:
    result = look("agent.explain")
    assert [agent["id"] for agent in result["agents"]] == ["my-handler", "my-tool"]
    assert "agent" not in result


def test_the_workspace_itself_is_explained(bundled: Serving) -> None:
    for name in ("project_summary", "repo.summary"):
        answer = bundled.call("agent.explain", {"name": name})
        assert answer["result"]["agent"]["id"] in ("project-summary", "repo-summary")
        assert answer["result"]["gives"][0]["required"] is True


def test_what_is_not_written_has_its_default(look: Look) -> None:
    result = look("config.inspect")
    assert {one["origin"] for one in result["settings"]} == {"default"}
    assert {"key": "watch.debounce_ms", "value": "50", "origin": "default"} in result["settings"]
    assert {"key": "mcp_server.allowed_hosts", "value": [], "origin": "default"} in result["settings"]
    assert "file" not in result


def test_what_is_written_is_shown_with_its_line(folder: Path, look: Look) -> None:
    text = (
        "version: 1\nwatch:\n  debounce_ms: 20 # quick\nroots: {workspace: ., docs: docs}\nlayout:\n  scripts: [a, b]\n"
    )
    (folder / "eva.yaml").write_text(text)
    found = {one["key"]: one for one in look("config.inspect")["settings"]}
    assert found["watch.debounce_ms"] == {"key": "watch.debounce_ms", "value": "20", "origin": "eva.yaml", "line": 3}
    assert (found["roots.docs"]["value"], found["layout.scripts"]["value"]) == ("docs", ["a", "b"])
    assert found["watch.rescan_s"]["origin"] == "default"
    only = look("config.inspect", key="watch")
    assert [one["key"] for one in only["settings"]] == ["watch.debounce_ms", "watch.rescan_s", "watch.polling"]
    assert only["summary"] == "3 settings, 1 of them written in eva.yaml"


def test_a_file_in_bad_form_is_said_to_be(folder: Path, look: Look) -> None:
    (folder / "eva.yaml").write_text("watch:\n  rescan_s: 3\n  rescan_s: 4\n")
    problems = look("config.inspect")["problems"]
    assert [(one["path"], one["line"]) for one in problems] == [("eva.yaml", 3)]


def test_a_project_is_summed_up(project: Path, look: Look) -> None:
    result = look("project.summary")
    assert result["sources"]["readme"]["heading"] == "The Thing"
    assert result["configuration"]["valid"] is False
    assert [one["id"] for one in result["capabilities"]] == ["my-handler", "my-tool"]
    assert result["missing"] == []
    assert "2 capability files" in result["summary"]


def test_the_bundled_project_is_sound(bundled: Serving) -> None:
    result = bundled.call("project.summary", {})["result"]
    assert result["configuration"] == {
        "summary": result["configuration"]["summary"],
        "valid": True,
        "errors": 0,
        "warnings": 0,
    }
    assert {"repo-summary", "project-summary"} <= {one["id"] for one in result["capabilities"]}
