"""Values of every kind through the sandbox and back: none changes its value or its type."""

from __future__ import annotations

import itertools
import math
import random
from dataclasses import dataclass, field
from typing import Any

from evatui.kernel.lua import LoadedProgram, Returned
from evatui.kernel.lua.values import MAX_DEPTH
from evatui.kernel.model.manifest import Isolation
from tests.lua.harness import call, program
from tests.lua.placed import placed_engine

__all__ = ["Report", "differences", "random_tree"]

_SCRIPT = """
function echo(ctx, request) return request end
function rebuild(ctx, request)
  local function copy(value)
    if type(value) ~= "table" or value == json.null then return value end
    if next(value) == nil then return value end
    local t = {}
    for k, v in pairs(value) do t[k] = copy(v) end
    return t
  end
  return copy(request)
end
function through_host(ctx, request) return ctx.host.call_tool(request) end
function through_coroutine(ctx, request)
  return coroutine.wrap(function() local ok, answer = pcall(ctx.host.call_tool, {request}) return answer[1] end)()
end
function keep(ctx, request) kept = {request} return kept[1] end
function invoke() end
"""
_WAYS = ("echo", "rebuild", "through_host", "through_coroutine", "keep")
_INTEGERS = sorted(
    {
        sign * (1 << bits) + near
        for bits in (0, 5, 7, 8, 15, 16, 31, 32, 53, 62, 63)
        for near in (-1, 0, 1)
        for sign in (1, -1)
        if -(1 << 63) <= sign * (1 << bits) + near < 1 << 63
    }
)
_FLOATS = (0.0, -0.0, 1.0, -1.0, 0.1, 1e308, -1e308, 5e-324, 2.0**53, 2.0**63, -(2.0**63), 1e15, 1e16, math.pi)
_LENGTHS = (0, 1, 31, 32, 255, 256, 65_535, 65_536)
_LETTERS = 'a\0\x7f"\\/é\u07ff\u0800\uffff\U0001f600\U0010ffff \n'


@dataclass
class Report:
    trees: int
    problems: list[str] = field(default_factory=list)

    def lines(self) -> list[str]:
        return [
            f"values {self.trees}, differences {len(self.problems)}",
            *(f"PROBLEM {problem}" for problem in self.problems[:20]),
        ]


def _text(dice: random.Random) -> str:
    length = dice.choice(_LENGTHS) if dice.random() < 0.02 else dice.randint(0, 12)
    if dice.random() < 0.5:
        return "x" * length
    return "".join(dice.choices(_LETTERS, k=min(length, 300)))


def _leaf(dice: random.Random) -> Any:
    match dice.randrange(8):
        case 0:
            return None
        case 1:
            return dice.random() < 0.5
        case 2:
            return dice.choice(_INTEGERS)
        case 3:
            return dice.randint(-(1 << 63), (1 << 63) - 1)
        case 4:
            return dice.choice(_FLOATS)
        case 5:
            return dice.uniform(-1e6, 1e6)
        case _:
            return _text(dice)


def random_tree(dice: random.Random) -> Any:
    """A JSON-like value: most are small, some wide, some as deep as values may be."""
    shape = dice.random()
    if shape < 0.03:
        return _deep(dice, dice.choice((63, 64)))
    if shape < 0.06:
        kind = dice.choice((_leaf, lambda d: d.uniform(-1, 1), lambda d: d.choice(_INTEGERS)))
        wide = [kind(dice) for _ in range(dice.choice((15, 16, 17, 33, 300, 2000)))]
        return wide if dice.random() < 0.5 else {f"k{n}": item for n, item in enumerate(wide)}
    if shape < 0.1:
        return [{"id": n, "name": _text(dice), "tags": [] if n % 3 else ["t"], "note": None} for n in range(20)]
    return _branch(dice, dice.randint(0, 5))


def _branch(dice: random.Random, depth: int) -> Any:
    if depth == 0 or dice.random() < 0.2:
        return _leaf(dice)
    size = dice.choice((0, 1, 2, 3, 5, 16, 17)) if depth < 3 else dice.choice((0, 1, 2, 3))
    if dice.random() < 0.5:
        return [_branch(dice, depth - 1) for _ in range(size)]
    return {_text(dice): _branch(dice, depth - 1) for _ in range(size)}


def _deep(dice: random.Random, levels: int) -> Any:
    value: Any = [] if dice.random() < 0.5 else {}
    for _ in range(levels - 1):
        value = [value] if dice.random() < 0.5 else {_text(dice): value}
    return value


def _typed(value: Any) -> Any:
    """Equal only where the types are equal too: 1, 1.0 and True are three things, -0.0 is not 0.0."""
    if type(value) is dict:
        return {key: _typed(item) for key, item in value.items()}
    if type(value) is list:
        return [_typed(item) for item in value]
    return type(value), repr(value)


def _depth(value: Any) -> int:
    if type(value) not in (dict, list):
        return 0
    return 1 + max(map(_depth, value.values() if type(value) is dict else value), default=0)


async def _host(function: str, argument: Any) -> Any:
    return argument


async def differences(count: int, seed: int = 1, isolation: Isolation = Isolation.IN_PROCESS) -> Report:
    """``count`` random values, each through one of the ways that a value can go."""
    report, dice = Report(count), random.Random(seed)
    with placed_engine(isolation) as engine:
        loaded = await engine.load(program(_SCRIPT, memory_bytes=1 << 26, max_output_bytes=1 << 22), timeout_s=20)
        for number, way in zip(range(count), itertools.cycle(_WAYS)):
            value = random_tree(dice)
            if way == "through_coroutine" and _depth(value) == MAX_DEPTH:
                continue  # the list around it makes it too deep
            await _compare(loaded, value, way, number, report)
        loaded.close()
    return report


async def _compare(loaded: LoadedProgram, value: Any, way: str, number: int, report: Report) -> None:
    outcome = await call(loaded, value, entry=way, host=_host)
    if not isinstance(outcome, Returned):
        report.problems.append(f"{number}, {way}: {repr(value)[:200]} ended in {outcome}")
    elif _typed(outcome.value) != _typed(value):
        report.problems.append(f"{number}, {way}: {repr(value)[:200]} came back as {repr(outcome.value)[:200]}")
