"""Handlers made by chance: whatever they do, each call ends in time and shows nothing of the host."""

from __future__ import annotations

import asyncio
import os
import re
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evatui.kernel.lua import Engine, LoadedProgram, LoadFailed, Outcome, Raised, Returned, Verdict
from evatui.kernel.model.errors import ErrorKind, failure
from evatui.kernel.model.manifest import Isolation
from tests.lua.grammar import garbage, hostile
from tests.lua.harness import call, program
from tests.lua.placed import placed_engine
from tests.soak.reload import percentile

__all__ = ["Report", "run_garbage"]

_SECRET = "canary-1f6c0a93"
_SHOWN = re.compile(
    "|".join(
        [
            _SECRET,
            *(re.escape(str(path)) for path in (Path.home(), sys.prefix, Path(__file__).parents[2], os.getcwd())),
            *("Traceback", "site-packages", r"\.py\b", r"\[evatui\]", "(?:table|function|thread|userdata): 0x"),
        ]
    )
)
_ALLOWED = {"nil", "boolean", "number", "string", "table", "function", "thread"}

# Walks over all that the handler can get hold of, after it has run.
_WALK = """
function look()
  local types, strange, seen, left = {}, {}, {}, 5000
  local function visit(value)
    left = left - 1
    local kind = type(value)
    types[kind] = true
    if kind == "string" and value:find("%s", 1, true) then strange[#strange + 1] = "the secret" end
    if kind ~= "table" or seen[value] or left < 0 then return end
    seen[value] = true
    for k, v in next, value do visit(k) visit(v) end
    visit(getmetatable(value))
  end
  visit(_G) visit(getmetatable("")) visit(string) visit(kept)
  return {types = types, strange = strange}
end
"""


@dataclass
class Report:
    """``late`` are the seconds from each deadline that was passed to the end of its call."""

    programs: int
    ends: Counter[str] = field(default_factory=Counter)
    late: list[float] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def lines(self) -> list[str]:
        late: Sequence[float] = self.late or [0.0]
        return [
            f"programs {self.programs}: " + ", ".join(f"{end} {n}" for end, n in self.ends.most_common()),
            f"past the deadline, of {len(self.late)} that met it: p50 {percentile(late, 50) * 1e3:.1f} ms, "
            f"p99 {percentile(late, 99) * 1e3:.1f} ms, max {max(late) * 1e3:.1f} ms",
            *(f"PROBLEM {problem}" for problem in self.problems),
        ]


async def _host(function: str, argument: Any) -> Any:
    await asyncio.sleep(0)
    if function == "fs_read_text":
        raise failure(ErrorKind.POLICY_DENIED, "not granted")
    return ["2026-01-01T00:00:00Z", 1] if function == "now" else argument


async def run_garbage(
    count: int,
    seed: int = 1,
    seconds: float = 0.3,
    at_once: int = 2,
    isolation: Isolation = Isolation.IN_PROCESS,
) -> Report:
    """Calls ``count`` programs, each once, with 16 MiB and ``seconds`` to run."""
    report = Report(count)
    os.environ["EVATUI_CANARY"] = _SECRET
    try:
        with placed_engine(isolation) as engine:
            other = await engine.load(program(f"secret = '{_SECRET}' function invoke() return 1 end"), timeout_s=20)
            numbers = iter(range(seed, seed + count))
            await asyncio.gather(*(_worker(engine, numbers, seconds, report) for _ in range(at_once)))
            if await call(other) != Returned(1):
                report.problems.append("another program was harmed")
            if engine.stuck:
                report.problems.append(f"{engine.stuck} threads are stuck")
    finally:
        del os.environ["EVATUI_CANARY"]
    return report


async def _worker(engine: Engine, numbers: Any, seconds: float, report: Report) -> None:
    for number in numbers:
        body = garbage(number) if number % 8 == 0 else hostile(number)
        source = f"function invoke(ctx, request)\n{body}\nend\n{_WALK.replace('%s', _SECRET)}"
        try:
            loaded = await engine.load(program(source.encode("utf-8", "surrogatepass")), timeout_s=5)
        except LoadFailed as failed:
            report.ends["not loaded"] += 1
            _inspect(report, number, failed.message)
            continue
        try:
            await _one(loaded, number, seconds, report)
        finally:
            loaded.close()


async def _one(loaded: LoadedProgram, number: int, seconds: float, report: Report) -> None:
    finished: list[Outcome] = []

    def finish(outcome: Outcome) -> Outcome:
        finished.append(outcome)
        return outcome

    deadline = time.monotonic() + seconds
    request = {"payload": {"n": 1, "s": "x"}, "list": [1, None, {}]}
    outcome = await call(loaded, request, host=_host, host_calls=500, seconds=seconds, finish=finish)
    past = time.monotonic() - deadline
    if past > 0:
        report.late.append(past)
    report.ends[outcome.kind.value if isinstance(outcome, Verdict) else type(outcome).__name__] += 1
    _inspect(report, number, outcome)
    if len(finished) != 1 or loaded.in_flight:
        report.problems.append(f"{number}: finished {len(finished)} times, {loaded.in_flight} in flight")
    if not isinstance(outcome, Verdict):
        await _look(loaded, number, report)


async def _look(loaded: LoadedProgram, number: int, report: Report) -> None:
    seen = await call(loaded, host=_host, entry="look", seconds=5)
    _inspect(report, number, seen)
    if isinstance(seen, Returned) and isinstance(seen.value, dict):
        if (types := set(seen.value["types"])) - _ALLOWED:
            report.problems.append(f"{number}: reached values of the types {types}")
        if isinstance(seen.value["strange"], list):
            report.problems.append(f"{number}: reached {seen.value['strange']}")
    elif not isinstance(seen, (Raised, Verdict)):  # what it needs may have been taken away
        report.problems.append(f"{number}: looked and found {seen}")


def _inspect(report: Report, number: int, outcome: object) -> None:
    if found := _SHOWN.search(repr(outcome)):
        report.problems.append(f"{number}: shows {found[0]!r}: {repr(outcome)[:300]}")
    if isinstance(outcome, Verdict) and outcome.kind is ErrorKind.INTERNAL:
        report.problems.append(f"{number}: {outcome}")
