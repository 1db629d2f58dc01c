"""Before a command is at work: what the bare words tell, and ctrl+c, which then ends it in one line.

Most of that time modules are imported, and an import that is broken off cannot be taken up again.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Sequence
from itertools import pairwise

__all__ = ["at_work", "interrupted", "until_at_work", "wants_json"]

_CANCELLED = 5
_OBJECT = (
    b'{"ok":false,"command":"","exit_code":5,"data":null,"error":'
    b'{"kind":"Cancelled","message":"interrupted","retryable":false,"suggestion":"","context":{}}}\n'
)


def wants_json(arguments: Sequence[str]) -> bool:
    """Was JSON asked for? Told from the bare words, for when they cannot be parsed."""
    words = [*arguments, ""]
    joined = any(word in {"-ojson", "-o=json", "--output=json"} for word in words)
    return joined or any(pair in {("-o", "json"), ("--output", "json")} for pair in pairwise(words))


def until_at_work() -> None:
    """From now on ctrl+c ends the process: nothing has begun that would have to be cleaned up. In the main thread.

    Where it is ignored, as in the background of a script, it stays so.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _end)


def at_work() -> None:
    """From now on ctrl+c is `KeyboardInterrupt`, where it was not so all the while."""
    if signal.getsignal(signal.SIGINT) is _end:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def interrupted() -> int:
    """Says so on stderr, as far as that can be said; the exit code."""
    with contextlib.suppress(OSError):
        os.write(2, b"error: interrupted\n")
    return _CANCELLED


def _end(number: int, frame: object) -> None:
    if not wants_json(sys.argv[1:]):
        os._exit(interrupted())
    with contextlib.suppress(OSError):
        os.write(1, _OBJECT)
    os._exit(_CANCELLED)
