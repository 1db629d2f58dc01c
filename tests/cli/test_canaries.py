"""Secrets that stand where they should not are nowhere in what comes out."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from evatui.cli.main import run
from tests.support.workspaces import GREETER, MANIFEST, write

CANARIES = {
    name: f"canary-{name}-5f1c9e2b7a" for name in ("manifest", "policy", "payload", "env", "flow", "list", "lua")
}

BROKEN = f"""\
id: leaky
kind: lua_tool
version: one
api_key: {CANARIES["manifest"]}
capabilities: [text.leaky]
lua: {{script: capabilities/tools/greet.lua, client_secret: {CANARIES["flow"]}, entry: 12}}
tokens: [
{CANARIES["list"]},
  x]
input_schema: schemas/greet.input.json
output_schema: schemas/greet.output.json
"""
ANNOTATED = (
    MANIFEST.replace("id: greet", "id: tool")
    .replace("kind: lua_tool", "kind: lua_mcp_handler")
    .replace(
        "capabilities: [text.greet]",
        "mcp: {tool_name: tool, annotations:"
        f" {{password: {CANARIES['manifest']}, nested: {{token: {CANARIES['flow']}}}}}}}",
    )
)
POLICY = f"""\
version: 1
password: {CANARIES["policy"]}
mcp_server:
  principals:
    bob: {{token_sha256: "{CANARIES["policy"]}", tools: []}}
"""
LUA = f'local token = "{CANARIES["lua"]}" error("no")\n'
COMMANDS = (  # every second one as JSON, every second one as text
    ("capability", "explain-rejected"),
    ("capability", "explain-rejected"),
    ("capability", "inspect", "tool"),
    ("capability", "inspect", "tool"),
    ("capability", "list"),
    ("capability", "render", "tool"),
    ("capability", "render", "leaky"),
    ("capability", "inspect", "leaky"),
    ("capability", "reload", "--dry-run"),
    ("capability", "call", "text.greet", "--payload", json.dumps({"name": 1, "password": CANARIES["payload"]})),
    ("audit", "tail"),
    ("audit", "verify"),
    ("status",),
    ("doctor",),
)


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GITHUB_TOKEN", CANARIES["env"])
    monkeypatch.setenv("EVA_PASSWORD", CANARIES["env"])
    files = {
        **GREETER,
        "capabilities/leaky.yaml": BROKEN,
        "capabilities/tool.yaml": ANNOTATED,
        "capabilities/policies/default.yaml": POLICY,
        "capabilities/tools/loud.lua": LUA,
        "capabilities/loud.yaml": MANIFEST.replace("id: greet", "id: loud").replace("greet.lua", "loud.lua"),
    }
    write(tmp_path / "ws", files)
    return tmp_path / "ws"


def test_no_output_record_or_state_holds_a_canary(workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for index, words in enumerate(COMMANDS):
        run(["-w", str(workspace), "-o", ("json", "text")[index % 2], *words])
        said = capsys.readouterr()
        assert [name for name, canary in CANARIES.items() if canary in said.out + said.err] == [], words
    kept = [path for path in (workspace / ".eva").rglob("*") if path.is_file()]
    assert kept
    for path in kept:
        data = path.read_bytes()
        assert [name for name, canary in CANARIES.items() if canary.encode() in data] == [], path.name


def test_no_screen_shows_a_canary(workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from evatui.console.main import main

    for view in ("registry", "rejected"):
        picture = tmp_path / f"{view}.svg"
        argv = ["evatui", str(workspace), "--screenshot", str(picture), "--view", view, "--size", "200x80"]
        monkeypatch.setattr(sys, "argv", argv)
        monkeypatch.setattr(sys, "stdin", io.StringIO())
        try:
            main()
        except SystemExit as ended:
            assert not ended.code
        text = picture.read_text(encoding="utf-8").replace("&#160;", " ")
        assert [name for name, canary in CANARIES.items() if canary in text] == [], view
