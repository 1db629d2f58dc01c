"""What ``eva capability call`` says of a handler that wants out, where the policy or the person does not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evatui.cli.main import run
from tests.support.workspaces import tool, write

ASK = """
function invoke(ctx, request)
  return {ok = true, result = ctx.host[request.payload.fn](request.payload.argument)}
end
"""
ASKS = "{network: {hosts: [api.example.org]}, shell: {commands: [[git, status]]}}"
POLICY = "capabilities/policies/default.yaml"
GRANTS = """\
version: 1
grants:
  - match: {ids: [ask]}
    network: {hosts: [api.example.org]}
    shell: {commands: [[git, status]]}
"""


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("EVA_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.delenv("EVA_TRUST", raising=False)
    write(tmp_path / "ws", {**tool("ask", ASK, permissions=ASKS), "eva.yaml": "version: 1\n"})
    return tmp_path / "ws"


def refused(workspace: Path, capsys: pytest.CaptureFixture[str], fn: str, **argument: Any) -> dict[str, Any]:
    payload = json.dumps({"fn": fn, "argument": argument})
    assert run(["-w", str(workspace), "-o", "json", "capability", "call", "test.ask", "--payload", payload]) != 0
    error: dict[str, Any] = json.loads(capsys.readouterr().out)["error"]
    return error


def test_without_a_policy_the_capability_is_refused_with_the_entry(
    workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = refused(workspace, capsys, "spawn_process", argv=["git", "status"])["message"]
    assert 'permissions.network.hosts asks for "api.example.org", the policy grants nothing here' in said


def test_what_nobody_granted_is_denied_with_the_permission(workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(workspace, tool("ask", ASK))
    error = refused(workspace, capsys, "http_request", url="https://api.example.org/")
    assert error["kind"] == "PolicyDenied"
    assert error["message"] == "api.example.org is not granted: network.hosts does not cover it"
    error = refused(workspace, capsys, "spawn_process", argv=["git", "status"])
    assert error["kind"] == "PolicyDenied"
    assert "shell.commands does not cover it" in error["message"]


def test_what_is_granted_waits_for_trust(
    workspace: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write(workspace, {POLICY: GRANTS})
    said = refused(workspace, capsys, "spawn_process", argv=["git", "status"])["message"]
    assert "the workspace is not trusted with that yet" in said
    monkeypatch.setenv("EVA_TRUST", "1")
    error = refused(workspace, capsys, "spawn_process", argv=["git", "log"])
    assert (error["kind"], "shell.commands does not cover it" in error["message"]) == ("PolicyDenied", True)
