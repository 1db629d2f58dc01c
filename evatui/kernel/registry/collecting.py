"""The collector of cycles while very many values are made that stay."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["collected_seldom"]

_SELDOM = 10_000
"""New values before it looks at them; by default it is 700."""


class _Turned:
    """What was set before, and how many want it otherwise."""

    def __init__(self) -> None:
        self.guard = threading.Lock()
        self.users = 0
        self.before = gc.get_threshold()


_turned = _Turned()


@contextmanager
def collected_seldom() -> Iterator[None]:
    """Within this, the collector looks at new values less often, in the whole process.

    Where all that is made stays it finds nothing, and goes over everything again and again as it becomes more. What
    does come up in cycles is still found, some thousand values later. Any number of threads may be in here.
    """
    with _turned.guard:
        _turned.users += 1
        if _turned.users == 1:
            _turned.before = gc.get_threshold()
            newest, *older = _turned.before
            gc.set_threshold(max(newest, _SELDOM) if newest else 0, *older)
    try:
        yield
    finally:
        with _turned.guard:
            _turned.users -= 1
            if _turned.users == 0:
                gc.set_threshold(*_turned.before)
