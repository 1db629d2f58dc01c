"""What the README and the pages show of the console, of what serves, and of ``make``, is run too."""

from __future__ import annotations

import contextlib
import importlib.util
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from evatui.cli.main import run
from evatui.cli.table import TABLE
from evatui.cli.table import shown as shown_as
from evatui.control.bundle import init_workspace
from tests.cli.real import holding
from tests.console.terminal import Terminal
from tests.docs.shown import ROOT, SERVING, shown, spellings
from tests.support.programs import EVA

HEADLESS = {"evatui --demo --pace 0": "tests/demo/test_tour.py"}
STANDS_FOR = {"S": "30", "PORT": "0", "9464": "0", "HOST:PORT": "127.0.0.1:0", "PATTERN": "/capability/**", "N": "5"}
DRY = {"pytest": ("--collect-only", "-qq"), "tests.bench": ("--help",)}
"""What takes long is asked what it would do: both look at all that they are given first."""
ELSEWHERE = {"evatui.demo.pictures", "tests.mcp.conformance", "tests.adapters.conformance"}
"""The first is run by ``tests/demo``; the others want a harness from the npm registry."""
THIS_RUN = "make test"


def lines(*programs: str) -> list[str]:
    found = (line for one in shown() if one.program in programs for line in spellings(one.line))
    return sorted({line.removeprefix(".venv/bin/") for line in found})


def serving() -> list[str]:
    """Also of the page of commands, where every one is an example of the table."""
    examples = (shown_as(example) for line in TABLE.values() for example in line.examples)
    return [line for line in sorted({*lines("eva"), *examples}) if SERVING.match(line)]


def test_programs_are_found() -> None:
    assert {"evatui --demo", "make run", "python -m pytest tests/cli -q"} <= set(lines("evatui", "make", "python"))
    assert {
        "eva serve",
        "eva mcp serve --stdio",
        "eva serve --metrics HOST:PORT",
        "eva audit tail --follow -o json",
    } <= set(serving())
    assert set(HEADLESS) <= set(lines("evatui"))


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    init_workspace(tmp_path / "ws")
    (tmp_path / "ws/eva.yaml").write_text("mcp_server: {bind: '127.0.0.1:0'}\n")
    monkeypatch.setenv("EVA_TRUST", "1")
    return tmp_path / "ws"


@pytest.fixture
def terminals() -> Iterator[list[Terminal]]:
    opened: list[Terminal] = []
    yield opened
    for terminal in opened:
        terminal.close()


@pytest.mark.parametrize("line", [line for line in lines("evatui") if line not in HEADLESS])
def test_the_console_opens_as_it_is_shown(line: str, workspace: Path, terminals: list[Terminal]) -> None:
    words = [word for word in line.split()[1:] if word != "DIR"]
    with holding(workspace) if "--attach" in words else contextlib.nullcontext():
        terminal = Terminal("-m", "evatui", *words, *([] if "--demo" in words else [str(workspace)]))
        terminals.append(terminal)
        terminal.read_until("topic-normalize")
        terminal.signal(signal.SIGTERM)
        assert terminal.wait() == 128 + signal.SIGTERM


@pytest.mark.parametrize("line", serving())
def test_what_serves_does_so_until_it_is_ended(line: str, workspace: Path) -> None:
    words = [STANDS_FOR.get(word, word) for word in shlex.split(line)[1:]]
    beside = words[0] != "serve"
    with holding(workspace) if beside else contextlib.nullcontext():
        if beside:  # something was said to the scale, and is on record
            assert run(["-w", str(workspace), "capability", "call", "scale.report"]) == 0
        command = [*EVA, "-w", str(workspace), *words]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        with subprocess.Popen(command, text=True, **pipes) as program:  # type: ignore[call-overload]
            if "--stdio" in words:  # a client that is gone again; tests/mcp has those that stay
                assert program.communicate(timeout=100) == ("", None)
                assert program.returncode == 0
                return
            assert program.stdout.readline()  # that it serves, or what was until now
            program.terminate()
            program.communicate(timeout=100)
            assert program.returncode in (0, -signal.SIGTERM)


@pytest.mark.parametrize("line", [line for line in lines("make") if line != THIS_RUN])
def test_what_make_would_do_is_there(line: str) -> None:
    """``make run`` is run as well: ``tests/test_make_run.py``."""
    said = subprocess.run(["make", "-n", *line.split()[1:]], cwd=ROOT, capture_output=True, text=True, check=True)
    for recipe in said.stdout.splitlines():
        if " -m " in recipe:
            can_be_asked(recipe.partition(" -m ")[2])


@pytest.mark.parametrize("line", lines("python"))
def test_modules_take_what_they_are_given(line: str) -> None:
    can_be_asked(line.partition(" -m ")[2])


def can_be_asked(said: str) -> None:
    module, *words = shlex.split(said)
    if module in ELSEWHERE:
        assert importlib.util.find_spec(module) is not None
        return
    done = subprocess.run(
        [sys.executable, "-m", module, *words, *DRY[module]], cwd=ROOT, capture_output=True, text=True, timeout=100
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("line", lines("ruff", "mypy"))
def test_tools_take_what_they_are_given(line: str) -> None:
    program, *words = line.split()
    subprocess.run([Path(sys.executable).with_name(program), *words, "--help"], check=True, stdout=subprocess.DEVNULL)


@pytest.mark.parametrize(("line", "file"), HEADLESS.items())
def test_what_is_run_elsewhere_is_run_there(line: str, file: str) -> None:
    written = (ROOT / file).read_text(encoding="utf-8")
    assert ", ".join(f'"{word}"' for word in line.split()[1:]) in written
