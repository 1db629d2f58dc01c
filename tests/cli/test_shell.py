"""``eva`` as a shell meets it: pipes, completion, help."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.cli.fake import Eva
from tests.console.terminal import Terminal
from tests.support.programs import EVA
from tests.support.workspaces import GREETER, write


def shell(*words: str, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*EVA, *words], text=True, capture_output=True, check=False, **options)


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


def test_the_script_completes_words_and_options() -> None:
    def completed(*words: str) -> Sequence[str]:
        typed = {
            "COMP_WORDS": " ".join(("eva", *words)),
            "COMP_CWORD": str(len(words)),
            "_EVA_COMPLETE": "bash_complete",
        }
        done = shell(env=os.environ | typed)
        return [line.split(",")[1] for line in done.stdout.splitlines()]

    assert "capability" in completed("cap")
    assert {"drain", "disable"} <= set(completed("capability", "d"))
    assert "--workspace" in completed("capability", "list", "--w")


COMPLETED = {
    "eva capability dr": "drain",
    "eva capability drain --if": "--if-generation",
    "eva capability inspect ": "greet",
    "eva capability call te": "text.greet",
    "eva -w nowhere capability inspect ": "",
}
SHELLS = {
    "bash": """
eval "$(eva completion bash)"
for line; do COMPREPLY=()
    COMP_WORDS=($line); case $line in *" ") COMP_WORDS+=("");; esac
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _eva_completion eva; echo "${COMPREPLY[*]}"
done
""",
    "fish": "eva completion fish | source; for line in $argv; echo (complete -C $line | cut -f1); end",
}


@pytest.fixture
def place(tmp_path: Path) -> dict[str, str]:
    """The environment of a shell that has ``eva``, for the workspace ``ws``."""
    write(tmp_path / "ws", GREETER)
    program = tmp_path / "bin/eva"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {shlex.join(EVA)} "$@"\n')
    program.chmod(0o755)
    return os.environ | {"PATH": f"{program.parent}:{os.environ['PATH']}", "PYTHONPATH": os.getcwd()}


@pytest.mark.parametrize("name", SHELLS)
def test_a_shell_completes_words_options_and_what_the_workspace_has(
    tmp_path: Path, place: dict[str, str], name: str
) -> None:
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
        terminal.type(b'autoload -Uz compinit && compinit -u -D && eval "$(eva completion zsh)" && echo REA""DY\r')
        terminal.read_until("READY")
        for typed, completed in (("drain --if", "--if-generation"), ("inspect g", "inspect greet")):
            terminal.type(f"\x15eva capability {typed}\t".encode())
            terminal.read_until(completed)
    finally:
        terminal.close()


@pytest.mark.parametrize(("wants", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)])
def test_a_terminal_gets_colours_unless_it_wants_none(
    place: dict[str, str], tmp_path: Path, wants: dict[str, str], coloured: bool
) -> None:
    terminal = Terminal(*EVA[1:], "-w", str(tmp_path / "ws"), "capability", "list", env={"NO_COLOR": "", **wants})
    try:
        terminal.read_until("greet")
        assert terminal.wait() == 0
        assert (re.search(rb"\x1b\[[0-9;]*3[0-9]", terminal.drawn) is not None) is coloured
    finally:
        terminal.close()


def test_help_and_version_are_answers() -> None:
    assert "Usage: eva [OPTIONS] COMMAND" in shell("--help").stdout
    version = shell("--version")
    assert (version.returncode, version.stdout.split()[0]) == (0, "eva,")


def test_what_is_not_utf8_on_the_line_is_shown_and_does_no_harm() -> None:
    done = subprocess.run([*EVA, b"\xff\x1b[2J", "-o", "json"], capture_output=True, check=False)
    assert done.returncode == 64
    assert b"\x1b" not in done.stdout
    assert done.stderr == b""


def test_a_locale_without_the_glyphs_gets_question_marks_and_no_traceback(tmp_path: Path) -> None:
    (tmp_path / "capabilities").mkdir()
    done = shell("status", cwd=tmp_path, env=os.environ | {"PYTHONIOENCODING": "ascii"})
    assert (done.returncode, done.stderr) == (0, "")
    assert "? Active" in done.stdout


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no full device here")
@pytest.mark.parametrize("output", ["text", "json"])
def test_a_full_disk_under_stdout_is_one_line(output: str) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [*EVA, "explain", "EVA-204", "-o", output], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert (done.returncode, done.stderr) == (1, "error: the answer cannot be written: No space left on device\n")


def test_closed_streams_swallow() -> None:
    closed = 'exec "$0" -c "from evatui.cli.main import main; main()" "$@" >&- 2>&-'
    assert subprocess.run(["sh", "-c", closed, sys.executable, "explain", "EVA-204"], check=False).returncode == 0
    assert subprocess.run(["sh", "-c", closed, sys.executable, "nonsense"], check=False).returncode == 64


def test_a_current_folder_that_is_gone_is_said_so(tmp_path: Path) -> None:
    (tmp_path / "gone").mkdir()
    gone = 'cd "$1" && rmdir "$1" && exec "$0" -P -c "from evatui.cli.main import main; main()" status'
    words = ["sh", "-c", gone, sys.executable, str(tmp_path / "gone")]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: the current folder is gone\n")


@pytest.mark.parametrize("words", [["init", ""], ["status", "-w", ""], ["status", "--state-dir", ""]])
def test_an_empty_name_is_not_the_folder_one_is_in(tmp_path: Path, words: list[str]) -> None:
    assert shell(*words, cwd=tmp_path).returncode == 64
    assert not list(tmp_path.iterdir())


def test_a_time_to_wait_that_is_no_number_is_refused(tmp_path: Path) -> None:
    (tmp_path / "capabilities").mkdir()
    assert shell("serve", "--idle-exit", "nan", cwd=tmp_path, timeout=100).returncode == 64
