"""What the README and the pages tell people to type, in blocks and in the middle of a sentence."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from evatui.cli.table import TABLE

__all__ = ["PAGES", "ROOT", "SERVING", "Shown", "shown", "spellings"]

ROOT: Final = Path(__file__).parents[2]
MADE_FROM_THE_TABLE: Final = {"commands.md"}
"""``tests/cli`` runs every example of it."""
PAGES: Final = [
    page
    for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md")))
    if page.name not in MADE_FROM_THE_TABLE
]
_PROGRAM: Final = re.compile(r"(?:\.venv/bin/)?(eva|evatui|make|python) |\.venv/bin/(ruff|mypy)\b")
_FENCED: Final = re.compile(r"^ *```([^\n]*)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
_SHELLS: Final = {"", "sh", "bash", "console", "shell"}
SERVING: Final = re.compile(r"eva (mcp )?serve\b|eva .*--follow")
"""They go on until they are ended."""
_SPAN: Final = re.compile(r"`([^`]+)`")
_OPTIONAL: Final = re.compile(r"\[([^]]*)\]")


@dataclass(frozen=True, slots=True)
class Shown:
    """``line`` is one command as it stands there, without the remark behind it; ``alone``: in a block."""

    page: str
    line: str
    alone: bool

    @property
    def program(self) -> str:
        found = _PROGRAM.match(self.line)
        assert found is not None, self.line
        return found[1] or found[2]


def shown() -> Iterator[Shown]:
    """From the top of each page to its end."""
    for page in PAGES:
        text, end = page.read_text(encoding="utf-8"), 0
        for block in _FENCED.finditer(text):
            yield from _spans(page.name, text[end : block.start()])
            if block[1].strip() in _SHELLS:
                yield from _lines(page.name, block[2])
            end = block.end()
        yield from _spans(page.name, text[end:])


def _lines(page: str, block: str) -> Iterator[Shown]:
    for line in block.splitlines():
        typed = line.strip().removeprefix("$ ").partition("  #")[0].strip()
        if _PROGRAM.match(typed):
            yield Shown(page, typed, True)


def _spans(page: str, text: str) -> Iterator[Shown]:
    """In the first cell of a row a span may go on where the one before it began: `eva audit tail`, `query`."""
    for paragraph in text.split("\n\n"):
        group = ""
        for span in _SPAN.findall(paragraph):
            line = " ".join(span.split())
            if not _PROGRAM.match(line) and f"{group} {line.partition(' ')[0]}" in TABLE:
                line = f"eva {group} {line}"
            if _PROGRAM.match(line):
                group = line.partition(" ")[2].partition(" ")[0]
                yield Shown(page, line, False)


def spellings(line: str) -> list[str]:
    """What it says in short, in full: without what is optional, with each of that, and once for each alternative."""
    text = line.replace("\\|", "|").replace(" | ", "|").replace("…", "")
    optional = range(-1, len(_OPTIONAL.findall(text)))
    return [one for kept in optional for one in _alternatives(_with_only(kept, text))]


def _with_only(kept: int, text: str) -> str:
    number = itertools.count()
    one = _OPTIONAL.sub(lambda found: found[1] if next(number) == kept else "", text)
    return " ".join(one.split())


def _alternatives(text: str) -> Iterator[str]:
    words = [word.split("|") for word in text.split(" ")]
    return (" ".join(one) for one in itertools.product(*words))
