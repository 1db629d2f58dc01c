"""The run itself: ``python -m tests.soak.churn.run --reloads 10000``; exit 1 where anything went wrong."""

from __future__ import annotations

import argparse
import asyncio
import logging
import random
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from evatui.runtime import Runtime
from tests.soak.churn.callers import Callers
from tests.soak.churn.deeds import Deeds
from tests.soak.churn.many import Files, make_workspace
from tests.soak.churn.report import Report

__all__ = ["churn"]

_FREED_WITHIN_S = 30.0


async def churn(
    reloads: int, *, capabilities: int = 50, processes: int = 5, callers: int = 8, savers: int = 6, seed: int = 1
) -> Report:
    """``reloads`` new generations of ``capabilities``, of which ``processes`` run apart, under ``callers``."""
    with tempfile.TemporaryDirectory() as folder:
        every = make_workspace(Path(folder) / "workspace", capabilities, processes)
        runtime = await Runtime.open(Path(folder) / "workspace", state_dir=Path(folder) / "state")
        try:
            return await _churned(runtime, every, Report(reloads), callers, savers, random.Random(seed))
        finally:
            await runtime.close()


async def _churned(
    runtime: Runtime, every: Sequence[Files], report: Report, callers: int, savers: int, dice: random.Random
) -> Report:
    calling = Callers(runtime, every, report, dice)
    deeds = Deeds(runtime, calling, every, report, dice)
    began = time.monotonic()
    defects = _Defects(report)
    logging.getLogger("evatui").addHandler(defects)
    logging.getLogger("evatui").setLevel(logging.DEBUG)
    report.weigh()
    calling.start(callers)
    ids = [files.id for files in every]
    try:
        await asyncio.gather(*(deeds.go_on(ids[number::savers]) for number in range(savers)))
        for capability_id in ids:
            await deeds.save(capability_id)
    finally:
        await calling.end()
        logging.getLogger("evatui").removeHandler(defects)
    report.seconds = time.monotonic() - began
    alive = await deeds.gone.wait(_FREED_WITHIN_S)
    report.freed = deeds.gone.watched - alive
    if alive:
        report.problems.append(f"{alive} generations are not freed")
    calling.reckon()
    report.problems += _left_over(runtime)
    return report


class _Defects(logging.Handler):
    """Whatever the kernel says of itself is a problem, told with its traceback."""

    def __init__(self, report: Report) -> None:
        super().__init__()
        self._report = report

    def emit(self, record: logging.LogRecord) -> None:
        self._report.problems.append(self.format(record))


def _left_over(runtime: Runtime) -> list[str]:
    return [
        f"{one.id}: {one.in_flight} in flight, {one.live} alive, {one.limiter.running} slots, {one.limiter.queued} wait"
        for one in runtime.registry.capabilities.values()
        if one.in_flight or one.live != 1 or one.limiter.running or one.limiter.queued
    ]


def main() -> int:
    options = argparse.ArgumentParser(prog="python -m tests.soak.churn.run", description=__doc__)
    options.add_argument("--reloads", type=int, default=10_000)
    options.add_argument("--capabilities", type=int, default=50)
    options.add_argument("--processes", type=int, default=5, help="how many of them run in processes of their own (5)")
    options.add_argument("--seed", type=int, default=1)
    given = options.parse_args()
    report = asyncio.run(
        churn(given.reloads, capabilities=given.capabilities, processes=given.processes, seed=given.seed)
    )
    print("\n".join(report.lines()))
    return 0 if report.ok else 1


if __name__ == "__main__":
    sys.exit(main())
