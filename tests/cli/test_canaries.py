"""Secrets that stand where they should not are nowhere in what comes out."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from evatui.cli.main import run
from evatui.control.kernel import Kernel
from evatui.control.layouts import layout_of
from evatui.control.opening import operator_home, start_kernel
from evatui.control.snapshot import Cursor
from evatui.kernel.model.call import Actor, CallerType
from tests.support.workspaces import GREETER, MANIFEST, save, tool, write

CANARIES = {
    name: f"canary-{name}-5f1c9e2b7a"
    for name in ("manifest", "policy", "payload", "env", "flow", "list", "lua", "block", "adapter", "told", "key")
}
KNOWN = "ghp_0canary0canary0canary0"
"""Looks like a secret wherever it stands."""

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
password: |
  {CANARIES["block"]}
description: [{KNOWN}]
input_schema: schemas/greet.input.json
output_schema: schemas/greet.output.json
"""
ANNOTATED = (
    MANIFEST.replace("id: greet", "id: tool")
    .replace("kind: lua_tool", "kind: lua_mcp_handler")
    .replace(
        "capabilities: [text.greet]",
        "mcp: {tool_name: tool, annotations:"
        f" {{password: {CANARIES['manifest']}, nested: {{token: {CANARIES['flow']}, note: {KNOWN}}}}}}}",
    )
)
POLICY = """\
version: 1
grants:
  - match: {ids: ["*"]}
    events: {emit: ["*"]}
audit: {log_input: full, log_output: full}
credentials: {MINE: {from: env, hosts: [127.0.0.1], header: Authorization, prefix: "Bearer "}}
"""
BROKEN_POLICY = f"""\
version: 1
password: {CANARIES["policy"]}
mcp_server:
  principals:
    bob: {{token_sha256: "{CANARIES["policy"]}", tools: []}}
"""
ADAPTER = f"""\
id: far
transport: http
http: {{url: "https://example.org", headers: {{Authorization: "Bearer {CANARIES["adapter"]}"}}}}
secret: {CANARIES["adapter"]}
"""
LOUD = f'local token = "{CANARIES["lua"]}" error("no")\n'
TELLING = """\
function invoke(ctx, request)
  ctx.host.log("info", {password = request.payload.password})
  ctx.host.emit_event{topic = "/told", payload = {password = request.payload.password}}
  local told = {token = request.payload.token}
  if request.payload.fails then error({kind = "Conflict", message = "no", details = told}) end
  return {ok = true, result = {}}
end
"""
SAID = {"password": CANARIES["payload"], "token": CANARIES["told"], "list": [{"apiKey": CANARIES["key"]}], "x": KNOWN}
COMMANDS = (
    ("capability", "explain-rejected"),
    ("capability", "explain-rejected", "leaky"),
    ("capability", "explain-rejected", "greet"),
    ("capability", "inspect", "tool"),
    ("capability", "inspect", "leaky"),
    ("capability", "list"),
    ("capability", "history", "greet"),
    ("capability", "render", "tool"),
    ("capability", "render", "leaky"),
    ("capability", "reload", "--dry-run"),
    ("capability", "reload"),
    ("capability", "call", "text.greet", "--payload", json.dumps({"name": 1, **SAID})),
    ("capability", "call", "test.telling", "--payload", json.dumps(SAID)),
    ("capability", "call", "test.telling", "--payload", json.dumps({"fails": True, **SAID})),
    ("capability", "health", "greet"),
    ("trust", "--dry-run"),
    ("audit", "tail", "--limit", "200"),
    ("audit", "verify"),
    ("status",),
    ("doctor",),
)
ANN = Actor(CallerType.USER, "ann")


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("GITHUB_TOKEN", "EVA_PASSWORD", "MINE"):
        monkeypatch.setenv(name, CANARIES["env"])
    files = {
        **GREETER,
        **tool("telling", TELLING, permissions="{events: {emit: [/told]}}", audit="{log_input: full}"),
        "capabilities/leaky.yaml": BROKEN,
        "capabilities/tool.yaml": ANNOTATED,
        "capabilities/policies/default.yaml": POLICY,
        "capabilities/adapters/far.yaml": ADAPTER,
        "capabilities/tools/loud.lua": LOUD,
        "capabilities/loud.yaml": MANIFEST.replace("id: greet", "id: loud").replace("greet.lua", "loud.lua"),
    }
    write(tmp_path / "ws", files)
    return tmp_path / "ws"


@pytest.fixture(params=["no runtime", "over the socket"])
def held(request: pytest.FixtureRequest, workspace: Path) -> Iterator[Kernel | None]:
    kernel = None
    if request.param == "over the socket":
        kernel = start_kernel(layout_of(workspace, None), writes=True, listens=True, home=operator_home())
    yield kernel
    if kernel is not None:
        kernel.stop()


def told(text: str) -> list[str]:
    return [name for name, canary in {**CANARIES, "known": KNOWN}.items() if canary in text]


def break_all(root: Path) -> None:
    """What serves is followed by refused versions of it, and the policy by a broken one."""
    broken = MANIFEST + f"api_key: {CANARIES['manifest']}\nsecrets:\n  - {CANARIES['list']}\n"
    save(root, "capabilities/tools/greet.lua", GREETER["capabilities/tools/greet.lua"] + LOUD)
    save(root, "capabilities/greet.yaml", broken)
    save(root, "capabilities/policies/default.yaml", BROKEN_POLICY)


def test_no_output_record_event_or_state_holds_a_canary(
    workspace: Path, held: Kernel | None, capsys: pytest.CaptureFixture[str]
) -> None:
    ran = 0
    for breaks in (False, True) if held is not None else (True,):  # a runtime for the moment comes to the same, dearly
        if breaks:
            break_all(workspace)
        for index, words in enumerate(COMMANDS):
            ran += run(["-w", str(workspace), "-o", ("json", "text")[(index + breaks) % 2], *words]) == 0
            said = capsys.readouterr()
            assert told(said.out + said.err) == [], words
    assert ran > (len(COMMANDS) if held is not None else len(COMMANDS) // 2)
    if held is not None:
        assert held.desk is not None
        events = held.submit(held.desk.run("events", {"since": 0}, ANN)).result()
        assert "/told" in {event["topic"] for event in events["events"]}
        assert told(str(events) + str(held.desk.snapshot(Cursor()))) == []
        held.stop()
    for path in (workspace / ".eva").rglob("*"):
        if path.is_file() and path.parent.name != "store":  # copies of the workspace's own files, byte for byte
            assert told(path.read_bytes().decode("latin")) == [], path.name
        elif path.is_file():
            assert path.stat().st_mode & 0o077 == 0
    assert any((workspace / ".eva/audit").iterdir())


@pytest.mark.parametrize("text", [f"api_key: {CANARIES['manifest']}\n", f"watch:\n  token: {CANARIES['manifest']}\n"])
def test_broken_settings_do_not_tell_what_stands_there(
    workspace: Path, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    save(workspace, "eva.yaml", text)
    for output in ("json", "text"):
        assert run(["-w", str(workspace), "-o", output, "status"]) == 2
        said = capsys.readouterr()
        assert told(said.out + said.err) == []


def test_no_screen_shows_a_canary(workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from evatui.__main__ import main

    kernel = start_kernel(layout_of(workspace, None), writes=True, listens=False, home=operator_home())
    break_all(workspace)
    assert kernel.desk is not None
    kernel.submit(kernel.desk.run("capability.reload", {}, ANN)).result()
    kernel.submit(kernel.desk.run("capability.call", {"name": "test.telling", "payload": SAID}, ANN)).result()
    kernel.stop()
    for view in ("registry", "rejected", "audit"):
        picture = tmp_path / f"{view}.svg"
        argv = ["evatui", str(workspace), "--screenshot", str(picture), "--view", view, "--size", "200x80"]
        monkeypatch.setattr(sys, "argv", argv)
        monkeypatch.setattr(sys, "stdin", io.StringIO())
        try:
            main()
        except SystemExit as ended:
            assert not ended.code
        text = picture.read_text(encoding="utf-8").replace("&#160;", " ")
        assert told(text) == [], view
        assert len(text) > 10_000
