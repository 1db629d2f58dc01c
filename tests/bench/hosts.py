"""What a host call takes: a handler with a hundred of them, less one with none."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from tests.bench.arms import Spread
from tests.bench.calls import Call, sandboxed, timed, whole_way
from tests.bench.payloads import NOOP
from tests.bench.results import Section

__all__ = ["measure"]

_CALLS = 100
_TIMES = 5
_ASKING = f"""
function invoke(ctx, request)
  for _ = 1, {_CALLS} do %s end
  return {{ok = true, result = {{}}}}
end
"""
_NOW, _GET = "ctx.host.now()", 'ctx.host.state_get{key = "n"}'


def _answered(function: str, argument: Any) -> Any:
    return ["2026-01-02T03:04:05.678Z", 1767323045678]


async def _awaited(function: str, argument: Any) -> Any:
    return _answered(function, argument)


async def measure(rounds: int) -> list[Section]:
    note = f"A handler with {_CALLS} host calls less one with none, by the call. The loop is busy with nothing else."
    async with (
        sandboxed(NOOP) as nothing,
        sandboxed(_ASKING % _NOW, _answered) as answered,
        sandboxed(_ASKING % _NOW, _awaited) as awaited,
        whole_way(NOOP) as nothing_at_all,
        whole_way(_ASKING % _NOW) as now,
        whole_way(_ASKING % _GET) as state_get,
    ):
        rows = [
            ("sandbox, a host that answers at once", await _each(nothing, answered, rounds)),
            ("sandbox, a host that is awaited", await _each(nothing, awaited, rounds)),
            ("whole way, `now`", await _each(nothing_at_all, now, rounds)),
            ("whole way, `state_get`", await _each(nothing_at_all, state_get, rounds)),
        ]
    head = ["| host call | µs: median [quartiles] |", "|---|---|"]
    return [Section("A host call", note, [*head, *(f"| {name} | {spread.shown(1e6, 1)} |" for name, spread in rows)])]


async def _each(nothing: Call, asking: Call, rounds: int) -> Spread:
    arms: list[Callable[[], Awaitable[float]]] = [timed(nothing, {}, _TIMES), timed(asking, {}, _TIMES)]
    for run in arms:
        await run()
    taken = []
    for _ in range(rounds):
        without, with_calls = [await run() for run in arms]
        taken.append((with_calls - without) / _CALLS)
    return Spread.of(taken)
