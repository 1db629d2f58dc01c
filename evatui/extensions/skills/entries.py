"""Front matter that is no YAML as a whole, read entry by entry: what is plainly text is taken as text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from evatui.kernel.model.ids import fold
from evatui.kernel.workspace.lines import Place

__all__ = ["RESTRICTS", "Entry", "entries", "field_name"]

RESTRICTS = ("allowed-tools", "disable-model-invocation", "kind", "requires_bins", "requires_env")
"""Fields without which a skill could do more than its author meant."""
_KNOWN = (*RESTRICTS, "always", "description", "name", "version")
_KEY = re.compile(
    r"""(?P<quote>["']?)(?P<key>[A-Za-z_][\w. -]{0,63}?)(?P=quote)[ \t]{0,8}:(?:[ \t]+(?P<value>.*)|[ \t]*)"""
)
_OPENERS = {"[": "]", "{": "}"}


def field_name(key: str) -> str:
    """The field that ``key`` names, however it is spelt: ``allowedTools`` is ``allowed-tools``, and a ``class`` is a
    ``kind``."""
    return _NAMES.get(_bare(key), key)


def _bare(key: str) -> str:
    return fold(key).replace("-", "").replace("_", "")


_NAMES = {_bare(name): name for name in _KNOWN} | {"class": "kind"}


@dataclass(frozen=True, slots=True)
class Entry:
    """A key at the left edge and all that belongs to it, in the lines of the file from ``line``, 1-based.

    ``value`` is what stands beside the key, from ``column`` on.
    """

    key: str
    line: int
    column: int
    value: str
    lines: tuple[str, ...]

    @property
    def source(self) -> str:
        """The entry alone, where it stands in the file."""
        return "\n" * (self.line - 1) + "\n".join(self.lines) + "\n"

    @property
    def place(self) -> Place:
        """Of its value; of its key where there is no value beside it."""
        last = max(at for at, line in enumerate(self.lines) if at == 0 or line.strip())
        return Place(self.line, self.column, self.line + last, len(self.lines[last].rstrip()) + 1)

    @property
    def hides(self) -> str | None:
        """The restricting field that one of its further lines seems to set."""
        keys = (_KEY.fullmatch(line.strip()) for line in self.lines[1:])
        names = (field_name(key["key"]) for key in keys if key)
        return next((name for name in names if name in RESTRICTS), None)

    @property
    def folded(self) -> str | None:
        """All of it as one text, as a plain scalar is folded; None where it is meant to be something else."""
        first = self.value[:1]
        if not first or first in "\"'|>" or (first in _OPENERS and not _closes(self.value, first)):
            return None
        return _fold(self.value, self.lines[1:])


def entries(text: str) -> list[Entry] | None:
    """The entries of a mapping, or None where a line belongs to none of them."""
    found: list[tuple[re.Match[str], int, list[str]]] = []
    for number, line in enumerate(text.split("\n"), 1):
        key = _KEY.fullmatch(line)
        if key is not None:
            found.append((key, number, [line]))
        elif found and (not line.strip() or line[0] in " \t#" or line.startswith("- ")):
            found[-1][2].append(line)
        elif line.strip() and line[0] != "#":
            return None
    return [
        Entry(key["key"], number, max(key.start("value"), 0) + 1, (key["value"] or "").strip(), tuple(lines))
        for key, number, lines in found
    ]


def _fold(first: str, rest: tuple[str, ...]) -> str:
    return "".join(_joined([first, *(line.strip() for line in rest if not line.startswith("#"))])).strip()


def _joined(lines: list[str]) -> Iterator[str]:
    """Lines are joined by a space, and an empty line is a line break."""
    broken = True
    for line in lines:
        if not line:
            yield "\n"
            broken = True
            continue
        yield line if broken else f" {line}"
        broken = False


def _closes(text: str, opener: str) -> bool:
    """Is the bracket that ``text`` begins with closed in the same line?"""
    depth = 0
    for char in text:
        depth += (char == opener) - (char == _OPENERS[opener])
        if depth == 0:
            return True
    return False
