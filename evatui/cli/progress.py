"""How far a call has come, as one line that a terminal shows while it waits."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from typing import TextIO

from rich.cells import set_cell_size

from evatui.cli.options import Settings
from evatui.control.operator import OnProgress
from evatui.kernel.model.progress import Progress
from evatui.kernel.model.text import clean_line

__all__ = ["progress_line"]

_COLUMNS = 80
"""Of a terminal that does not say."""


@contextlib.contextmanager
def progress_line(settings: Settings, name: str) -> Iterator[OnProgress | None]:
    """What shows the progress of the call of ``name``; None where no person watches stderr, or JSON is wanted.

    The line is gone again when this is left: the answer comes in its place.
    """
    if settings.json or not sys.stderr.isatty():
        yield None
        return
    line = _Line(sys.stderr, clean_line(name, 64))
    try:
        yield line.show
    finally:
        line.clear()


class _Line:
    """Written over and over in place: with blanks up to its end, and without an escape sequence."""

    def __init__(self, stream: TextIO, name: str) -> None:
        self._stream = stream
        self._name = name
        self._width = 0

    def show(self, progress: Progress) -> None:
        """In the width that the terminal has by now, less the column in which some of them wrap."""
        self._width = max(1, _columns(self._stream) - 1)
        self._write(f"{self._name}  {clean_line(progress.in_words())}")

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
