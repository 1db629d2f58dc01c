"""In which lines a refused version differs from the one that serves; no line shows a secret."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence

from evatui.kernel.admission.redact import hide
from evatui.kernel.model.text import clean_line
from evatui.kernel.workspace.files import SourceFile
from evatui.kernel.workspace.lines import split_lines
from evatui.kernel.workspace.snapshot import Snapshot

__all__ = ["MAX_LINES", "text_difference"]

MAX_LINES = 200
"""Of a difference; what comes after is counted, not shown."""
_MAX_COMPARED = 2_000
"""Lines of a file between its first and its last change; more are not compared one by one."""
_CONTEXT = 3
_WIDTH = 160
_CODE = ".lua"


def text_difference(before: Snapshot, after: Snapshot) -> str:
    """As a unified diff of the manifest and of all that it names, of at most `MAX_LINES` lines; empty where alike."""
    lines = list(_file(before.path, after.path, before.manifest, after.manifest))
    for path in sorted({*before.files, *after.files, *after.missing}):
        old, new = before.files.get(path), after.files.get(path)
        if old is not None and new is not None:
            lines += _file(path, path, old, new)
        else:
            what = "is new" if old is None and new is not None else "cannot be read" if path in after.missing else ""
            lines.append(f"=== {_name(path)} {what or 'is named no longer'}")
    if len(lines) > MAX_LINES:
        lines[MAX_LINES - 1 :] = [f"… and {len(lines) - MAX_LINES + 1:,} more lines"]
    return "\n".join(lines)


def _file(old_path: str, new_path: str, old: SourceFile, new: SourceFile) -> Iterator[str]:
    if old.digest == new.digest:
        return
    yield f"--- {_name(old_path)}"
    yield f"+++ {_name(new_path)}"
    before, after = _lines(old), _lines(new)
    first, last = _ends(before, after)
    if max(len(before), len(after)) - first - last > _MAX_COMPARED:
        yield f"… {len(before) - first - last:,} lines became {len(after) - first - last:,} from line {first + 1} on"
        return
    start, end = max(0, first - _CONTEXT), max(0, last - _CONTEXT)
    matcher = difflib.SequenceMatcher(
        None, before[start : len(before) - end or None], after[start : len(after) - end or None]
    )
    shown = 0
    for group in matcher.get_grouped_opcodes(_CONTEXT):
        yield f"@@ -{start + group[0][1] + 1} +{start + group[0][3] + 1} @@"
        for tag, i1, i2, j1, j2 in group:
            if shown > MAX_LINES:
                return
            shown += i2 - i1 + j2 - j1
            code = new_path.endswith(_CODE)
            if tag == "equal":
                yield from _marked(" ", after, start + j1, start + j2, code)
            else:
                yield from _marked("-", before, start + i1, start + i2, code)
                yield from _marked("+", after, start + j1, start + j2, code)


def _marked(mark: str, lines: Sequence[str], start: int, end: int, code: bool) -> Iterator[str]:
    for index in range(start, end):
        line = hide(lines, index + 1, code=code) if index < start + MAX_LINES else ""
        yield f"{mark}{clean_line(line, _WIDTH)}"


def _ends(before: Sequence[str], after: Sequence[str]) -> tuple[int, int]:
    """How many lines at the beginning, and at the end, are the same."""
    shorter = min(len(before), len(after))
    first = next((n for n in range(shorter) if before[n] != after[n]), shorter)
    last = next((n for n in range(shorter - first) if before[-n - 1] != after[-n - 1]), shorter - first)
    return first, last


def _lines(file: SourceFile) -> list[str]:
    return split_lines(file.data.decode("utf-8", "replace").removeprefix("\ufeff"))


def _name(path: str) -> str:
    return clean_line(path, _WIDTH)
