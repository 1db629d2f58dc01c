"""Edits under load: save a script again and again while it is called, and count what goes wrong."""

from __future__ import annotations

import asyncio
import gc
import random
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from evatui.runtime import Runtime
from tests.bench.manifests import generate
from tests.soak.gone import Gone
from tests.soak.load import Load
from tests.soak.versions import WAYS, Way, make_workspace

__all__ = ["Report", "edit_under_load", "percentile"]

_SEEN_WITHIN = 10.0
_FREED_WITHIN = 15.0


@dataclass(frozen=True)
class Report:
    """``live`` are seconds from the end of a save to the switch of the table to its version, and ``latencies`` those to
    the end of a call that was made then, which it answers."""

    edits: int
    calls: int
    live: Sequence[float]
    latencies: Sequence[float]
    call_seconds: Sequence[float]
    problems: Sequence[str]
    freed: int
    generations: int

    @property
    def ok(self) -> bool:
        return not self.problems

    def lines(self) -> list[str]:
        live, save, call = self.live or [float("nan")], self.latencies or [float("nan")], self.call_seconds
        return [
            f"edits {self.edits}, calls {self.calls}, old generations freed {self.freed} of {self.generations}",
            f"save to live: p50 {percentile(live, 50) * 1e3:.1f} ms, "
            f"p99 {percentile(live, 99) * 1e3:.1f} ms, max {max(live) * 1e3:.1f} ms",
            f"save to first new answer: p50 {percentile(save, 50) * 1e3:.1f} ms, "
            f"p99 {percentile(save, 99) * 1e3:.1f} ms, max {max(save) * 1e3:.1f} ms",
            f"call: p50 {percentile(call, 50) * 1e3:.2f} ms, p99 {percentile(call, 99) * 1e3:.2f} ms",
            *(f"PROBLEM {problem}" for problem in self.problems),
        ]


def percentile(values: Sequence[float], percent: int) -> float:
    """By nearest rank: one of the values."""
    ordered = sorted(values)
    return ordered[max(0, -(-len(ordered) * percent // 100) - 1)]


async def edit_under_load(
    edits: int = 100, callers: int = 4, rate: float = 60.0, seed: int = 1, beside: int = 0
) -> Report:
    """Saves ``edits`` versions, by rename and in place at random, under ``callers`` × ``rate`` calls a second.

    ``beside`` is the number of capabilities that serve as well, and stay as they are.
    """
    with tempfile.TemporaryDirectory() as folder:
        script = make_workspace(Path(folder) / "workspace")
        generate(Path(folder) / "workspace", beside)
        runtime = await Runtime.open(Path(folder) / "workspace", state_dir=Path(folder) / "state")
        gc.freeze()  # as every program does that serves
        try:
            return await _edit(runtime, script, edits, callers, rate, random.Random(seed))
        finally:
            gc.unfreeze()
            await runtime.close()


async def _edit(runtime: Runtime, script: Path, edits: int, callers: int, rate: float, dice: random.Random) -> Report:
    load, old = Load(runtime), Gone()
    live: list[float] = []
    latencies: list[float] = []
    problems: list[str] = []
    switched = _Switched(runtime)
    tasks = [asyncio.create_task(load.steady(rate)) for _ in range(callers)]
    for version in range(1, edits + 1):
        await asyncio.sleep(dice.uniform(0, 0.02))
        old.watch(runtime.table.active["version"], runtime.table.active["version"].program)
        load.saved = version
        saved = await asyncio.to_thread(_save, dice.choice(WAYS), script, version)
        since = await switched.wait(_SEEN_WITHIN)
        seen = await load.until(version, _SEEN_WITHIN)
        if since is None or seen is None:
            problems.append(f"version {version} was saved and did not answer within {_SEEN_WITHIN:.0f} s")
        else:
            live.append(since - saved)
            latencies.append(seen - saved)
    problems += await _end(tasks)
    tasks.clear()  # or the errors that ended them would hold on to the calls that they ended
    problems += load.problems()
    alive = await old.wait(_FREED_WITHIN)
    if alive:
        problems.append(f"{alive} old generations, or their Lua states, are not freed")
    return Report(edits, load.calls, live, latencies, load.seconds, problems, edits - alive, edits)


class _Switched:
    """When the table was switched to another version; looked at whenever the runtime says that something happened."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._loop = asyncio.get_running_loop()
        self._served = self._serves()
        self._at = 0.0
        self._news = asyncio.Event()
        runtime.on_change(self._changed)

    async def wait(self, within: float) -> float | None:
        """The time of the next switch that nobody has waited for; None where there is none ``within`` so many s."""
        try:
            async with asyncio.timeout(within):
                await self._news.wait()
        except TimeoutError:
            return None
        self._news.clear()
        return self._at

    def _changed(self) -> None:
        if self._serves() != self._served:  # from any thread, but a switch is told on the loop
            self._served, self._at = self._serves(), time.perf_counter()
            self._loop.call_soon_threadsafe(self._news.set)

    def _serves(self) -> str | None:
        serving = self._runtime.table.active.get("version")
        return serving.name.id if serving is not None else None


async def _end(tasks: Sequence[asyncio.Task[None]]) -> list[str]:
    """Ends the callers; one that had ended by itself is a problem."""
    for task in tasks:
        task.cancel()
    ended = await asyncio.gather(*tasks, return_exceptions=True)
    return [f"a caller ended with {end!r}" for end in ended if not isinstance(end, asyncio.CancelledError)]


def _save(way: Way, script: Path, version: int) -> float:
    way(script, version)
    return time.perf_counter()
