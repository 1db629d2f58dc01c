"""How far a call has come, or how long it has been waited for, as one line that a terminal shows meanwhile."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from collections.abc import Coroutine, Iterator
from typing import Any, TextIO, TypeVar

from rich.cells import set_cell_size

from evatui.cli.options import Settings
from evatui.control.operator import OnProgress
from evatui.kernel.model.progress import Progress
from evatui.kernel.model.text import clean_line

__all__ = ["progress_line", "waited_for"]

T = TypeVar("T")

_PATIENCE_S = 1.0
"""Before that nobody wonders."""
_COLUMNS = 80
"""Of a terminal that does not say."""


@contextlib.contextmanager
def progress_line(settings: Settings, name: str) -> Iterator[OnProgress | None]:
    """What shows the progress of the call of ``name``; None where no person watches stderr, or JSON is wanted.

    The line is gone again when this is left: the answer comes in its place.
    """
    if not _is_watched(settings):
        yield None
        return
    line = _Line(sys.stderr, clean_line(name, 64))
    try:
        yield line.show
    finally:
        line.clear()


async def waited_for(settings: Settings, name: str, work: Coroutine[Any, Any, T]) -> T:
    """What ``work`` comes to. Where a person watches and it takes long, they see for how long it has."""
    if not _is_watched(settings):
        return await work
    line = _Line(sys.stderr, name)
    counting = asyncio.create_task(_count(line))
    try:
        return await work
    finally:
        counting.cancel()
        line.clear()


async def _count(line: _Line) -> None:
    loop = asyncio.get_running_loop()
    began = loop.time()
    while True:
        await asyncio.sleep(_PATIENCE_S)
        line.say(f"{loop.time() - began:.0f} s")


def _is_watched(settings: Settings) -> bool:
    return not settings.json and sys.stderr.isatty()


class _Line:
    """Written over and over in place: with blanks up to its end, and without an escape sequence."""

    def __init__(self, stream: TextIO, name: str) -> None:
        self._stream = stream
        self._name = name
        self._width = 0

    def show(self, progress: Progress) -> None:
        self.say(clean_line(progress.in_words()))

    def say(self, words: str) -> None:
        """In the width that the terminal has by now, less the column in which some of them wrap."""
        self._width = max(1, _columns(self._stream) - 1)
        self._write(f"{self._name}  {words}")

    def clear(self) -> None:
        if self._width:
            self._write("")

    def _write(self, text: str) -> None:
        with contextlib.suppress(OSError):  # nobody watches any more; the call goes on
            self._stream.write(f"\r{set_cell_size(text, self._width)}\r")
            self._stream.flush()


def _columns(stream: TextIO) -> int:
    try:
        return os.get_terminal_size(stream.fileno()).columns or _COLUMNS
    except OSError:
        return _COLUMNS
