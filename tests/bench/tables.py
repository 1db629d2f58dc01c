"""What it takes to build the table of the next moment, by the number of capabilities that serve."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import Any, cast

from evatui.kernel.model.manifest import Kind, LuaSpec, Manifest
from evatui.kernel.registry.generation import Generation
from evatui.kernel.registry.table import EMPTY_TABLE, Table
from tests.bench.arms import Arm, interleave
from tests.bench.results import Section, compared

__all__ = ["measure"]

COUNTS = (100, 1_000, 10_000)
_TIMES = 20


def _generation(number: int) -> Generation:
    """What a table asks of one. Each has a name of its own, and all share one."""
    names = (f"many.cap{number:05d}", f"shared.g{number // 100:03d}")
    manifest = Manifest(
        f"cap-{number:05d}", Kind.LUA_TOOL, "1.0.0", LuaSpec("a.lua"), {}, {}, capabilities=names, priority=number % 7
    )
    return cast(Generation, SimpleNamespace(manifest=manifest, ailment=None))


def _table(count: int) -> Table:
    table = EMPTY_TABLE
    for number in range(count):
        table = table.with_active(_generation(number))
    return table


def _times(step: Callable[[Table], Any], table: Table) -> Callable[[], Awaitable[float]]:
    async def run() -> float:
        begun = time.thread_time()
        for _ in range(_TIMES):
            step(table)
        return (time.thread_time() - begun) / _TIMES

    return run


async def measure(rounds: int) -> list[Section]:
    """For each of `COUNTS`."""
    new = _generation(COUNTS[0] // 2)
    steps: dict[str, Callable[[Table], Any]] = {
        "a version goes into service": lambda table: table.with_active(new),
        "a capability goes": lambda table: table.without(new.manifest.id),
    }
    tables = {count: _table(count) for count in COUNTS}
    lines: list[str] = []
    for name, step in steps.items():
        arms = [Arm(f"{count:,} capabilities", _times(step, table)) for count, table in tables.items()]
        lines += [f"### {name}", "", *compared(await interleave(arms, rounds), "µs", 1e6, 0), ""]
    note = "The whole of the next table, built from the one that serves, in CPU time; publishing it is one assignment."
    return [Section("The table", note, lines)]
