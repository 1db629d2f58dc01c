"""What is written past the screen: by a library in C, by a child that inherits standard error."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

__all__ = ["kept_off_the_screen"]

_OUT, _ERR = 1, 2


@contextmanager
def kept_off_the_screen(file: Path | None) -> Iterator[None]:
    """Meanwhile the terminal is ``sys.__stderr__``, where Textual draws, and ``sys.__stdout__``, of which it asks how
    large that is; what else is written to the standard streams goes to ``file``, or nowhere."""
    drawn_on, asked = sys.__stderr__, sys.__stdout__
    if drawn_on is None or not drawn_on.isatty():
        yield
        return
    streams = [number for number in (_OUT, _ERR) if os.isatty(number)]
    before = {number: os.dup(number) for number in streams}
    drawn_on.flush()
    sink = _opened(file)
    screen = os.fdopen(os.dup(drawn_on.fileno()), "w", encoding=drawn_on.encoding, errors=drawn_on.errors)
    for number in streams:
        os.dup2(sink, number)
    os.close(sink)
    vars(sys).update(__stderr__=screen, __stdout__=screen)  # declared final
    try:
        yield
    finally:
        vars(sys).update(__stderr__=drawn_on, __stdout__=asked)
        for number, kept in before.items():
            os.dup2(kept, number)
            os.close(kept)
        # Not closed: handlers of signals that Textual leaves behind still write to it. What is left may find it gone.
        with suppress(OSError):
            screen.flush()


def _opened(file: Path | None) -> int:
    if file is not None:
        with suppress(OSError):
            file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            return os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o600)
    return os.open(os.devnull, os.O_WRONLY)
