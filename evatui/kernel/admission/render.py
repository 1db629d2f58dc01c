"""Diagnostics as a person reads them: code, message, place, the source line with a caret, why, fix."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import replace

from evatui.kernel.admission.redact import hide, shrouded
from evatui.kernel.model.diagnostic import Diagnostic, Level, Span
from evatui.kernel.model.text import clean_line
from evatui.kernel.workspace.lines import split_lines

__all__ = ["Texts", "noted", "render", "render_all"]

Texts = Mapping[str, bytes]
"""The bytes of each file that a span may point into, by its path."""

_TAB = "    "
_WIDTH = 96
"""Cells of source text in a line; a longer line is cut around its caret."""
_LEAD = 40
_MAX_SPANS = 6
_WHY = re.compile(r"^( +)= why: ", re.MULTILINE)
_CODE_SUFFIXES = (".lua",)


def render(diagnostic: Diagnostic, texts: Texts) -> Diagnostic:
    """The diagnostic with ``rendered`` filled in. A file that is not in ``texts`` is named without its line.

    What looks like a secret is dotted out in all of it: it may stand where a name or a path was wanted.
    """
    diagnostic = _without_secrets(diagnostic)
    level = "warning: " if diagnostic.level is Level.WARNING else ""
    spans = sorted(diagnostic.spans, key=lambda span: not span.primary)[:_MAX_SPANS]
    gutter = max((len(str(span.line)) for span in spans), default=1)
    out = [f"{diagnostic.code} {level}{diagnostic.message}"]
    for index, span in enumerate(spans):
        out += _place(span, texts.get(span.file), gutter, "-->" if index == 0 else ":::")
    pad = " " * gutter
    out += [f"{pad} = note: {note}" for note in diagnostic.notes]
    if diagnostic.help:
        out.append(f"{pad} = why: {diagnostic.help}")
    if diagnostic.fix:
        out.append(f"{pad} = fix: {diagnostic.fix}")
    return replace(diagnostic, rendered="\n".join(out))


def noted(diagnostic: Diagnostic, note: str) -> Diagnostic:
    """A rendered diagnostic with one more note."""
    rendered = _WHY.sub(lambda why: f"{why[1]}= note: {note}\n{why[0]}", diagnostic.rendered, count=1)
    return replace(diagnostic, notes=(*diagnostic.notes, note), rendered=rendered)


def _without_secrets(diagnostic: Diagnostic) -> Diagnostic:
    return replace(
        diagnostic,
        message=shrouded(diagnostic.message),
        spans=tuple(replace(span, label=shrouded(span.label)) if span.label else span for span in diagnostic.spans),
        notes=tuple(map(shrouded, diagnostic.notes)),
        fix=shrouded(diagnostic.fix) if diagnostic.fix else diagnostic.fix,
        edits=tuple(edit for edit in diagnostic.edits if shrouded(edit.replacement) == edit.replacement),
    )


def _place(span: Span, data: bytes | None, gutter: int, arrow: str) -> list[str]:
    pad = " " * gutter
    head = f"{pad}{arrow} {clean_line(span.file)}:{span.line}:{span.column}"
    lines = _lines(data) if data is not None else []
    if not 1 <= span.line <= len(lines):
        return [head, f"{pad} | {span.label}"] if span.label else [head]
    source = hide(lines, span.line, code=span.file.endswith(_CODE_SUFFIXES))
    shown, before, run = _window(source, span)
    mark = ("^" if span.primary else "-") * run
    caret = f"{' ' * before}{mark} {span.label}".rstrip()
    return [head, f"{pad} |", f"{span.line:>{gutter}} | {shown}", f"{pad} | {caret}"]


def _lines(data: bytes) -> list[str]:
    text = data.decode("utf-8", "replace").removeprefix("\ufeff")
    return split_lines(text)


def _window(source: str, span: Span) -> tuple[str, int, int]:
    """The part of the line to show, the cells before the caret, and the cells under it (at least one)."""
    start = min(span.column - 1, len(source))
    end = len(source) if (span.end_line or span.line) > span.line else (span.end_column or span.column + 1) - 1
    end = max(start, min(end, len(source)))
    left = _fit_left(source, start)
    right = _fit_right(source, left)
    head, tail = "…" if left else "", "…" if right < len(source) else ""
    before = len(head) + _cells(source[left:start])
    visible = left + len(source[left:right].rstrip())
    run = max(1, _cells(source[start : min(end, visible)]))
    return head + _shown(source[left:right]).rstrip() + tail, before, run


def _fit_left(source: str, start: int) -> int:
    if _cells(source[: _WIDTH + 1]) <= _WIDTH and len(source) <= _WIDTH:
        return 0
    left, used = start, 0
    while left > 0 and used + _cells(source[left - 1]) <= _LEAD:
        left -= 1
        used += _cells(source[left])
    return left


def _fit_right(source: str, left: int) -> int:
    right, used = left, 0
    while right < len(source) and used + _cells(source[right]) <= _WIDTH:
        used += _cells(source[right])
        right += 1
    return right


def _shown(text: str) -> str:
    return _TAB.join(clean_line(part, len(part) + 1) for part in text.split("\t"))


def _cells(text: str) -> int:
    """Terminal cells: a tab is shown as four, wide characters take two, combining ones none."""
    return sum(map(_cell, text))


def _cell(char: str) -> int:
    if char == "\t":
        return len(_TAB)
    if unicodedata.combining(char) or unicodedata.category(char) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in ("W", "F") else 1


def render_all(diagnostics: Sequence[Diagnostic], texts: Texts) -> tuple[Diagnostic, ...]:
    return tuple(render(diagnostic, texts) for diagnostic in diagnostics)
