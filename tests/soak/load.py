"""A steady load of calls that judges every answer."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from dataclasses import dataclass, field

from evatui.kernel.model.call import Actor, CallerType, CallReport, CallRequest
from evatui.runtime import Runtime
from tests.soak.versions import CAPABILITY

__all__ = ["Load"]

_CALLER = Actor(CallerType.USER, "soak")


@dataclass
class Load:
    """Calls `CAPABILITY` and counts. ``saved`` is the newest version on disk, kept by whoever saves.

    An answer is *wrong* if it answers another call, comes from a version older than one that had
    answered before the call began, or from one not yet saved; *mixed* if it holds two versions, or
    if one generation answers as two versions.
    """

    runtime: Runtime
    saved: int = 0
    calls: int = 0
    failed: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    mixed: list[str] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    confirmed: int = 0
    _version_of: dict[str, int] = field(default_factory=dict)

    async def call(self) -> int | None:
        """One call. Returns the version that answered, or None where the call failed."""
        self.calls += 1
        number, at_least = self.calls, self.confirmed
        began = time.perf_counter()
        report = await self.runtime.call(CallRequest(CAPABILITY, {"n": number}, _CALLER))
        self.seconds.append(time.perf_counter() - began)
        if report.response.error is not None:
            self.failed[f"{report.response.error.kind}: {report.response.error.message}"] += 1
            return None
        return self._judge(report, number, at_least)

    def _judge(self, report: CallReport, number: int, at_least: int) -> int:
        result = report.response.result
        version: int = result["head"]
        if result["n"] != number:
            self.wrong.append(f"call {number} was answered as call {result['n']}")
        if not at_least <= version <= self.saved:
            self.wrong.append(f"version {version} answered, expected {at_least} to {self.saved}")
        known = self._version_of.setdefault(str(report.generation), version)
        if result["tail"] != version or known != version:
            self.mixed.append(f"{report.generation}: head {version}, tail {result['tail']}, before {known}")
        self.confirmed = max(self.confirmed, version)
        return version

    def problems(self) -> list[str]:
        return [
            *(f"{count} calls failed: {what}" for what, count in self.failed.items()),
            *(f"wrong: {what}" for what in self.wrong),
            *(f"mixed: {what}" for what in self.mixed),
        ]

    async def steady(self, rate: float) -> None:
        """Calls ``rate`` times a second until cancelled, one after the other."""
        while True:
            began = time.perf_counter()
            await self.call()
            await asyncio.sleep(max(0.0, 1 / rate - (time.perf_counter() - began)))

    async def until(self, version: int, within: float) -> float | None:
        """Calls without a pause until ``version`` answers, for at most ``within`` seconds.

        Returns the time of that answer, or None.
        """
        give_up = time.perf_counter() + within
        while time.perf_counter() < give_up:
            if await self.call() == version:
                return time.perf_counter()
        return None
