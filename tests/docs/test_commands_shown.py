"""What the README and the pages tell people to type works as it stands there."""

from __future__ import annotations

import re
import shlex
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from evatui.cli.main import run
from evatui.cli.table import TABLE
from evatui.control.bundle import init_workspace
from tests.cli.real import holding

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
MADE_FROM_THE_TABLE = {"commands.md"}
"""``tests/cli`` runs every example of it."""
ELSEWHERE = {".venv/bin/evatui --demo": "tests/demo", "make run": "tests/test_wheel.py", "make test": "this very run"}
STANDS_FOR = {"KEY": "sim:1209:e7a1:sim.relay", "NAME": "bench.relay"}
REFUSED = {"eva capability drain topic-normalize --if-generation g41": 2}
UNAVAILABLE = 4
_BLOCK = re.compile(r"^ *```\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(r"`eva ([^`]+)`")


def shown() -> list[tuple[str, str]]:
    """Page and command, of every line of a block that is one."""
    found = []
    for page in PAGES:
        if page.name not in MADE_FROM_THE_TABLE:
            for block in _BLOCK.findall(page.read_text(encoding="utf-8")):
                lines = (line.strip().removeprefix("$ ").partition("  #")[0].strip() for line in block.splitlines())
                found += [(page.name, line) for line in lines if re.match(r"(\.venv/bin/)?(eva|evatui|make) ", line)]
    return found


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    root = tmp_path / "ws"
    init_workspace(root)
    monkeypatch.setenv("EVA_TRUST", "1")
    with holding(root):
        yield root


def test_commands_are_found() -> None:
    assert {page for page, _ in shown()} >= {"README.md", "hardware.md", "operating.md"}
    assert set(ELSEWHERE) <= {line for _, line in shown()}


def typed(words: list[str]) -> int:
    """The exit code; again, as a person would, while what was just written is still loading."""
    end = time.monotonic() + 60
    while (code := run(words)) == UNAVAILABLE and time.monotonic() < end:
        time.sleep(0.05)
    return code


@pytest.mark.parametrize("page", sorted({page for page, line in shown() if line not in ELSEWHERE}))
def test_what_is_shown_can_be_typed(page: str, served: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """From the top of a page to its end, as whoever follows it does."""
    for line in (line.removeprefix(".venv/bin/") for where, line in shown() if where == page and line not in ELSEWHERE):
        program, *words = (STANDS_FOR.get(word, word) for word in shlex.split(line))
        assert program == "eva", f"{line} is run by no test"
        assert typed([*words, "-w", str(served)]) == REFUSED.get(line, 0), f"{line}: {capsys.readouterr().err}"


@pytest.mark.parametrize("page", [page for page in PAGES if page.name not in MADE_FROM_THE_TABLE], ids=lambda p: p.name)
def test_commands_that_are_mentioned_are_there(page: Path) -> None:
    assert [
        text for text in _INLINE.findall(page.read_text("utf-8")) if not _is_known(re.findall(r"[\w-]+", text))
    ] == []


def _is_known(words: list[str]) -> bool:
    """Also of a group alone, and of what only names an option."""
    groups = {name.split()[0] for name in TABLE if " " in name}
    return (
        words[0].startswith("-")
        or words[0] in TABLE
        or " ".join(words[:2]) in TABLE
        or (words[0] in groups and not words[1:])
    )
