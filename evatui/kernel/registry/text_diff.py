"""In which lines a refused version differs from the one that serves, as text; no line shows a secret."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from evatui.kernel.model.text import clean_line
from evatui.kernel.registry.line_diff import FileChange, FileDiff, file_diffs
from evatui.kernel.workspace.snapshot import Snapshot

__all__ = ["MAX_LINES", "diff_text", "text_difference"]

MAX_LINES = 200
"""Of a difference; what comes after is counted, not shown."""
_WIDTH = 160

_SAID = {
    FileChange.NEW: "is new",
    FileChange.GONE: "is named no longer",
    FileChange.UNREADABLE: "cannot be read",
}


def text_difference(before: Snapshot, after: Snapshot) -> str:
    """As a unified diff of the manifest and of all that it names, of at most `MAX_LINES` lines; empty where alike."""
    return diff_text(file_diffs(before, after, MAX_LINES))


def diff_text(diffs: Iterable[FileDiff]) -> str:
    """As a unified diff of at most `MAX_LINES` lines."""
    lines = [line for diff in diffs for line in _file(diff)]
    if len(lines) > MAX_LINES:
        lines[MAX_LINES - 1 :] = [f"… and {len(lines) - MAX_LINES + 1:,} more lines"]
    return "\n".join(lines)


def _file(diff: FileDiff) -> Iterator[str]:
    if diff.change in _SAID:
        yield f"=== {diff.path} {_SAID[diff.change]}"
        return
    yield f"--- {diff.before}"
    yield f"+++ {diff.path}"
    if diff.change is FileChange.LARGE:
        yield f"… {diff.old:,} lines became {diff.new:,} from line {diff.first} on"
    for hunk in diff.hunks:
        yield f"@@ -{hunk.old} +{hunk.new} @@"
        for one in hunk.lines:
            yield f"{one.mark}{clean_line(one.text, _WIDTH)}"
