"""One archive for whoever is to help: complete, honest about what is missing, without secrets."""

from __future__ import annotations

import json
import os
import stat
import tempfile
import zipfile
from pathlib import Path

import pytest

from evatui.cli.main import run
from evatui.control.bundling import write_archive
from evatui.control.layouts import layout_of
from evatui.control.opening import start_kernel
from tests.support.workspaces import GREETER, write

SECRET = "hunter2-hunter2"


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write(tmp_path / "ws", {**GREETER, "eva.yaml": "version: 1\n"})
    monkeypatch.chdir(tmp_path / "ws")
    monkeypatch.setenv("DEPLOY_TOKEN", SECRET)
    return tmp_path / "ws"


def parts(file: Path) -> dict[str, str]:
    with zipfile.ZipFile(file) as archive:
        return {name: archive.read(name).decode() for name in archive.namelist()}


def test_it_holds_everything_and_no_secret(workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    leaky = GREETER["capabilities/greet.yaml"].replace("name: Greeter", f"name: Greeter {SECRET}")
    write(workspace, {"capabilities/greet.yaml": leaky, "capabilities/bad.yaml": "id: bad\nkind: no\n"})
    payload = json.dumps({"name": SECRET})
    assert run(["capability", "call", "text.greet", "--payload", payload]) == 0
    capsys.readouterr()
    file = workspace / "report.zip"
    assert run(["bundle", "report.zip", "-o", "json"]) == 0
    data = json.loads(capsys.readouterr().out)["data"]
    assert data["missing"] == []
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    found = parts(file)
    assert set(found) == set(data["parts"])
    assert "Greeter [redacted]" in found["capabilities.json"]
    assert json.loads(found["status.json"])["counts"]["Active"] == 1
    assert json.loads(found["diagnostics.json"])["rejections"][0]["path"] == "capabilities/bad.yaml"
    assert "call.ok" in {record["code"] for record in json.loads(found["audit.json"])["records"]}
    assert {"checks", "sandbox"} <= set(json.loads(found["doctor.json"]))
    assert {change["id"] for change in json.loads(found["plan.json"])["changes"]} >= {"greet"}
    assert found["console.svg"].startswith("<svg")
    everything = "".join(found.values())
    assert SECRET not in everything
    assert str(workspace) not in everything


def test_where_the_state_and_the_socket_lie_is_nobodys_business(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    state = workspace.parent / ("s" * 120)  # too long for a socket, which lies in the runtime folder then
    with tempfile.TemporaryDirectory(prefix="eva") as short:
        monkeypatch.setenv("XDG_RUNTIME_DIR", short)
        kernel = start_kernel(layout_of(workspace, state), writes=True, listens=True)
        try:
            assert run(["bundle", "report.zip", "--no-picture", "--state-dir", str(state)]) == 0
        finally:
            kernel.stop()
    found = parts(workspace / "report.zip")
    assert json.loads(found["status.json"])["runtime"]["socket"].startswith("<runtime folder>/")
    everything = "".join(found.values())
    assert short not in everything
    assert str(workspace.parent) not in everything


def test_nothing_is_overwritten_and_half_a_file_never_left(workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (workspace / "report.zip").write_text("mine")
    assert run(["bundle", "report.zip", "--no-picture", "-o", "json"]) == 2
    assert json.loads(capsys.readouterr().out)["error"]["kind"] == "Conflict"
    assert (workspace / "report.zip").read_text() == "mine"
    assert run(["bundle", "no/such/folder.zip", "--no-picture"]) == 2
    assert "Traceback" not in capsys.readouterr().err


def test_what_is_broken_off_leaves_no_file(workspace: Path) -> None:
    parts = {"status.json": b"{}"}

    class BrokenOff(dict):
        def items(self):
            yield from parts.items()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_archive(workspace / "report.zip", BrokenOff())
    assert not (workspace / "report.zip").exists()


def test_a_workspace_that_cannot_be_opened_is_what_it_is_for(
    workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(workspace, {"eva.yaml": "version: [\n"})
    assert run(["bundle", "report.zip", "--no-picture"]) == 0
    assert "✗ status.json" in capsys.readouterr().out
    found = parts(workspace / "report.zip")
    assert json.loads(found["status.json"])["error"]["kind"] == "InvalidInput"
    assert json.loads(found["doctor.json"])["checks"]
    assert os.listdir(workspace).count("report.zip") == 1
