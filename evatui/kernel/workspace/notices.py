"""What a source of notices gives, whichever system it speaks to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Protocol

__all__ = ["MANY", "Batch", "Notices"]

MANY = 500
"""More paths than these at once, and looking at everything is cheaper than naming them."""


@dataclass(slots=True)
class Batch:
    """Absolute paths: of what changed in a watched folder, and of the ``folders`` among it that came, went or moved.

    ``writing`` are files that were written to and are still open, ``closed`` those that were open before.
    ``reshaped``: a watch has ended. ``overflowed``: the system has dropped notices. ``flooded``: there were
    too many to keep. After each of the three nobody knows what else has changed.
    """

    paths: set[str] = field(default_factory=set)
    folders: set[str] = field(default_factory=set)
    writing: set[str] = field(default_factory=set)
    closed: set[str] = field(default_factory=set)
    reshaped: bool = False
    overflowed: bool = False
    flooded: bool = False

    @property
    def uncertain(self) -> bool:
        return self.reshaped or self.overflowed or self.flooded

    def __bool__(self) -> bool:
        return bool(self.paths) or self.uncertain

    def add(self, other: Batch) -> None:
        self.paths |= other.paths
        self.folders |= other.folders
        self.writing = (self.writing - other.closed) | other.writing
        self.reshaped |= other.reshaped
        self.overflowed |= other.overflowed
        self.flooded |= other.flooded or len(self.paths) > MANY
        if self.flooded:
            self.paths.clear()
            self.folders.clear()
            self.writing.clear()


class Notices(Protocol):
    """Used by one thread, but for `wake`."""

    name: str

    def watch(self, folders: Iterable[str], holders: Iterable[str]) -> None:
        """Watches these and no others from now on, each by itself. In ``holders`` only names are of interest.

        A folder that is gone, or may not be read, is left out. Raises `OSError` where a limit is reached.
        """

    def wait(self, timeout_s: float) -> Batch | None:
        """What has come, as soon as something has; None after ``timeout_s``, or when woken."""

    def wake(self) -> None:
        """Ends the waiting, also one that begins later. From any thread."""

    def close(self) -> None: ...
