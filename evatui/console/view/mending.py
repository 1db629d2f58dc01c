"""Repairs that need no thought: what they would make of a file, before anything is written."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from evatui.console.view.code_diff import diff_rows, shown
from evatui.console.view.ink import EMPTY, Ink, Line, line
from evatui.kernel.model.diagnostic import Diagnostic, Edit
from evatui.kernel.model.text import clean_line

__all__ = ["edits_of", "mended", "repair_lines"]

_CONTEXT = 2


def edits_of(diagnostics: Iterable[Diagnostic]) -> dict[str, list[Edit]]:
    """By file, each once."""
    found: dict[str, list[Edit]] = {}
    for diagnostic in diagnostics:
        for edit in diagnostic.edits:
            known = found.setdefault(edit.span.file, [])
            if edit not in known:
                known.append(edit)
    return found


def mended(text: str, edits: Sequence[Edit]) -> str | None:
    """``text`` with all ``edits``; None where one of them has no place in it, or two are in each other's way."""
    body = text.removeprefix("\ufeff")
    starts = _line_starts(body)
    places = sorted((_offset(body, starts, edit), edit.replacement) for edit in edits)
    if any(place is None for place, _ in places):
        return None
    known = [(place, replacement) for place, replacement in places if place is not None]
    if any(first[0][1] > second[0][0] for first, second in pairwise(known)):
        return None
    for (start, end), replacement in reversed(known):
        body = body[:start] + replacement + body[end:]
    return text[: len(text) - len(text.removeprefix("\ufeff"))] + body


def _line_starts(text: str) -> list[int]:
    return [0, *(index + 1 for index, sign in enumerate(text) if sign == "\n")]


def _offset(text: str, starts: Sequence[int], edit: Edit) -> tuple[int, int] | None:
    span = edit.span
    last_line = span.end_line or span.line
    if not 1 <= span.line <= last_line <= len(starts):
        return None
    start = starts[span.line - 1] + span.column - 1
    end = starts[last_line - 1] + (span.end_column or span.column) - 1
    return (start, end) if 0 <= start <= end <= len(text) else None


def repair_lines(before: Mapping[str, str], after: Mapping[str, str], width: int) -> list[Line]:
    """Each file as it is and as it would be."""
    lines: list[Line] = []
    for file, text in before.items():
        lines += [EMPTY] if lines else []
        lines.append(line((file, Ink.STRONG)))
        lines += shown(diff_rows(_differences(text.split("\n"), after[file].split("\n"))), width)
    return lines


def _differences(before: Sequence[str], after: Sequence[str]) -> list[list[object]]:
    told: list[list[object]] = []
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    for group in matcher.get_grouped_opcodes(_CONTEXT):
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                told += [
                    [" ", i + 1, j + 1, _clean(after[j])] for i, j in zip(range(i1, i2), range(j1, j2), strict=True)
                ]
                continue
            told += [["-", i + 1, None, _clean(before[i])] for i in range(i1, i2)]
            told += [["+", None, j + 1, _clean(after[j])] for j in range(j1, j2)]
    return told


def _clean(text: str) -> str:
    return clean_line(text.rstrip("\r"), 400)
