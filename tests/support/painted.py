"""How much a program writes to its terminal."""

from __future__ import annotations

import time

from tests.console.terminal import Terminal

__all__ = ["bytes_a_second", "until_quiet", "written"]


def written(terminal: Terminal, seconds: float) -> int:
    """Bytes in the next ``seconds``."""
    end, count = time.monotonic() + seconds, 0
    while (left := end - time.monotonic()) > 0:
        count += len(terminal.read(left))
    return count


def bytes_a_second(terminal: Terminal, seconds: float) -> float:
    """Over at least so many ``seconds``, on until something is written. Raises `AssertionError` where nothing is."""
    begun, count = time.monotonic(), 0
    while not count:
        assert time.monotonic() < begun + 60, "it does not paint"
        count = written(terminal, seconds)
    return count / (time.monotonic() - begun)


def until_quiet(terminal: Terminal, seconds: float) -> None:
    """Until it has written nothing for ``seconds``. Raises `AssertionError` where it goes on for two minutes."""
    give_up = time.monotonic() + 120
    while written(terminal, seconds):
        assert time.monotonic() < give_up, "it never stops to paint"
