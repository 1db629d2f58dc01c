"""What it costs that a call is judged and written down: the whole way of a call against the sandbox alone."""

from __future__ import annotations

import asyncio
import os
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from evatui.kernel.records.segments import RECENT
from evatui.kernel.workspace.settings import AuditMode
from tests.bench.arms import Arm, interleave
from tests.bench.calls import Call, sandboxed, timed, whole_way
from tests.bench.payloads import NOOP, REWORK, SUMMARISE, payload
from tests.bench.results import Section, compared

__all__ = ["measure"]

_MANY = 64
_EACH = 10
_LINE = b"x" * 1_000 + b"\n"
_flush = getattr(os, "fdatasync", os.fsync)


async def measure(rounds: int) -> list[Section]:
    return [await _written(rounds), await _durable(rounds)]


async def _written(rounds: int) -> Section:
    cases: list[tuple[str, str, Any, Any, int]] = [
        ("nothing to do", NOOP, {}, {}, 200),
        ("1 KB in", SUMMARISE, {"items": []}, payload(1_000), 150),
        ("1 KB in and out", REWORK, {"items": []}, payload(1_000), 100),
        ("16 KB in and out", REWORK, {"items": []}, payload(16_000), 15),
    ]
    lines = []
    for name, source, small, value, times in cases:
        async with sandboxed(source) as inside, whole_way(source) as whole:
            for _ in range(RECENT):  # until the newest records that are kept take no new memory any more
                await whole(small)
            arms = [Arm("sandbox", timed(inside, value, times)), Arm("whole way", timed(whole, value, times))]
            base, recorded = await interleave(arms, rounds)
        shown = f"{base.seconds.shown(1e6, 0)} | {recorded.seconds.shown(1e6, 0)} | {recorded.ratio.shown(1, 2)}"
        lines.append(f"| {name} | {shown} |")
    note = (
        "`Runtime.call` with audit `write` (route, slot, schemas, policy, tallies, metrics, record) against the same "
        "call in the same sandbox, through the same hand-off between threads, with none of that."
    )
    head = ["| payload | sandbox, µs: median [quartiles] | whole way, µs | ratio |", "|---|---|---|---|"]
    return Section("A call on record", note, [*head, *lines])


async def _durable(rounds: int) -> Section:
    async with whole_way(NOOP, AuditMode.DURABLE, _MANY) as call:
        with tempfile.TemporaryDirectory() as folder:
            fd = os.open(Path(folder) / "probe", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            try:
                probe, one = Arm("write and flush a line", _flushed(fd)), Arm("one caller", _one(call))
                single = await interleave([probe, one], rounds)
                together = await interleave([one, Arm(f"{_MANY} callers, by the call", _many(call))], rounds)
            finally:
                os.close(fd)
    note = (
        f"Calls with nothing to do and audit `durable`, medians of calls. {_MANY} callers: the time of all by the "
        "number of their calls."
    )
    return Section("Durable calls", note, [*compared(single, "µs", 1e6), "", *compared(together, "µs", 1e6)])


def _flushed(fd: int) -> Callable[[], Awaitable[float]]:
    def run() -> float:
        taken = []
        for _ in range(50):
            began = time.perf_counter()
            os.write(fd, _LINE)
            _flush(fd)
            taken.append(time.perf_counter() - began)
        return statistics.median(taken)

    return lambda: asyncio.to_thread(run)


def _one(call: Call) -> Callable[[], Awaitable[float]]:
    async def run() -> float:
        taken = []
        for _ in range(50):
            began = time.perf_counter()
            await call({})
            taken.append(time.perf_counter() - began)
        return statistics.median(taken)

    return run


def _many(call: Call) -> Callable[[], Awaitable[float]]:
    async def caller() -> None:
        for _ in range(_EACH):
            await call({})

    async def run() -> float:
        began = time.perf_counter()
        await asyncio.gather(*(caller() for _ in range(_MANY)))
        return (time.perf_counter() - began) / (_MANY * _EACH)

    return run
