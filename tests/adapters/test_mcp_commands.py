"""``eva mcp list | probe | approve``, from an empty workspace to a call."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evatui.cli.main import run
from tests.adapters.mcp_ground import ADD, mcp, serving_tools, tool
from tests.support.workspaces import write

Eva = Callable[..., tuple[int, Any]]


@pytest.fixture
def eva(workspace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Eva:
    monkeypatch.setenv("EVA_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.setenv("EVA_TRUST", "1")

    def eva(*words: str) -> tuple[int, Any]:
        code = run([*words, "-w", str(workspace), "-o", "json"])
        return code, json.loads(capsys.readouterr().out)

    return eva


def test_from_a_server_that_nobody_knows_to_a_call(eva: Eva, workspace: Path, tmp_path: Path) -> None:
    write(workspace, mcp(tmp_path, serving_tools(ADD, tool("drop")), "tools: [add]"))
    call = ("capability", "call", "mcp.tool.call", "--provider", "srv", "--payload")
    payload = json.dumps({"tool": "srv__add", "arguments": {"a": 2, "b": 3}})
    code, answer = eva("mcp", "list")
    assert (code, [(one["server"], one["state"]) for one in answer["data"]["servers"]]) == (0, [("srv", "idle")])
    code, answer = eva("mcp", "probe", "srv")
    assert (code, answer["data"]["state"]) == (0, "up")
    assert [(one["shown"], one["state"]) for one in answer["data"]["tools"]] == [
        ("srv__add", "new"),
        ("srv__drop", "hidden"),
    ]
    assert eva("mcp", "approve", "srv", "--digest", "0" * 64)[0] == 2
    code, answer = eva("mcp", "approve", "srv", "--digest", answer["data"]["digest"])
    assert (code, answer["data"]["approved"]) == (0, ["srv__add"])
    code, answer = eva(*call, payload)
    assert (code, answer["data"]["response"]["result"]["content"][0]["text"]) == (0, "5")
    code, answer = eva("mcp", "approve", "srv", "--revoke")
    assert (code, answer["data"]["revoked"]) == (0, ["add"])


def test_the_list_reads_well(workspace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], eva: Eva) -> None:
    write(workspace, mcp(tmp_path, serving_tools(ADD, tool("shell"))))
    assert run(["mcp", "probe", "srv", "-w", str(workspace)]) == 0
    out = capsys.readouterr().out
    assert "srv  up" in out
    assert "◌ srv__add  new  nobody has approved it" in out
    assert "✗ srv__shell  skipped  its name is that of a tool of one's own" in out
    assert "1 wait: eva mcp approve srv --digest " in out
