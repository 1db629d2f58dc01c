"""States filled to their memory limit, and killed at random moments.

What goes wrong here ends the whole process, so it runs in one of its own: ``python -m tests.soak.crash``.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evatui.kernel.lua import Engine, LoadedProgram, LoadFailed, Verdict
from evatui.kernel.model.errors import ErrorKind
from evatui.kernel.model.manifest import Isolation
from tests.lua.harness import call, program
from tests.lua.placed import placed_engine

__all__ = ["Report", "run_crash_campaign"]

_SCRIPT = """
kept = {}
function fill(ctx, request)
  while true do kept[#kept + 1] = ("x"):rep(request.n or 100) .. #kept end
end
function fill_some(ctx, request)
  for i = 1, request.n or 100 do kept[#kept + 1] = {i, tostring(i)} end
  return #kept
end
function echo(ctx, request) return request end
function keep(ctx, request) kept[#kept + 1] = request return {kept = #kept, all = request} end
function ask(ctx, request) local t = {} for i = 1, 50 do t[i] = ctx.host.call_tool(request) end return t end
function ask_in_coroutine(ctx, request)
  return coroutine.wrap(function() local ok, e = pcall(ctx.host.call_tool, request) kept[#kept + 1] = e return e end)()
end
function double(ctx, request) local s = "x" while true do s = s .. s end end
function raise(ctx, request) error({message = ("m"):rep(request.n or 1000), kind = "K", all = request}) end
function deep() local function f(n) return 1 + f(n + 1) end return f(1) end
function spin() while true do pcall(function() while true do kept = {} end end) end end
function encode(ctx, request) local s = json.encode(request) while true do s = json.encode({s, s}) end end
function close_all(ctx, request)
  local function f(n)
    local c <close> = setmetatable({}, {__close = function(_, e) kept[#kept + 1] = tostring(e) end})
    return f(n + 1) + n
  end
  return f(1)
end
function substitute(ctx, request) return (("a"):rep(5000):gsub("a", function(c) return c:rep(200) end)) end
function invoke() return #kept end
"""
_ENTRIES = (
    *("fill", "fill_some", "echo", "keep", "ask", "ask_in_coroutine", "double", "raise", "deep", "spin"),
    *("encode", "close_all", "substitute", "invoke"),
)


@dataclass(frozen=True)
class Report:
    calls: int
    killed: int
    ends: dict[str, int]
    exit_code: int
    said: str

    @property
    def ok(self) -> bool:
        return self.exit_code == 0

    def lines(self) -> list[str]:
        ends = ", ".join(f"{end} {n}" for end, n in self.ends.items())
        return [
            f"calls {self.calls}, killed {self.killed}: {ends}",
            *([] if self.ok else [f"PROBLEM exit code {self.exit_code}: {self.said}"]),
        ]


def run_crash_campaign(calls: int, seed: int = 1, isolation: Isolation = Isolation.IN_PROCESS) -> Report:
    """Runs it in a child process and reads its exit code."""
    command = [sys.executable, "-m", "tests.soak.crash", "--calls", str(calls), "--seed", str(seed)]
    command += ["--isolation", isolation]
    done = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parents[2], check=False)
    if done.returncode:
        return Report(0, 0, {}, done.returncode, done.stderr[-2000:])
    said = json.loads(done.stdout)
    return Report(said["calls"], said["killed"], said["ends"], 0, "")


def _payload(dice: random.Random) -> Any:
    size = dice.choice((0, 10, 1000, 60_000))
    shapes: tuple[Any, ...] = (
        {"n": size, "text": "é" * (size // 2)},
        {"n": dice.randint(1, 5000), "list": [dice.random() for _ in range(size // 20)]},
        {"n": 7, "rows": [{"id": i, "tags": [], "note": None} for i in range(size // 60)]},
        {"n": 50_000},
    )
    return dice.choice(shapes)


async def _campaign(engine: Engine, calls: int, dice: random.Random) -> dict[str, Any]:
    ends, killed, left = Counter[str](), 0, iter(range(calls))

    async def host(function: str, argument: Any) -> Any:
        if dice.random() < 0.3:
            await asyncio.sleep(0)
        return _payload(dice)

    async def one(loaded: LoadedProgram) -> None:
        nonlocal killed
        task = asyncio.create_task(
            call(loaded, _payload(dice), entry=dice.choice(_ENTRIES), host=host, seconds=dice.choice((0.02, 0.05, 0.2)))
        )
        if dice.random() < 0.5:
            await asyncio.sleep(dice.random() * 0.02)
            killed += loaded.kill(ErrorKind.CANCELLED)
        outcome = await task
        ends[outcome.kind.value if isinstance(outcome, Verdict) else type(outcome).__name__] += 1

    async def worker() -> None:
        while True:
            memory = dice.choice((256, 384, 512, 1024, 2048, 4096)) << 10
            try:
                loaded = await engine.load(program(_SCRIPT, memory_bytes=memory), timeout_s=5)
            except LoadFailed as failed:
                ends[f"not loaded, {failed.kind.value}"] += 1
                continue
            for _ in range(12):
                if next(left, None) is None:
                    return loaded.close()
                await one(loaded)
            loaded.close()

    await asyncio.gather(*(worker() for _ in range(3)))
    assert engine.stuck == 0
    return {"calls": ends.total(), "killed": killed, "ends": dict(ends.most_common())}


def main() -> None:
    options = argparse.ArgumentParser(prog="python -m tests.soak.crash", description=__doc__)
    options.add_argument("--calls", type=int, default=10_000)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--isolation", type=Isolation, default=Isolation.IN_PROCESS)
    given = options.parse_args()
    with placed_engine(given.isolation) as engine:
        print(json.dumps(asyncio.run(_campaign(engine, given.calls, random.Random(given.seed)))))


if __name__ == "__main__":
    main()
