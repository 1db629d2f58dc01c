"""Calls that are cancelled, killed or late at random moments: each is answered, and once."""

from __future__ import annotations

import asyncio
import random
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from evatui.kernel.lua import LoadedProgram, Outcome, Raised, Returned, Verdict
from evatui.kernel.model.errors import ErrorKind
from evatui.kernel.model.manifest import Isolation
from tests.lua.harness import call, program
from tests.lua.placed import placed_engine

__all__ = ["Report", "run_kills"]

_SCRIPT = """
local function work(request)
  local kept = {}
  for i = 1, 40 do
    kept[#kept + 1] = json.encode(request) .. ("x"):rep(i * 50)
    pcall(function() local c <close> = setmetatable({}, {__close = function() kept[#kept] = nil end}) error("x") end)
    coroutine.wrap(function() for n = 1, 20 do coroutine.yield(n) end end)()
  end
  return {request, kept}
end
function compute(ctx, request) return work(request) end
function ask(ctx, request) for i = 1, 20 do ctx.host.call_tool(request) end return work(request) end
function spin() while true do pcall(function() while true do end end) end end
function wait(ctx) pcall(ctx.host.wait, {}) return "caught" end
function grow() local t = {} while true do t[#t + 1] = ("x"):rep(100) .. #t end end
function match(ctx, request) return (("a"):rep(3000)):find(("a*"):rep(12) .. "b") end
function fail(ctx, request) error({kind = "Conflict", message = request.text}) end
function large(ctx, request) local t = {} for i = 1, 5000 do t[i] = {n = i, s = "s" .. i} end return t end
function invoke() return "served" end
"""
_ENTRIES = ("compute", "ask", "spin", "wait", "grow", "match", "fail", "large")
_REQUEST = {"text": "é" * 200, "list": list(range(100)), "deep": {"null": None, "empty": []}}


@dataclass
class Report:
    calls: int
    ends: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)

    def lines(self) -> list[str]:
        ends = ", ".join(f"{end} {n}" for end, n in self.ends.most_common())
        return [f"calls {self.calls}: {ends}", *(f"PROBLEM {problem}" for problem in self.problems)]


async def _host(function: str, argument: Any) -> Any:
    if function == "wait":
        await asyncio.Event().wait()
    await asyncio.sleep(0)
    return argument


async def run_kills(count: int, seed: int = 1, at_once: int = 3, isolation: Isolation = Isolation.IN_PROCESS) -> Report:
    """``count`` calls; each is ended from outside at a random moment, unless it was over before."""
    report, dice, before = Report(count), random.Random(seed), set(threading.enumerate())
    with placed_engine(isolation) as engine:
        fields: dict[str, Any] = {"concurrency": at_once, "memory_bytes": 2 << 20}
        loaded = await engine.load(program(_SCRIPT, host_functions=("call_tool", "wait"), **fields), timeout_s=20)
        alarms = len(engine._watchdog._live)
        left = iter(range(count))

        async def worker() -> None:
            for _ in left:
                await _one(loaded, dice, report)

        await asyncio.gather(*(worker() for _ in range(at_once)))
        if await call(loaded) != Returned("served"):
            report.problems.append("no call is served any more")
        if loaded.in_flight or engine.stuck or len(engine._watchdog._live) != alarms:
            left_over = len(engine._watchdog._live) - alarms
            report.problems.append(f"{loaded.in_flight} in flight, {engine.stuck} stuck, {left_over} alarms more")
        loaded.close()
    if threads := {thread for thread in set(threading.enumerate()) - before if not thread.name.startswith("asyncio_")}:
        report.problems.append(f"threads left: {threads}")
    return report


async def _one(loaded: LoadedProgram, dice: random.Random, report: Report) -> None:
    finished: list[Outcome] = []

    def finish(outcome: Outcome) -> Outcome:
        finished.append(outcome)
        return outcome

    entry, moment = dice.choice(_ENTRIES), dice.random() ** 2 * 0.03
    way = dice.choice(("cancel", "kill", "deadline", "cancel and kill", "cancel twice"))
    seconds = moment if way == "deadline" else 20
    task = asyncio.create_task(call(loaded, _REQUEST, host=_host, entry=entry, seconds=seconds, finish=finish))
    await asyncio.sleep(moment)
    for step in _STEPS[way]:
        step(loaded, task)
        if len(_STEPS[way]) > 1:
            await asyncio.sleep(dice.choice((0, 0.0005)))
    await asyncio.wait([task])
    if task.cancelled():
        report.ends["cancelled"] += 1
    elif error := task.exception():
        report.problems.append(f"{entry}, {way}: raised {error!r}")
    else:
        _judge(entry, way, task.result(), report)
    if len(finished) > 1 or (not finished and not task.cancelled()):
        report.problems.append(f"{entry}, {way}: finished {len(finished)} times")


_STEPS: dict[str, tuple[Callable[[LoadedProgram, asyncio.Task[Any]], object], ...]] = {
    "cancel": (lambda loaded, task: task.cancel(),),
    "kill": (lambda loaded, task: loaded.kill(ErrorKind.CANCELLED),),
    "deadline": (),
    "cancel and kill": (lambda loaded, task: task.cancel(), lambda loaded, task: loaded.kill(ErrorKind.CANCELLED)),
    "cancel twice": (lambda loaded, task: task.cancel(), lambda loaded, task: task.cancel()),
}


def _judge(entry: str, way: str, outcome: Outcome, report: Report) -> None:
    report.ends[outcome.kind.value if isinstance(outcome, Verdict) else type(outcome).__name__] += 1
    expected = {ErrorKind.CANCELLED, ErrorKind.TIMEOUT}
    if entry == "grow":
        expected.add(ErrorKind.MEMORY_EXCEEDED)
    if entry == "compute" and isinstance(outcome, Returned) and outcome.value[0] != _REQUEST:
        report.problems.append("a result holds another request")
    if isinstance(outcome, Verdict) and outcome.kind not in expected:
        report.problems.append(f"{entry}, {way}: {outcome}")
    if isinstance(outcome, Raised) and entry != "fail":
        report.problems.append(f"{entry}, {way}: {outcome}")
