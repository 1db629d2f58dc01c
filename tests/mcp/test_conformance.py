"""The pack of the public harness, where that harness itself is too long for every run."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from evatui.cli.main import run
from tests.cli.real import Eva
from tests.mcp.conformance.__main__ import main, pack
from tests.support.workspaces import write


def test_every_tool_of_the_pack_is_seen(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path, pack())
    found = Eva(tmp_path, capsys).data("mcp", "list")["server"]
    manifests = {path.stem for path in (tmp_path / "capabilities").glob("*.yaml")}
    assert {tool["name"] for tool in found["tools"]} == manifests
    assert run(["-w", str(tmp_path), "capability", "explain-rejected"]) == 0


def test_without_node_it_is_skipped_with_a_notice(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert main() == 0
    assert "skipped: the conformance harness needs Node" in capsys.readouterr().err
