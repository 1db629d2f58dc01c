"""An MCP handler is for MCP clients alone, unless its manifest says that it may be called as a capability too."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evatui.cli.main import run
from tests.support.workspaces import EVERYTHING, GREETER, tool, write

SCRIPT = "function invoke(ctx, request) return {ok = true, result = {by = request.context.caller.type}} end"
CALLER = """\
function invoke(ctx, request)
  return ctx.host.call_tool({capability = "test.handler", payload = {}})
end
"""


def handler(more: str = "") -> dict[str, str]:
    files = tool("handler", SCRIPT)
    path = "capabilities/handler.yaml"
    kind = "kind: lua_mcp_handler\nmcp: {tool_name: the.handler}"
    return {**files, path: files[path].replace("kind: lua_tool", kind) + more}


def asked(root: Path, capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, dict[str, Any]]:
    code = run(["-w", str(root), "capability", *words, "-o", "json"])
    return code, json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("exposed", [False, True])
def test_a_handler_is_a_capability_only_where_it_is_exposed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], exposed: bool
) -> None:
    adapters = "{adapters: {capabilities: [test.handler], providers: ['*']}}"
    policy = {"capabilities/policies/all.yaml": EVERYTHING}
    flag = "expose_as_capability: true\n" if exposed else ""
    write(tmp_path, {**GREETER, **policy, **tool("caller", CALLER, permissions=adapters), **handler(flag)})
    code, called = asked(tmp_path, capsys, "call", "test.handler")
    assert (code, called["ok"]) == ((0, True) if exposed else (2, False))
    if not exposed:
        assert called["error"]["kind"] == "NotFound"
    _, called = asked(tmp_path, capsys, "call", "test.caller")
    response = called["data"]["response"]
    assert response["ok"] is exposed
    assert (response["result"] == {"by": "capability"}) if exposed else response["error"]["kind"] == "NotFound"


def test_exposing_a_handler_takes_no_name_from_another_without_approval(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mine = {path: text.replace("test.handler", "text.greet") for path, text in handler("priority: 90\n").items()}
    write(tmp_path, {**GREETER, "capabilities/policies/all.yaml": EVERYTHING, **mine})
    assert asked(tmp_path, capsys, "call", "text.greet", "--payload", '{"name": "bob"}')[0] == 0
    write(tmp_path, {"capabilities/handler.yaml": mine["capabilities/handler.yaml"] + "expose_as_capability: true\n"})
    code, told = asked(tmp_path, capsys, "list")
    rows = {row["id"]: row for row in told["data"]["capabilities"]}
    assert rows["handler"]["reason"] == "approval_required"
    assert (code, told["data"]["shadowed"]) == (0, [])
