"""``eva`` as a shell meets it: pipes, completion, help, and streams that are not what one expects."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.shell_completion import BashComplete

from evatui.cli.early import at_work, until_at_work
from evatui.cli.main import main, run
from evatui.cli.options import Member, Settings, Words
from evatui.cli.streams import prepare_streams
from evatui.cli.words import eva as words_of_eva
from tests.cli.fake import CAPABILITIES, Eva, FakeOperator
from tests.cli.stream import Stream
from tests.console.terminal import Terminal
from tests.support.programs import EVA
from tests.support.workspaces import GREETER, write


def test_a_reader_that_goes_away_is_no_error() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(
            [*EVA, "completion", "fish"], stdout=writing, stderr=subprocess.PIPE, text=True, check=False
        )
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("name", ["bash", "zsh", "fish"])
def test_a_shell_gets_its_completion_script(eva: Eva, name: str) -> None:
    said = eva("completion", name, "-o", "json")
    assert said.json["data"]["shell"] == name
    assert "_EVA_COMPLETE" in said.json["data"]["script"]
    assert eva("completion", name).out.strip() == said.json["data"]["script"].strip()


def test_words_options_and_what_the_workspace_has_are_completed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, GREETER)
    monkeypatch.chdir(tmp_path)

    def completed(line: str) -> set[str]:
        *typed, begun = line.split(" ")
        asked = BashComplete(words_of_eva, {"obj": Settings()}, "eva", "_EVA_COMPLETE")
        return {found.value for found in asked.get_completions(typed, begun)}

    assert "capability" in completed("cap")
    assert {"drain", "disable", "diff"} == completed("capability d")
    assert "--workspace" in completed("capability list --w")
    assert completed("capability drain --if") == {"--if-generation"}
    assert completed("capability inspect ") == {"greet"}
    assert completed("capability call te") == {"text.greet"}
    assert completed("-w nowhere capability inspect ") == set()


def test_a_word_is_offered_without_importing_what_it_does() -> None:
    words = Words("eva", members={"far": Member("no.such.module:far", "What it is.")})
    (found,) = BashComplete(words, {}, "eva", "_EVA_COMPLETE").get_completions([], "f")
    assert (found.value, found.help) == ("far", "What it is.")


COMPLETED = {"eva capability drain --if": "--if-generation", "eva capability inspect ": "greet"}
SHELLS = {
    "bash": """
. ./eva.bash
for line; do COMPREPLY=()
    COMP_WORDS=($line); case $line in *" ") COMP_WORDS+=("");; esac
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _eva_completion eva; echo "${COMPREPLY[*]}"
done
""",
    "fish": "source ./eva.fish; for line in $argv; echo (complete -C $line | cut -f1); end",
}


@pytest.fixture
def place(tmp_path: Path, eva: Eva) -> dict[str, str]:
    """The environment of a shell that has ``eva``, for the workspace ``ws``, in which the completion scripts lie."""
    write(tmp_path / "ws", {**GREETER, **{f"eva.{name}": eva("completion", name).out for name in (*SHELLS, "zsh")}})
    program = tmp_path / "bin/eva"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {shlex.join(EVA)} "$@"\n')
    program.chmod(0o755)
    return os.environ | {"PATH": f"{program.parent}:{os.environ['PATH']}", "PYTHONPATH": os.getcwd()}


@pytest.mark.parametrize("name", SHELLS)
def test_a_shell_completes_options_and_what_the_workspace_has(tmp_path: Path, place: dict[str, str], name: str) -> None:
    if shutil.which(name) is None:
        pytest.skip(f"no {name} here")
    words = [name, "-c", SHELLS[name], *(["bash"] if name == "bash" else []), *COMPLETED]
    done = subprocess.run(words, cwd=tmp_path / "ws", env=place, capture_output=True, text=True, check=True)
    assert dict(zip(COMPLETED, done.stdout.split("\n"), strict=False)) == COMPLETED


@pytest.mark.skipif(shutil.which("zsh") is None, reason="no zsh here")
def test_zsh_completes_them_at_a_terminal(tmp_path: Path, place: dict[str, str]) -> None:
    start = f"import os; os.chdir({str(tmp_path / 'ws')!r}); os.execvp('zsh', ['zsh', '-f', '-i'])"
    terminal = Terminal("-c", start, env=place)
    try:
        terminal.type(b'autoload -Uz compinit && compinit -u -D && . ./eva.zsh && echo REA""DY\r')
        terminal.read_until("READY")
        terminal.type(b"\x15eva capability inspect g\t")
        terminal.read_until("inspect greet")
    finally:
        terminal.close()


@pytest.mark.parametrize(
    ("wants", "more", "coloured"),
    [
        ({}, (), True),
        ({}, ("--no-color",), False),
        ({"NO_COLOR": "1"}, (), False),
        ({"NO_COLOR": ""}, (), True),
        ({"TERM": "dumb"}, (), False),
    ],
)
def test_a_terminal_gets_colours_unless_it_wants_none(
    monkeypatch: pytest.MonkeyPatch, wants: dict[str, str], more: tuple[str, ...], coloured: bool
) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "COLORTERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"TERM": "xterm-256color", "COLUMNS": "120", **wants}.items():
        monkeypatch.setenv(name, value)
    stream = Stream(terminal=True)
    monkeypatch.setattr(sys, "stdout", stream)
    assert run(("capability", "list", *more), FakeOperator({"capability.list": CAPABILITIES}).connect) == 0
    assert "topic-normalize" in stream.said
    assert (re.search(r"\x1b\[[0-9;]*3[0-9]", stream.said) is not None) is coloured


def test_help_and_version_are_answers(eva: Eva) -> None:
    assert "Usage: eva [OPTIONS] COMMAND" in eva("--help").out
    version = eva("--version")
    assert (version.code, version.out.split()[0]) == (0, "eva,")


def test_what_is_not_utf8_on_the_line_is_shown_and_does_no_harm(eva: Eva) -> None:
    said = eva(os.fsdecode(b"\xff\x1b[2J"), "-o", "json")
    assert said.code == said.json["exit_code"] == 64
    assert ("\x1b" in said.out, said.err) == (False, "")


def test_a_locale_without_the_glyphs_gets_question_marks_and_no_traceback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "capabilities").mkdir()
    monkeypatch.chdir(tmp_path)
    stream = Stream("ascii")
    monkeypatch.setattr(sys, "stdout", stream)
    prepare_streams()
    assert run(["status"]) == 0
    assert "? Active" in stream.said


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no full device here")
def test_a_full_disk_under_stdout_is_one_line() -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run([*EVA, "explain", "EVA-204"], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "error: the answer cannot be written: No space left on device\n")


@pytest.fixture
def interrupts() -> Iterator[None]:
    """What they do is the same again afterwards."""
    old = signal.getsignal(signal.SIGINT)
    yield
    signal.signal(signal.SIGINT, old)


@pytest.mark.parametrize(("words", "code"), [(("explain", "EVA-204"), 0), (("nonsense",), 64)])
def test_closed_streams_swallow(
    monkeypatch: pytest.MonkeyPatch, interrupts: None, words: tuple[str, ...], code: int
) -> None:
    monkeypatch.setattr(sys, "argv", ["eva", *words])
    for name in ("stdout", "stderr"):  # as the interpreter has it where the descriptor is closed
        monkeypatch.setattr(sys, name, None)
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == code


def test_a_current_folder_that_is_gone_is_said_so(tmp_path: Path, eva: Eva, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    said = eva.real("status")
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith("error: the current folder is gone\n")


@pytest.mark.parametrize("words", [["init", ""], ["status", "-w", ""], ["status", "--state-dir", ""]])
def test_an_empty_name_is_not_the_folder_one_is_in(
    tmp_path: Path, eva: Eva, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert eva.real(*words).code == 64
    assert not list(tmp_path.iterdir())


def test_a_time_to_wait_that_is_no_number_is_refused(eva: Eva) -> None:
    assert eva.real("serve", "--idle-exit", "nan").code == 64


INTERRUPTED = """
import os, signal, sys
class Interrupts:
    def find_spec(self, name, path, target=None):
        if name == sys.argv[-1]:
            sys.argv.pop()
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Interrupts())
from evatui.{door} import main
main()
"""


def interrupted(door: str, *words: str) -> subprocess.CompletedProcess[str]:
    """What comes of an interrupt while the last of the words is imported."""
    program = [sys.executable, "-c", INTERRUPTED.format(door=door), *words]
    return subprocess.run(program, capture_output=True, text=True, check=False)


@pytest.mark.skipif(sys.platform == "win32", reason="no process is interrupted like that")
@pytest.mark.parametrize("module", ["evatui.console.theme", "evatui.console.app"])
def test_an_interrupt_before_the_console_is_imported_is_one_line(module: str, tmp_path: Path) -> None:
    done = interrupted("__main__", "--screenshot", str(tmp_path / "picture.svg"), module)
    assert (done.returncode, done.stdout, done.stderr) == (5, "", "error: interrupted\n")


@pytest.mark.skipif(sys.platform == "win32", reason="no process is interrupted like that")
@pytest.mark.parametrize(("output", "module"), [("json", "click"), ("text", "asyncio")])
def test_an_interrupt_before_all_is_imported_is_one_line_too(output: str, module: str) -> None:
    done = interrupted("cli.main", "explain", "EVA-204", "-o", output, module)
    if output == "json":
        assert json.loads(done.stdout)["error"]["kind"] == "Cancelled"
    assert (done.returncode, done.stderr) == (5, "" if output == "json" else "error: interrupted\n")


@pytest.mark.parametrize("before", [signal.SIG_IGN, signal.default_int_handler])
def test_who_ignores_interrupts_goes_on_ignoring_them(interrupts: None, before: signal.Handlers) -> None:
    signal.signal(signal.SIGINT, before)
    until_at_work()
    assert (signal.getsignal(signal.SIGINT) is before) is (before is signal.SIG_IGN)
    at_work()
    assert signal.getsignal(signal.SIGINT) is before
