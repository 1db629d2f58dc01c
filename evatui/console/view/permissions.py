"""What a version may do against the last grant of its id, as lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evatui.console.view.ink import Ink, Line, line

__all__ = ["permission_lines"]

_TRENDS = {"widened": ("+", Ink.WARN, 0), "narrowed": ("−", Ink.OK, 1), "unchanged": ("=", Ink.DIM, 2)}


def permission_lines(changes: Sequence[Mapping[str, Any]]) -> list[Line]:
    """Field by field against the last grant, what is wider first; ``changes`` as the plan of a reload has them."""
    known = [change for change in changes if change.get("change") in _TRENDS]
    return [_permission(change) for change in sorted(known, key=lambda change: _TRENDS[change["change"]][2])]


def _permission(change: Mapping[str, Any]) -> Line:
    sign, ink, _ = _TRENDS[change["change"]]
    gained, lost = _entries(change.get("gained")), _entries(change.get("lost"))
    after = _entries(change.get("to"))
    if change["path"].startswith("limits."):
        said = [(f"{_entries(change.get('from'))} → {after}", ink)]
    elif change["change"] == "unchanged":
        said = [(after, Ink.DIM)]
    else:
        said = [(f"+ {gained}", Ink.WARN)] if gained else []
        said += [("  " if said else "", Ink.PLAIN), (f"− {lost}", Ink.OK)] if lost else []
        said += [(f"  now {after or 'nothing'}", Ink.DIM)] if after != gained or not after else []
    return line((f"{sign} {change['change']:<10}", ink), f"{change['path']:<22}", *said)


def _entries(entries: object) -> str:
    return ", ".join(map(_entry, entries)) if isinstance(entries, list | tuple) else ""


def _entry(entry: object) -> str:
    return " ".join(map(str, entry)) if isinstance(entry, list | tuple) else str(entry)
