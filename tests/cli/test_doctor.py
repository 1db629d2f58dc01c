"""``eva doctor``: with a runtime, without one, without a workspace, and in each kind of terminal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from evatui.cli.terminal import check_terminal, terminal
from evatui.control.failing import CommandFailed
from evatui.kernel.model.errors import ErrorKind
from tests.cli.fake import Eva

FOUND: dict[str, Any] = {
    "version": "1",
    "platform": {"system": "Linux", "release": "6", "machine": "x"},
    "libraries": {"python": {"version": "3.12", "wanted": ">=3.11"}},
    "checks": [
        {"name": "disk", "ok": False, "detail": "1 MiB free", "fix": "Make room."},
        {"name": "lock", "ok": True, "detail": "nobody", "fix": ""},
    ],
}
GOOD: dict[str, Any] = {
    "attached": True,
    "term": "xterm-256color",
    "colors": "256",
    "columns": 120,
    "rows": 36,
    "encoding": "utf-8",
    "tmux": None,
    "osc52": "unknown",
}
TMUX = {"set_clipboard": "external", "escape_time_ms": 10}


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "capabilities").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_what_failed_is_shown_with_what_to_do(eva: Eva, workspace: Path) -> None:
    said = eva("doctor", doctor=FOUND)
    assert said.code == 0
    assert "✗  disk" in said.out
    assert "disk: Make room." in said.out
    assert "1 of 3 failed" in said.out
    data = eva("doctor", "-o", "json", doctor=FOUND).json["data"]
    assert (data["ok"], data["terminal"]["attached"]) == (False, False)
    assert [check["name"] for check in data["checks"]] == ["disk", "lock", "terminal"]


def test_a_runtime_that_cannot_be_asked_is_one_more_finding(eva: Eva, workspace: Path) -> None:
    failed = CommandFailed(ErrorKind.UNAVAILABLE, "its control socket does not answer", suggestion="look at it")
    data = eva("doctor", "-o", "json", doctor=failed).json["data"]
    (unfit,) = [check for check in data["checks"] if check["name"] == "runtime"]
    assert unfit == {"name": "runtime", "ok": False, "detail": failed.message, "fix": "look at it"}
    assert "disk" in [check["name"] for check in data["checks"]]


def test_settings_that_cannot_be_read_leave_the_machine_to_be_looked_at(eva: Eva, workspace: Path) -> None:
    (workspace / "eva.yaml").write_text("version: [")
    failed = CommandFailed(ErrorKind.INVALID_INPUT, "eva.yaml:1:10: broken")
    said = eva("doctor", "-o", "json", doctor=failed)
    assert said.code == 0
    assert "libraries" in [check["name"] for check in said.json["data"]["checks"]]


def test_without_a_workspace_it_looks_at_the_rest(eva: Eva, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    said = eva("doctor", "-o", "json")
    assert said.code == 0
    assert said.json["data"]["permissions"] is None
    assert eva("doctor", "-w", str(tmp_path / "nowhere")).code == 2


@pytest.mark.parametrize(
    ("change", "fails"),
    [
        ({}, []),
        ({"attached": False, "columns": None, "rows": None}, []),
        ({"columns": 79}, ["terminal size"]),
        ({"rows": 20}, ["terminal size"]),
        ({"encoding": "ascii"}, ["terminal signs"]),
        ({"term": None}, ["terminal type"]),
        ({"term": "dumb"}, ["terminal type"]),
        ({"tmux": TMUX, "osc52": "yes"}, []),
        ({"tmux": {**TMUX, "set_clipboard": "off"}, "osc52": "no"}, ["clipboard"]),
        ({"tmux": {**TMUX, "escape_time_ms": 500}}, ["escape key"]),
        ({"tmux": {"set_clipboard": None, "escape_time_ms": None}}, []),
    ],
)
def test_a_terminal_that_the_console_will_not_like_is_named(change: dict[str, Any], fails: list[str]) -> None:
    checks = check_terminal({**GOOD, **change})
    assert [check.name for check in checks if not check.ok] == fails
    assert all(check.fix for check in checks if not check.ok)


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"TERM": "xterm-kitty"}, "yes"),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "WezTerm"}, "yes"),
        ({"TERM": "xterm-256color"}, "unknown"),
        ({"TERM": "linux"}, "no"),
        ({}, "no"),
    ],
)
def test_what_to_expect_of_the_clipboard(environment: dict[str, str], expected: str) -> None:
    assert terminal(environment)["osc52"] == expected
