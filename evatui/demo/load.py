"""The load of the tour: callers that never stop asking, each for the next answer once it has the last one."""

from __future__ import annotations

import asyncio
import time
from itertools import count

from evatui.control.failing import CommandFailed
from evatui.control.operator import Operator
from evatui.demo.edits import TESTER
from evatui.demo.tally import Tally

__all__ = ["Load"]

_CALLERS = 4
_PAUSE_S = 1 / 60
"""Of a caller between two calls: four of them come to some 200 calls a second."""
_TOPICS = ("Weather / Radar", "Repo//Changed/")
_TESTED = 5
"""Every so many calls one is the tester's."""


class Load:
    """Calls by itself from `start` to `close`, or in ``steps``: then only as many, and in order, as `more` asks for."""

    def __init__(self, operator: Operator, *, steps: bool = False) -> None:
        self.tally = Tally()
        self.steps = steps
        self._operator = operator
        self._numbers = count()
        self._callers: list[asyncio.Task[None]] = []

    def start(self) -> None:
        if not self.steps:
            self._callers = [asyncio.create_task(self._calls()) for _ in range(_CALLERS)]

    async def more(self, calls: int) -> None:
        """Returns once so many more calls have ended."""
        if self.steps:
            for _ in range(calls):
                await self._call()
            return
        enough = self.tally.calls + calls
        while self.tally.calls < enough:  # noqa: ASYNC110 -- it is looked at as often as it can change
            await asyncio.sleep(_PAUSE_S)

    def close(self) -> None:
        """Nobody waits any more for the calls that are under way; the runtime lets them end."""
        for caller in self._callers:
            caller.cancel()

    async def _calls(self) -> None:
        while True:
            await self._call()
            await asyncio.sleep(_PAUSE_S)

    async def _call(self) -> None:
        number = next(self._numbers)
        payload = {"topic": _TOPICS[number // _TESTED % len(_TOPICS)]}
        user = TESTER if number % _TESTED == 0 else None
        try:
            answer = await self._operator.run("capability.call", name="topic.normalize", payload=payload, user=user)
        except CommandFailed:
            self.tally.unanswered(time.monotonic())
        else:
            self.tally.answered(answer, time.monotonic(), tester=user is not None)
