"""``evatui`` as a program: its options, its exit codes, and what it says without a terminal."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from evatui.__main__ import main
from tests.cli.real import holding
from tests.console.terminal import ALTERNATE_OFF, ROOT, Terminal


def evatui(*arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "evatui", *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=100,
        cwd=ROOT,
        env={**os.environ, **env},
    )


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An own copy of a small workspace; its state lies in it."""
    root = tmp_path_factory.mktemp("space") / "little"
    (root / "capabilities" / "tools").mkdir(parents=True)
    (root / "capabilities" / "echo.yaml").write_text(
        "id: echo\nkind: lua_tool\nversion: 1.0.0\ncapabilities: [echo.text]\n"
        "lua: {script: capabilities/tools/echo.lua}\n"
        "input_schema: {type: object, required: [text], properties: {text: {type: string, default: hello}}}\n"
        "output_schema: {type: object}\n"
    )
    (root / "capabilities" / "tools" / "echo.lua").write_text(
        "function invoke(ctx, request)\n  return {ok = true, result = {said = request.payload.text}}\nend\n"
    )
    return root


def test_without_a_terminal_it_names_what_works_there() -> None:
    ended = evatui()
    assert ended.returncode == 64
    assert ended.stdout == ""
    assert ended.stderr.count("\n") == 1
    assert "eva status" in ended.stderr


@pytest.mark.parametrize("arguments", [("--size", "9x9"), ("--view", "nowhere"), ("--theme", "mauve"), ("--what",)])
def test_wrong_options_are_usage_errors(arguments: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["evatui", "--screenshot", "unused.svg", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 64


def test_a_missing_workspace_is_one_message_and_exit_code_two(tmp_path: Path) -> None:
    ended = evatui(str(tmp_path / "nowhere"), "--screenshot", str(tmp_path / "x.svg"))
    assert ended.returncode == 2
    assert ended.stderr.startswith("error: ")
    assert "Traceback" not in ended.stderr
    assert not (tmp_path / "x.svg").exists()


def test_a_screenshot_shows_the_workspace_whatever_the_shell_prefers(workspace: Path, tmp_path: Path) -> None:
    picture = tmp_path / "registry.svg"
    ended = evatui(str(workspace), "--screenshot", str(picture), "--size", "80x24", NO_COLOR="1", TEXTUAL_THEME="nord")
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "echo" in picture.read_text()
    assert "#14171b" in picture.read_text()


def test_attaching_where_nothing_runs_is_unavailable(workspace: Path, tmp_path: Path) -> None:
    ended = evatui(str(workspace), "--attach", "--screenshot", str(tmp_path / "x.svg"))
    assert ended.returncode == 4
    assert "no runtime holds this workspace" in ended.stderr


@pytest.fixture
def terminal(workspace: Path) -> Iterator[Terminal]:
    terminal = Terminal("-m", "evatui", str(workspace))
    yield terminal
    terminal.close()


def test_a_second_console_names_the_holder_and_leaves_a_plain_terminal(workspace: Path) -> None:
    with holding(workspace):
        second = Terminal("-m", "evatui", str(workspace))
        try:
            second.read_until("Attach?")
            second.read_until(str(os.getpid()))
            second.type(b"\x1b")
            assert second.wait() == 4
            message = second.drawn[second.drawn.rfind(ALTERNATE_OFF) :].decode()
            assert str(os.getpid()) in message
            assert "--attach" in message
        finally:
            second.close()


def test_an_attached_console_sees_the_same_and_ends_nothing(workspace: Path) -> None:
    with holding(workspace) as kernel:
        attached = Terminal("-m", "evatui", str(workspace), "--attach")
        try:
            attached.read_until(f"attached pid {os.getpid()}")
            attached.read_until("echo")
            attached.type(b"q")
            assert attached.wait() == 0
        finally:
            attached.close()
        assert kernel.submit(asyncio.sleep(0)).result() is None


def test_a_tool_is_called_broken_read_about_and_repaired(terminal: Terminal, workspace: Path) -> None:
    script = workspace / "capabilities" / "tools" / "echo.lua"
    sound = script.read_text()
    terminal.read_until("● live")
    assert bytes(terminal.drawn).index(b"loading") < bytes(terminal.drawn).index("● live".encode())
    terminal.type(b"c")
    terminal.read_until("hello")
    terminal.type(b"\x13")
    terminal.read_until("said")
    terminal.type(b"\x1b")
    script.write_text("function invoke(ctx, request)\n  return {ok = \nend\n")
    terminal.read_until("disk refused")
    terminal.type(b"3")
    terminal.read_until("echo.lua:3")
    terminal.read_until("goes on answering")
    script.write_text(f"-- repaired\n{sound}")
    terminal.read_until("Nothing is refused")
    terminal.type(b"q")
    assert terminal.wait() == 0


@pytest.fixture
def editor(tmp_path: Path) -> Path:
    """An editor that notes how it was called, says so, and stays open until a line is typed."""
    script = tmp_path / "nano"
    script.write_text(f'#!/bin/sh\necho "$$ $@" > {tmp_path}/called\necho EDITING\nread line\n')
    script.chmod(0o755)
    return script


def test_the_editor_gets_the_terminal_and_gives_it_back(workspace: Path, editor: Path) -> None:
    terminal = Terminal("-m", "evatui", str(workspace), env={"EDITOR": f"{editor} -w", "VISUAL": ""})
    try:
        terminal.read_until("● live")
        terminal.type(b"e")
        terminal.read_until("EDITING")
        terminal.type(b"done\n")
        terminal.read_until("back from the editor")
        arguments = (editor.parent / "called").read_text().split()[1:]
        assert arguments == ["-w", "+1", str(workspace / "capabilities" / "tools" / "echo.lua")]
        terminal.type(b"q")
        assert terminal.wait() == 0
    finally:
        terminal.close()


def test_an_editor_that_is_not_there_is_said_and_the_console_goes_on(workspace: Path) -> None:
    env = {"EDITOR": "no-such-editor", "VISUAL": ""}
    terminal = Terminal("-m", "evatui", str(workspace), env=env)
    try:
        terminal.read_until("● live")
        terminal.type(b"e")
        terminal.read_until("no-such-editor cannot be started here")
        terminal.type(b"6")
        terminal.read_until("runtime.started")
        terminal.type(b"q")
        assert terminal.wait() == 0
    finally:
        terminal.close()


def test_leaving_ends_an_editor_that_is_open(workspace: Path, editor: Path) -> None:
    terminal = Terminal("-m", "evatui", str(workspace), env={"EDITOR": str(editor), "VISUAL": ""})
    try:
        terminal.read_until("● live")
        terminal.type(b"e")
        terminal.read_until("EDITING")
        child = int((editor.parent / "called").read_text().split()[0])
        terminal.signal(signal.SIGTERM)
        assert terminal.wait() == 128 + signal.SIGTERM
        while _lives(child):  # it was told to end a moment ago
            time.sleep(0.05)
        newest = max((workspace / ".eva" / "audit").glob("*.jsonl"))
        assert "runtime.stopped" in newest.read_text().splitlines()[-1]
    finally:
        terminal.close()


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


_LOUD = """
import functools, os, sys
from pathlib import Path
from tests.console import small_console as program

quiet = program.MarkingOperator.snapshot

async def snapshot(self, since):
    os.write(1, b"a library is chatty"), os.write(2, b"another complains")
    return await quiet(self, since)

program.MarkingOperator.snapshot = snapshot
program.launch = functools.partial(program.launch, strays=Path(sys.argv.pop()))
program.main()
"""


def test_what_is_written_past_the_screen_is_kept_off_it_and_in_a_file(tmp_path: Path) -> None:
    strays = tmp_path / "home" / "strays.txt"
    terminal = Terminal("-c", _LOUD, str(tmp_path / "marks"), "0", "quiet", str(strays))
    try:
        terminal.read_until("repo-summary")
        terminal.signal(signal.SIGTERM)
        assert terminal.wait() == 128 + signal.SIGTERM
        assert b"chatty" not in terminal.drawn
        assert b"complains" not in terminal.drawn
        assert ALTERNATE_OFF in terminal.drawn
        assert "a library is chattyanother complains" in strays.read_text()
    finally:
        terminal.close()


def test_it_is_as_large_as_its_terminal_and_stays_so(tmp_path: Path) -> None:
    once = {"COLUMNS": "80", "LINES": "24"}
    words = (str(tmp_path / "marks"), "0", "quiet", str(tmp_path / "strays"))
    terminal = Terminal("-c", _LOUD, *words, size=(150, 50), env=once)
    try:
        terminal.read_until("\x1b[50;")
        terminal.resize(130, 61)
        terminal.read_until("\x1b[61;")
    finally:
        terminal.close()
