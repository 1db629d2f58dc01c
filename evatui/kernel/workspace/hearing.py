"""Whether what changes is also told: some file systems, and some ways of writing, give no notice."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping

from evatui.kernel.workspace.files import Signature

__all__ = ["Hearing"]

_AGE_NS = 500_000_000
"""The notice of a younger change may still be on its way."""

Looked = Mapping[str, Signature]


class Hearing:
    """Compares two looks at the files, ``every_s`` apart, with what was told between them."""

    def __init__(self, look: Callable[[], Looked], every_s: float) -> None:
        self._look = look
        self._every_s = every_s
        self._before = look()
        self._due = time.monotonic() + every_s
        self._told: set[str] = set()

    def told(self, paths: Iterable[str]) -> None:
        self._told.update(paths)

    def missed(self) -> str | None:
        """A file that was written to without a notice; it is looked only when it is time to."""
        if time.monotonic() < self._due:
            return None
        before, told = self._before, self._told
        self._before, self._told = self._look(), set()
        self._due = time.monotonic() + self._every_s
        return _untold(before, self._before, told)


def _untold(before: Looked, after: Looked, told: set[str]) -> str | None:
    oldest_ns = time.time_ns() - _AGE_NS
    changed = (path for path, found in after.items() if path in before and _content(before[path]) != _content(found))
    return next((path for path in sorted(changed) if path not in told and after[path][-1] < oldest_ns), None)


def _content(signature: Signature) -> tuple[int, ...]:
    """Not the time of the inode: another name for the same file changes that, and is told to nobody."""
    return signature[:-1]
