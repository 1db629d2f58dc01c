"""Generations that are loaded, called and freed: nothing of them stays."""

from __future__ import annotations

import asyncio
import gc
import os
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from evatui.kernel.lua import Engine, Returned
from evatui.kernel.model.call import Actor, CallerType, CallRequest
from evatui.kernel.model.manifest import Isolation
from evatui.runtime import Runtime
from tests.lua.harness import call, program
from tests.lua.placed import placed_engine
from tests.soak.gone import Gone
from tests.soak.versions import CAPABILITY, make_workspace, save_by_rename

__all__ = ["Report", "reload_and_free", "run_generations"]

_SCRIPT = """
local helper = require("helper")
local VERSION = {version}
local Class = {{}} Class.__index = Class
cache = {{}}
function invoke(ctx, request)
  for i = 1, 200 do cache[i] = setmetatable({{i, ("x"):rep(i)}}, Class) end
  local answer = ctx.host.call_tool({{n = VERSION, text = request.text}})
  local co = coroutine.wrap(function() coroutine.yield(answer) end)
  return {{version = VERSION, answer = co(), helped = helper.double(VERSION)}}
end
"""
_HELPER = program("return {double = function(n) return n * 2 end}").script
_FREED_WITHIN_S = 15.0


@dataclass
class Report:
    """``resident`` are bytes, measured at even distances from the end of the warm-up on."""

    generations: int
    resident: list[int] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    @property
    def growth(self) -> int:
        """From the mean of the first quarter to the mean of the last, in bytes."""
        part = max(1, len(self.resident) // 4)
        first, last = self.resident[:part], self.resident[-part:]
        return round(sum(last) / len(last) - sum(first) / len(first)) if self.resident else 0

    def lines(self) -> Sequence[str]:
        return [
            f"generations {self.generations}, resident memory grew by {self.growth / 1e6:.2f} MB after the warm-up",
            *(f"PROBLEM {problem}" for problem in self.problems),
        ]


@dataclass(frozen=True)
class _Held:
    """What a process holds that only closing gives back."""

    threads: frozenset[str]
    descriptors: int

    @classmethod
    def now(cls) -> _Held:
        named = (thread.name for thread in threading.enumerate())
        threads = frozenset(name for name in named if not name.startswith("asyncio_"))  # the loop's own, for good
        return cls(threads, len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0)


async def _host(function: str, argument: Any) -> Any:
    await asyncio.sleep(0)
    return argument


async def run_generations(count: int, warm_up: int = 100, isolation: Isolation = Isolation.IN_PROCESS) -> Report:
    """Each generation has a script of its own, two states, and is called four times."""
    report, before, others = Report(count), _Held.now(), len(psutil.Process().children(recursive=True))
    with placed_engine(isolation) as engine:
        gone, alarms = Gone(), len(engine._watchdog._live)
        for version in range(count):
            await _generation(engine, version, gone, report)
            if version >= warm_up and version % 10 == 0:
                report.resident.append(psutil.Process().memory_info().rss)
        if alive := await gone.wait(_FREED_WITHIN_S):
            report.problems.append(f"{alive} generations are not freed")
        if len(engine._watchdog._live) != alarms:
            report.problems.append(f"{len(engine._watchdog._live) - alarms} timers are left")
        if more := await _processes_beyond(others + (isolation is Isolation.PROCESS)):
            report.problems.append(f"{more} processes are left")
    _compare(before, report)
    return report


async def _processes_beyond(number: int) -> int:
    """How many processes this one has below it beyond ``number``, once those that end have had the time for it."""
    patience = time.monotonic() + _FREED_WITHIN_S
    while (count := len(psutil.Process().children(recursive=True))) > number and time.monotonic() < patience:
        await asyncio.sleep(0.01)
    return max(0, count - number)


async def _generation(engine: Engine, version: int, gone: Gone, report: Report) -> None:
    source = _SCRIPT.format(version=version)
    loaded = await engine.load(program(source, modules={"helper": _HELPER}, concurrency=2), timeout_s=20)
    gone.watch(loaded)
    answers = await asyncio.gather(*(call(loaded, {"text": "é" * 500}, host=_host) for _ in range(4)))
    expected = {"version": version, "answer": {"n": version, "text": "é" * 500}, "helped": version * 2}
    if answers != [Returned(expected)] * 4:
        report.problems.append(f"generation {version} answered {answers}")
    loaded.close()


async def reload_and_free(count: int) -> Report:
    """The same through a workspace: each version is saved, reloaded and called."""
    with tempfile.TemporaryDirectory() as folder:
        script = make_workspace(Path(folder) / "workspace")
        before = _Held.now()
        runtime = await Runtime.open(Path(folder) / "workspace", state_dir=Path(folder) / "state")
        report, gone = Report(count), Gone()
        caller = Actor(CallerType.USER, "soak")
        for version in range(1, count + 1):
            old = runtime.table.active["version"]
            gone.watch(old, old.program)
            del old
            save_by_rename(script, version)
            await runtime.reloader.run(actor=caller, explicit=True)
            answer = await runtime.call(CallRequest(CAPABILITY, {"n": version}, caller))
            if answer.response.result != {"head": version, "tail": version, "n": version}:
                report.problems.append(f"version {version} answered {answer.response}")
        if alive := await gone.wait(_FREED_WITHIN_S):
            report.problems.append(f"{alive} generations are not freed")
        await runtime.close()
        del runtime
        _compare(before, report)
        return report


def _compare(before: _Held, report: Report) -> None:
    gc.collect()
    after = _Held.now()
    if more := after.threads - before.threads:
        report.problems.append(f"threads left: {sorted(more)}")
    if after.descriptors > before.descriptors:
        report.problems.append(f"{after.descriptors - before.descriptors} descriptors left")
