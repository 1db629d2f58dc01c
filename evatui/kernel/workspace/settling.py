"""When what was read of some files counts: never half of a save, never half of the old and half of the new."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol, TypeVar

from evatui.kernel.workspace.found import FileProblem, ProblemKind, SourceFile, touched_ns

__all__ = ["PATIENCE_S", "Look", "Source", "quiet_time", "settle"]

PATIENCE_S = 0.250

_AGAIN_S = 0.005
_FEWEST_LOOKS = 3
_YOUNG_NS = 20_000_000
_ABSENCE_S = 0.030
_EMPTY_S = 0.150
_WRITTEN_S = 0.150

Source = SourceFile | FileProblem


class Look(Protocol):
    """What one pass over the files gave."""

    def fingerprint(self) -> object:
        """Equal where two passes found the same."""


L = TypeVar("L", bound=Look)


def settle(read: Callable[[], L], rests: Callable[[L, float], bool]) -> tuple[L, bool]:
    """Reads again and again, 5 ms apart, until what was read ``rests`` after so many seconds without a change.

    Blocks for at most about 0.25 s; False where it did not come to rest by then. A machine that is too busy to read
    that fast looks a few times all the same: that nothing was seen to rest does not mean that something changed.
    """
    looks = 0
    started = time.monotonic()
    current = read()
    since, unchanged_s = time.monotonic(), 0.0
    while not rests(current, unchanged_s):
        if looks >= _FEWEST_LOOKS and time.monotonic() - started > PATIENCE_S:
            return current, False
        looks += 1
        time.sleep(_AGAIN_S)
        begun = time.monotonic()
        previous, current = current, read()
        if current.fingerprint() == previous.fingerprint():
            unchanged_s = begun - since  # between two looks: a thread that had to wait for a core saw nothing
        else:
            since, unchanged_s = time.monotonic(), 0.0
    return current, True


def quiet_time(source: Source, read_ns: int) -> float:
    """How long a file that was read at ``read_ns`` must stay as it is, in seconds, before it counts.

    A missing or an empty file may be a save that has removed or truncated the old one already.
    Between truncating and writing, a busy disk takes its time; nothing empty is of use, so it can wait. So can what
    its writer has not closed: it may be without a core between two writes.
    """
    if isinstance(source, FileProblem):
        return _ABSENCE_S if source.kind is ProblemKind.MISSING else 0.0
    age_ns = read_ns - touched_ns(source.signature)
    if not source.data:
        return _EMPTY_S if age_ns < _EMPTY_S * 1e9 else 0.0
    if source.written:
        return _WRITTEN_S
    return _AGAIN_S if age_ns < _YOUNG_NS else 0.0
