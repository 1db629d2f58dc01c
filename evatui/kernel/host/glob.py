"""Glob patterns of ``fs_list``: ``*``, ``?`` and ``[…]`` within a name, ``**`` for any number of folders.

Matched name by name on the way down, so that a folder that cannot hold a match is never opened, and so
that no pattern takes more than its length times the number of names.
"""

from __future__ import annotations

from fnmatch import fnmatchcase

__all__ = ["Glob", "Matched"]

Matched = frozenset[int]
"""How many parts of the pattern a path has matched so far: every number that is possible."""


class Glob:
    def __init__(self, pattern: str) -> None:
        self._parts = tuple(part for part in pattern.split("/") if part not in ("", "."))
        self.start = self._skip({0})

    def step(self, matched: Matched, name: str) -> Matched:
        """What the path has matched with ``name`` added to it; empty where nothing below can match."""
        after = set()
        for at in matched:
            if at == len(self._parts):
                continue
            if self._parts[at] == "**":
                after.add(at)
            elif fnmatchcase(name, self._parts[at]):
                after.add(at + 1)
        return self._skip(after)

    def accepts(self, matched: Matched) -> bool:
        return len(self._parts) in matched

    def goes_on(self, matched: Matched) -> bool:
        """Can something below match?"""
        return any(at < len(self._parts) for at in matched)

    def _skip(self, matched: set[int]) -> Matched:
        """A ``**`` may also stand for no folder at all."""
        for at in range(len(self._parts)):
            if at in matched and self._parts[at] == "**":
                matched.add(at + 1)
        return frozenset(matched)
