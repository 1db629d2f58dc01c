"""New versions are on probation: where the runtime dies twice in a row while one is new, it does not serve again.

A crash is more than calls that fail: nothing is left that could count it. So it is written down, before a version
serves, that it is new, and taken back once it has served for a while, or the runtime has ended in good order.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from evatui.kernel.model.call import KERNEL
from evatui.kernel.model.clock import Clock, rfc3339
from evatui.kernel.model.diagnostic import Reason
from evatui.kernel.storage.database import StorageError
from evatui.kernel.storage.history import History, Quarantine
from evatui.kernel.storage.probation_book import DEATHS, Probation, ProbationBook

__all__ = ["Probations"]


@dataclass(slots=True, eq=False)
class _Mark:
    """``ran``: it was seen to be in service since."""

    digest: str
    due: float
    ran: bool = False


class Probations:
    """A version with none before it, in whose place nothing could serve, is on probation only where it came while
    others served: those can then serve without it.

    Times are on the monotonic clock. `load`, `enters`, `ended` are blocking and may raise `StorageError`: for worker
    threads.
    """

    def __init__(self, book: ProbationBook, history: History, clock: Clock) -> None:
        self._book = book
        self._history = history
        self._clock = clock
        self._marks: dict[str, _Mark] = {}
        self._writing = threading.Lock()
        """The marks and the book change together."""

    def load(self) -> list[Probation]:
        """At a start, before anything serves: those that two runtimes died of go into quarantine, and are returned."""
        known = self._book.read()
        guilty = [one for one in known if one.deaths >= DEATHS]
        at = rfc3339(self._clock.now())
        for one in guilty:
            row = Quarantine(one.capability_id, one.digest, one.generation, Reason.QUARANTINED, KERNEL.type.value, at)
            self._history.quarantine(one.capability_id, [row], [])
        self._book.end([(one.capability_id, one.digest) for one in guilty])
        self._marks = {one.capability_id: _Mark(one.digest, float("inf")) for one in known if one not in guilty}
        return guilty

    def enters(self, capability_id: str, digest: str, number: int, window_s: float, *, new: bool) -> None:
        """It is about to go into service. ``new``: it never served alone, and others could serve without it."""
        with self._writing:
            mark = self._marks.get(capability_id)
            if new or (mark is not None and mark.digest == digest):
                self._book.begin(capability_id, digest, number)
                self._marks[capability_id] = _Mark(digest, self._clock.monotonic() + window_s)
            elif mark is not None:
                self._book.end([(capability_id, mark.digest)])
                self._marks.pop(capability_id, None)

    async def look(self, runs: Callable[[str, str], bool]) -> None:
        """Whoever has served for its time has proved itself; who left before, and is no more where it ``runs``, by id
        and digest, is not to blame for what happens from now on."""
        now, over = self._clock.monotonic(), {}
        for key, mark in self._marks.copy().items():  # other threads let versions enter
            in_service = runs(key, mark.digest)
            if mark.due <= now or (mark.ran and not in_service):
                over[key] = mark
            mark.ran |= in_service
        if over:
            await asyncio.to_thread(self._end, over)

    def _end(self, over: Mapping[str, _Mark]) -> None:
        with self._writing:
            over = {key: mark for key, mark in over.items() if self._marks.get(key) is mark}
            self._book.end([(key, mark.digest) for key, mark in over.items()])
            for key in over:
                del self._marks[key]

    def ended(self) -> None:
        """The runtime ends in good order; where that cannot be written, it ends all the same."""
        if self._marks:
            with contextlib.suppress(StorageError):
                self._book.rest()
