"""The newest of a numbered sequence: bounded by count and by bytes, with the loss counted."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from itertools import islice
from typing import Generic, TypeVar

__all__ = ["Window"]

T = TypeVar("T")


class Window(Generic[T]):
    """Holds items numbered without gaps. Not thread-safe: its owner locks.

    An item is pushed with its size in bytes; the oldest ones leave when there are too many, or too large.
    """

    def __init__(self, max_items: int, max_bytes: int) -> None:
        self._items: deque[tuple[T, int]] = deque()
        self._max_items = max_items
        self._max_bytes = max_bytes
        self._bytes = 0
        self.last = 0
        self.dropped = 0

    def __len__(self) -> int:
        return len(self._items)

    def push(self, number: int, item: T, size: int) -> None:
        """``number`` is one more than the last one's, but for the very first."""
        items = self._items
        items.append((item, size))
        self._bytes += size
        self.last = number
        while len(items) > self._max_items or (self._bytes > self._max_bytes and len(items) > 1):
            self._bytes -= items.popleft()[1]
            self.dropped += 1

    def pop(self) -> T:
        """The oldest item, taken out. Raises `IndexError` when there is none."""
        item, size = self._items.popleft()
        self._bytes -= size
        return item

    def since(self, number: int) -> tuple[tuple[T, ...], int]:
        """The items after ``number``, and how many there were between that are gone.

        0 asks for all there is, and has lost nothing: who begins to read has no gap.
        """
        first = self.last - len(self._items) + 1
        skip = max(0, number + 1 - first)
        items = tuple(item for item, _ in islice(self._items, skip, None))
        return items, max(0, first - number - 1) if number else 0

    def newest(self, count: int, wanted: Callable[[T], bool]) -> list[tuple[T, int]]:
        """The last ``count`` of those that are ``wanted``, the oldest of them first, each with its size."""
        return list(islice((pair for pair in reversed(self._items) if wanted(pair[0])), count))[::-1]
