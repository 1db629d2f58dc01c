"""A call that reports how far it is, at a terminal and without one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from evatui.cli.options import Settings
from evatui.cli.progress import progress_line
from evatui.cli.session import connect
from evatui.kernel.model.progress import Progress
from tests.cli.test_blackbox import EVA, served, workspace
from tests.console.terminal import Terminal
from tests.support.workspaces import tool, write

__all__ = ["served", "workspace"]

SLOW = """
function invoke(ctx, request)
  for done = 1, 2 do
    ctx.host.progress{done = done, total = 2, message = "part " .. done .. "\\27[31m"}
    local enough = os.clock() + 0.6 / done ^ 2
    while os.clock() < enough do end
  end
  return {ok = true, result = "all of it"}
end
"""
CALL = ("capability", "call", "test.slow")


@pytest.fixture
def slow(workspace: Path) -> Path:
    write(workspace, tool("slow", SLOW))
    return workspace


@contextmanager
def at_terminal(*words: str, cwd: Path) -> Iterator[Terminal]:
    terminal = Terminal(*EVA[1:], "-w", str(cwd), *words, size=(60, 24))
    try:
        yield terminal
    finally:
        terminal.close()


def test_a_person_sees_one_line_that_goes_again(slow: Path) -> None:
    with at_terminal(*CALL, cwd=slow) as terminal:
        terminal.read_until("test.slow  50 %  1 of 2  part 1␛[31m")
        assert terminal.wait() == 0
        drawn = terminal.drawn.decode()
    before, _, after = drawn.rpartition("\r" + " " * 59 + "\r")
    assert "part" in before
    assert "\n" not in before
    assert all(len(piece) <= 59 for piece in before.split("\r"))
    assert after.startswith('"all of it"')


def test_the_runtime_that_holds_the_workspace_tells_it_too(slow: Path, served: object) -> None:
    with at_terminal(*CALL, cwd=slow) as terminal:
        terminal.read_until("test.slow  50 %  1 of 2  part 1")
        assert terminal.wait() == 0


@pytest.fixture
def settings() -> Settings:
    return Settings(connect)


def test_where_nobody_watches_nothing_is_shown(settings: Settings) -> None:
    with progress_line(settings, "a") as told:
        assert told is None


def test_at_a_terminal_that_wants_json_nothing_is_shown(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    master, slave = os.openpty()
    with open(slave, "w", encoding="utf-8") as stream, open(master, "rb", buffering=0) as other_end:
        monkeypatch.setattr("sys.stderr", stream)
        with progress_line(settings, "a") as told:
            assert told is not None
            told(Progress(1, message="wide 文字 " * 40))
        assert len(other_end.read(1000).decode()) < 200
        settings.output = "json"
        with progress_line(settings, "a") as told:
            assert told is None
