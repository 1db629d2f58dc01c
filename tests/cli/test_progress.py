"""A call that reports how far it is, at a terminal and without one."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import pytest

from evatui.cli.main import run
from evatui.cli.options import Settings
from evatui.cli.progress import progress_line
from evatui.cli.session import connect
from evatui.control.opening import OpenMode
from evatui.kernel.model.progress import Progress
from tests.cli.fake import CAPABILITIES, FakeOperator
from tests.cli.real import holding
from tests.cli.stream import Stream
from tests.support.waiting import until
from tests.support.workspaces import GREETER, tool, write

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
def slow(tmp_path: Path) -> Path:
    write(tmp_path, {**GREETER, **tool("slow", SLOW)})
    return tmp_path


@pytest.mark.parametrize("holder", [nullcontext, holding], ids=["alone", "held"])
def test_a_person_sees_one_line_that_goes_again(
    slow: Path, monkeypatch: pytest.MonkeyPatch, holder: Callable[[Path], AbstractContextManager[object]]
) -> None:
    out, watched = Stream(terminal=True), Stream(terminal=True)
    monkeypatch.setattr("sys.stdout", out)
    monkeypatch.setattr("sys.stderr", watched)
    with holder(slow):
        assert run(["-w", str(slow), *CALL]) == 0
    before, _, after = watched.said.rpartition("\r" + " " * 79 + "\r")
    assert "test.slow  50 %  1 of 2  part 1␛[31m" in before
    assert "\n" not in before
    assert all(len(piece) <= 79 for piece in before.split("\r"))
    assert "part" not in after
    assert out.said.startswith('"all of it"')


def test_a_person_who_waits_long_sees_for_how_long_and_the_answer_in_its_place(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    watched, out = Stream(terminal=True), Stream()
    monkeypatch.setattr("sys.stderr", watched)
    monkeypatch.setattr("sys.stdout", out)
    monkeypatch.setattr("evatui.cli.progress._PATIENCE_S", 0.01)
    operator = FakeOperator({"capability.list": CAPABILITIES})

    async def slowly(mode: OpenMode, workspace: Path | None, state_dir: Path | None) -> FakeOperator:
        await until(lambda: re.search(r"eva capability list  \d+ s", watched.said))
        return operator

    assert run(["capability", "list"], slowly) == 0
    assert watched.said.endswith("\r" + " " * 79 + "\r")
    assert "topic-normalize" in out.said
    said = watched.said
    assert run(["capability", "list", "-o", "json"], operator.connect) == 0
    assert watched.said == said


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
