"""Calls to all of them, each of which is judged and counted."""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import count
from typing import TypeVar

from evatui.kernel.model.call import Actor, CallerType, CallRequest
from evatui.kernel.model.errors import ErrorKind
from evatui.runtime import Runtime
from tests.soak.churn.ledger import Expected, Once
from tests.soak.churn.many import Files
from tests.soak.churn.report import Report

__all__ = ["OFF", "WHO", "WITHIN_S", "Callers"]

WHO = Actor(CallerType.USER, "soak")
OFF = (ErrorKind.NOT_FOUND, ErrorKind.UNAVAILABLE)
"""How a call ends before its handler begins, where nothing serves."""
WITHIN_S = 60.0
_CALLS_A_RELOAD = 200
"""Room for as many is made: a run with more would tell so by an IndexError."""
_LONG = 400
"""Host calls of a long call, which takes some 20 ms."""

T = TypeVar("T")


class Callers:
    """``expected`` by capability id, for whoever changes what is to be expected."""

    def __init__(self, runtime: Runtime, every: Sequence[Files], report: Report, dice: random.Random) -> None:
        self.expected = {files.id: Expected(files.id, files.version) for files in every}
        self._runtime = runtime
        self._report = report
        self._dice = dice
        self._ids = sorted(self.expected)
        self._numbers = count()
        self._answered = bytearray(report.wanted * _CALLS_A_RELOAD)
        self._once = Once(report.wanted * _CALLS_A_RELOAD)
        self._kept = Counter[tuple[str, str]]()
        self._tasks: list[asyncio.Task[None]] = []

    def start(self, number: int) -> None:
        told, recorded = self._runtime.bus.on_emit, self._runtime.audit.on_append
        assert told is not None
        assert recorded is not None
        self._runtime.bus.on_emit = _both(self._once.told, told)
        self._runtime.audit.on_append = _both(self._once.recorded, recorded)
        self._tasks = [asyncio.create_task(self._keep_calling(f"caller{one}")) for one in range(number)]

    async def end(self) -> None:
        """A caller that had ended by itself is a problem."""
        for task in self._tasks:
            task.cancel()
        for end in await asyncio.gather(*self._tasks, return_exceptions=True):
            if not isinstance(end, asyncio.CancelledError):
                self._report.problems.append(f"a caller ended with {end!r}")
        self._tasks.clear()

    async def _keep_calling(self, name: str) -> None:
        """One call after the other until cancelled; the one under way is let go to its end."""
        while True:
            call = asyncio.ensure_future(self.call(self._dice.choice(self._ids), name))
            try:
                await asyncio.shield(call)
            except asyncio.CancelledError:
                await call
                raise
            await asyncio.sleep(self._dice.uniform(0, 0.05))

    async def call(self, capability_id: str, name: str = "") -> int | None:
        """The version that answered; with a ``name``, the call may store under it how often it did."""
        number, expected = next(self._numbers), self.expected[capability_id]
        payload: dict[str, object] = {"n": number, "steps": _LONG if self._dice.random() < 0.03 else 2}
        if name and self._dice.random() < 0.05:
            payload["key"] = name
        began = expected.begin()
        asked = CallRequest(f"soak.{capability_id}", payload, WHO, request_id=f"req_{number}")
        report = await self._runtime.call(asked)
        version = expected.judge(report, number, began)
        error = report.response.error
        self._answered[number] = error is None
        self._report.ended[error.kind.value if error else "answered"] += 1
        if error is not None and error.kind is ErrorKind.INTERNAL:
            self._report.internal[error.message] += 1
        if "key" in payload and (error is None or error.kind not in OFF):
            self._kept[capability_id, "surely" if error is None else "perhaps"] += 1
        return version

    async def until(self, capability_id: str, version: int | None) -> bool:
        """Calls until ``version`` answers, None until nothing does."""
        give_up = time.monotonic() + WITHIN_S
        while await self.call(capability_id) != version:
            refused = self._runtime.registry.capabilities[capability_id].rejection
            if time.monotonic() > give_up:
                self._report.problems.append(f"{capability_id}: version {version} did not answer; {refused}")
                return False
            if refused is not None and "worker process" in refused.diagnostics[0].message:
                self._report.did["killed while it loaded"] += 1
                await self._runtime.reloader.run(actor=WHO, explicit=True, ids=(capability_id,))
            await asyncio.sleep(0.005)
        return True

    def reckon(self) -> None:
        report = self._report
        report.calls = next(self._numbers)
        report.problems += [problem for expected in self.expected.values() for problem in expected.problems]
        answered = [number for number in range(report.calls) if self._answered[number]]
        others = [number for number in range(report.calls) if not self._answered[number]]
        report.problems += self._once.problems(answered, others)
        report.cut.update(self._once.cut)
        if report.ended["Cancelled"] > report.cut.total():
            report.problems.append(f"{report.ended['Cancelled']} calls were cut, {report.cut.total()} are told of")
        if self._runtime.calls.flights:
            report.problems.append(f"{len(self._runtime.calls.flights)} calls are in flight still")
        for capability_id in self._ids:
            self._count_kept(capability_id)

    def _count_kept(self, capability_id: str) -> None:
        """What the calls stored is what they counted: none was run twice, and none was lost behind its answer."""
        stored = sum(row.value for row in self._runtime.state.rows(capability_id, 1))
        least = self._kept[capability_id, "surely"]
        if not least <= stored <= least + self._kept[capability_id, "perhaps"]:
            self._report.problems.append(f"{capability_id}: {stored} stored, {least} counted")


def _both(first: Callable[[T], object], second: Callable[[T], object]) -> Callable[[T], None]:
    def tell(what: T) -> None:
        first(what)
        second(what)

    return tell
