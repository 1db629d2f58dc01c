"""What the README and the pages tell people to type works as it stands there: every line of ``eva`` is run."""

from __future__ import annotations

import io
import itertools
import json
import re
import shlex
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import pytest

from evatui.cli.main import run
from evatui.cli.table import TABLE
from evatui.control.bundle import init_workspace
from tests.cli.real import holding
from tests.docs.shown import PAGES, ROOT, SERVING, shown, spellings
from tests.support.plugins import program

OK, REFUSED, UNAVAILABLE, HANDLER = 0, 2, 4, 6
_NEW, _SIGNER = "a new folder", "the key of the export"
STANDS_FOR: Final[Mapping[str, Mapping[str, str]]] = {
    "eva": {"ID": "topic-normalize", "KEY": "sim:1209:e7a1:sim.relay", "FILE": "made.file", "U": "ann"},
    "eva init": {"DIR": _NEW},
    "eva trust": {"DIR": "."},
    "eva schema": {"NAME": "policy"},
    "eva skill": {"NAME": "use-capabilities"},
    "eva explain": {"CODE": "EVA-204"},
    "eva events": {"PATTERN": "/capability/**", "N": "5"},
    "eva audit": {"FILE": "exported.jsonl", "KEY": _SIGNER},
    "eva hardware bind": {"NAME": "bench.relay"},
    "eva hardware simulate": {"NAME": "relay", "FAULT": "none"},
    "eva capability call": {"NAME": "scale.report", "ID": "scale-report", "JSON": "{}", "@FILE": "@payload.json"},
    "eva capability new": {"KIND": "lua_tool", "ID": "made-here"},
    "eva capability diff": {"A": "disk", "B": "disk"},
    "eva capability route": {"NAME": "topic.normalize", "text.greet": "greet"},
    "eva plugin": {"NAME": "word-stats", "PLUGIN.TOOL": "word-stats.count", "DIR": "plugins/word-stats"},
    "eva plugin keygen": {"FILE": "the.key"},
    "eva plugin sign": {"FILE": "the.key"},
}
"""For the words that are not meant as they stand, by how the command begins; the longest one that has a word holds."""
ENDS: Final[Mapping[str, int]] = {
    # the page says so itself
    "eva capability drain topic-normalize --if-generation g41": REFUSED,
    # no canary is tried out, no version waits, and nobody knows such a digest, request, task, key or server
    **{f"eva capability {word} ID": REFUSED for word in ("promote", "abort", "pause", "resume")},
    "eva capability approve ID --digest D": REFUSED,
    "eva capability approve ID --digest D --revoke": REFUSED,
    "eva capability explain-rejected --digest D": REFUSED,
    "eva capability reload --plan DIGEST": REFUSED,
    "eva trust --digest D": REFUSED,
    "eva why REQUEST": REFUSED,
    "eva why GENERATION": REFUSED,
    "eva cancel TASK": REFUSED,
    "eva state get ID KEY": REFUSED,
    "eva state delete ID KEY": REFUSED,
    "eva mcp probe SERVER": REFUSED,
    "eva mcp approve SERVER": REFUSED,
    "eva mcp probe files": REFUSED,
    "eva mcp approve files --digest D": REFUSED,
    "eva mcp approve files TOOL --digest D": REFUSED,
    # it has one version; nothing is signed here; the text is wanted; the page has just unplugged the scale
    "eva capability rollback greet": REFUSED,
    "eva plugin verify NAME": REFUSED,
    "eva plugin call PLUGIN.TOOL": REFUSED,
    "eva capability call plugin.word-stats.count": REFUSED,
    "eva capability call scale.report": HANDLER,
}
"""Where that is not 0, how it ends in a workspace of the samples in which one script was edited once."""


def lines_of(page: str) -> Iterator[str]:
    """Each once, in the order of the page. In a sentence a command's name alone stands for the command, not for a line:
    ``tests/cli`` runs every command."""
    seen = set(TABLE)
    for one in shown():
        if one.page == page and one.program == "eva":
            for line in [one.line] if one.alone else spellings(one.line):
                words = line.removeprefix(".venv/bin/").removeprefix("eva ")
                if words not in seen and not words.startswith("-") and not SERVING.match(f"eva {words}"):
                    seen.add(words)
                    yield f"eva {words}"


def words_of(line: str) -> list[str]:
    """As they are typed, without the program."""
    words = shlex.split(line)
    heads = [" ".join(words[:length]) for length in (3, 2, 1)]
    tables = [STANDS_FOR[head] for head in heads if head in STANDS_FOR]
    return [next((table[word] for table in tables if word in table), word) for word in words][1:]


def typed(words: list[str]) -> int:
    """The exit code; again, as a person would, while what was just written is still loading."""
    end = time.monotonic() + 60
    while (code := run(words)) == UNAVAILABLE and time.monotonic() < end:
        time.sleep(0.05)
    return code


def signed_export(capsys: pytest.CaptureFixture[str]) -> str:
    """Some moments after the start: the records of a log are there before their head is signed."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        capsys.readouterr()
        assert typed(["audit", "export"]) == OK
        said = capsys.readouterr().out
        if said.startswith('{"audit_head"'):
            return said
        time.sleep(0.05)
    raise AssertionError("nobody signs the head of the log")


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Path]:
    """A workspace that one stands in, with all that the pages write themselves."""
    root = tmp_path / "ws"
    init_workspace(root)
    page = (ROOT / "docs/plugins.md").read_text(encoding="utf-8")
    (root / "plugins/word-stats").mkdir(parents=True)
    manifest, source = (
        re.search(rf"^```{language}\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)[1]  # type: ignore[index]
        for language in ("json", "sh")
    )
    (root / "plugins/word-stats/manifest.json").write_text(manifest)
    program(root / "plugins/word-stats/word-stats", source)
    (root / "payload.json").write_text("{}")
    monkeypatch.setenv("EVA_TRUST", "1")
    monkeypatch.chdir(root)
    with holding(root):
        script = root / "capabilities/tools/topic_normalize.lua"
        script.write_text(script.read_text() + "\n-- once more\n")
        assert typed(["capability", "reload"]) == OK
        (root / "exported.jsonl").write_text(signed_export(capsys))
        yield root


def test_commands_are_found() -> None:
    assert {one.page for one in shown() if one.alone} >= {"README.md", "hardware.md", "operating.md"}
    assert {line for page in PAGES for line in lines_of(page.name)} >= set(ENDS)


def test_what_is_said_in_short_is_said_in_full() -> None:
    assert spellings("eva x --at [HOST:]PORT [ID…]") == [
        "eva x --at PORT",
        "eva x --at HOST:PORT",
        "eva x --at PORT ID",
    ]
    assert spellings("eva x a\\|b") == spellings("eva x a | b") == ["eva x a", "eva x b"]


@pytest.mark.parametrize("page", [page.name for page in PAGES if any(lines_of(page.name))])
def test_what_is_shown_can_be_typed(
    page: str, served: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """From the top of a page to its end, as whoever follows it does."""
    folders = (f"folder{number}" for number in itertools.count())
    signer = json.loads((served / "exported.jsonl").read_text().splitlines()[0])["audit_head"]["key"]
    for line in lines_of(page):
        words = [next(folders) if word == _NEW else signer if word == _SIGNER else word for word in words_of(line)]
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"{}")))
        code = typed(words)
        said = capsys.readouterr()
        assert code == ENDS.get(line, OK), f"{line}, typed as {shlex.join(words)}: {said.err or said.out}"
