"""The process's own streams, where they are not what a program takes for granted."""

from __future__ import annotations

import contextlib
import io
import os
import sys

__all__ = ["give_up", "prepare_streams", "silence_stdout"]


def prepare_streams() -> None:
    """A stream that is closed swallows; what its encoding has no character for is shown as ``?``."""
    if sys.stdout is None:
        sys.stdout = _nowhere()
    if sys.stderr is None:
        sys.stderr = _nowhere()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def silence_stdout() -> None:
    """The interpreter flushes stdout once more at its end, and would complain then."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def give_up(problem: OSError) -> int:
    """The answer could not be written, as on a full disk: one line on stderr, if that can be written."""
    silence_stdout()
    with contextlib.suppress(OSError):
        sys.stderr.write(f"error: the answer cannot be written: {problem.strerror}\n")
        sys.stderr.flush()
    from evatui.control.exits import Exit

    return Exit.INTERNAL


def _nowhere() -> io.TextIOWrapper:
    return io.TextIOWrapper(io.FileIO(os.devnull, "w"), encoding="utf-8")
