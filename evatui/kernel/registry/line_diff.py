"""In which lines the files of two versions differ, as data; no line shows a secret."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from evatui.kernel.admission.redact import hide
from evatui.kernel.model.text import clean_line
from evatui.kernel.workspace.files import SourceFile
from evatui.kernel.workspace.lines import split_lines
from evatui.kernel.workspace.snapshot import Snapshot

__all__ = ["MAX_COMPARED", "FileChange", "FileDiff", "Hunk", "LineDiff", "file_diffs"]

MAX_COMPARED = 2_000
"""Lines of a file between its first and its last change; more are not compared one by one."""
_CONTEXT = 3
_WIDTH = 400
_CODE = ".lua"


class FileChange(StrEnum):
    CHANGED = "changed"
    NEW = "new"
    GONE = "gone"
    UNREADABLE = "unreadable"
    LARGE = "large"
    """Too much of it lies between its first and its last change."""


@dataclass(frozen=True, slots=True)
class LineDiff:
    """``mark`` is a blank, ``-`` or ``+``; lines are counted from 1, and None is the side that has no such line."""

    mark: str
    old: int | None
    new: int | None
    text: str


@dataclass(frozen=True, slots=True)
class Hunk:
    old: int
    new: int
    lines: tuple[LineDiff, ...]


@dataclass(frozen=True, slots=True)
class FileDiff:
    """``before`` is what the file was called; ``old`` and ``new`` count its lines from ``first`` where it is large."""

    path: str
    before: str
    change: FileChange
    hunks: tuple[Hunk, ...] = ()
    first: int = 0
    old: int = 0
    new: int = 0

    def to_json(self) -> dict[str, Any]:
        lines = [[one.mark, one.old, one.new, one.text] for hunk in self.hunks for one in hunk.lines]
        return {"path": self.path, "change": self.change.value, "lines": lines}


def file_diffs(before: Snapshot, after: Snapshot, most: int) -> Iterator[FileDiff]:
    """The manifest, then all that it names, in the order of their paths; about ``most`` lines of each at most."""
    yield from _file(before.path, after.path, before.manifest, after.manifest, most)
    for path in sorted({*before.files, *after.files, *after.missing}):
        old, new = before.files.get(path), after.files.get(path)
        if old is not None and new is not None:
            yield from _file(path, path, old, new, most)
        else:
            new_one = old is None and new is not None
            lost = FileChange.UNREADABLE if path in after.missing else FileChange.GONE
            yield FileDiff(_name(path), _name(path), FileChange.NEW if new_one else lost)


def _file(old_path: str, new_path: str, old: SourceFile, new: SourceFile, most: int) -> Iterator[FileDiff]:
    if old.digest == new.digest:
        return
    paths = (_name(new_path), _name(old_path))
    before, after = _lines(old), _lines(new)
    first, last = _ends(before, after)
    if max(len(before), len(after)) - first - last > MAX_COMPARED:
        yield FileDiff(
            *paths, FileChange.LARGE, first=first + 1, old=len(before) - first - last, new=len(after) - first - last
        )
    else:
        code = new_path.endswith(_CODE)
        yield FileDiff(*paths, FileChange.CHANGED, tuple(_hunks(before, after, first, last, most, code)))


def _hunks(before: Sequence[str], after: Sequence[str], first: int, last: int, most: int, code: bool) -> Iterator[Hunk]:
    start, end = max(0, first - _CONTEXT), max(0, last - _CONTEXT)
    matcher = difflib.SequenceMatcher(
        None, before[start : len(before) - end or None], after[start : len(after) - end or None]
    )
    shown = 0
    for group in matcher.get_grouped_opcodes(_CONTEXT):
        lines: list[LineDiff] = []
        for tag, i1, i2, j1, j2 in group:
            if shown > most:
                break
            shown += i2 - i1 + j2 - j1
            if tag == "equal":
                lines += _same(after, start + i1, start + j1, j2 - j1, code)
            else:
                lines += _one_side("-", before, start + i1, start + i2, most, code)
                lines += _one_side("+", after, start + j1, start + j2, most, code)
        if lines:
            yield Hunk(start + group[0][1] + 1, start + group[0][3] + 1, tuple(lines))


def _same(after: Sequence[str], old: int, new: int, many: int, code: bool) -> Iterator[LineDiff]:
    for index in range(many):
        yield LineDiff(" ", old + index + 1, new + index + 1, _shown(after, new + index, code))


def _one_side(mark: str, lines: Sequence[str], start: int, end: int, most: int, code: bool) -> Iterator[LineDiff]:
    for index in range(start, min(end, start + most + 1)):
        number = index + 1
        text = _shown(lines, index, code)
        yield LineDiff(mark, number if mark == "-" else None, number if mark == "+" else None, text)


def _shown(lines: Sequence[str], index: int, code: bool) -> str:
    return clean_line(hide(lines, index + 1, code=code), _WIDTH)


def _ends(before: Sequence[str], after: Sequence[str]) -> tuple[int, int]:
    """How many lines at the beginning, and at the end, are the same."""
    shorter = min(len(before), len(after))
    first = next((n for n in range(shorter) if before[n] != after[n]), shorter)
    last = next((n for n in range(shorter - first) if before[-n - 1] != after[-n - 1]), shorter - first)
    return first, last


def _lines(file: SourceFile) -> list[str]:
    return split_lines(file.data.decode("utf-8", "replace").removeprefix("\ufeff"))


def _name(path: str) -> str:
    return clean_line(path, 160)
