"""What it costs that a call is judged and written down: the whole way of a call against the sandbox alone."""

from __future__ import annotations

import asyncio
import contextlib
import os
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from evatui.kernel.records import logfile
from evatui.kernel.records.segments import RECENT
from evatui.kernel.workspace.settings import AuditMode
from tests.bench.arms import Arm, Comparison, interleave
from tests.bench.calls import Call, sandboxed, timed, unjudged, whole_way
from tests.bench.payloads import NOOP, REWORK, SUMMARISE, payload
from tests.bench.results import Section

__all__ = ["measure"]

_MANY = 64
_EACH = 10
_LINE = b"x" * 1_000 + b"\n"
_EXTRA_S = (0.0, 0.002, 0.005, 0.01)


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
        base, alone, recorded = await _compared(source, small, value, times, rounds)
        with _one_core():
            together = (await _compared(source, small, value, times, rounds))[2]
        shown = [base.seconds.shown(1e6, 0), recorded.seconds.shown(1e6, 0), recorded.ratio.shown(1, 2)]
        to_sandbox = f"{alone.seconds.shown(1e6, 0)} | {recorded.ratio.median / alone.ratio.median:.2f}"
        lines.append(f"| {name} | {' | '.join(shown)} | {together.ratio.shown(1, 2)} | {to_sandbox} |")
    note = (
        "`Runtime.call` with audit `write`, to the same call on the same way, through the same hand-off between "
        "threads, without audit, validation and policy; and to the sandbox alone, which has no route, slot, tallies "
        "and metrics either. The system may put the two threads of one way on one core and those of the other on two, "
        "which takes longer than all that is compared: so the ratio is taken with all of them on one core as well."
    )
    head = [
        "| payload | without the three, µs: median [quartiles] | whole way, µs | ratio | ratio on one core "
        "| sandbox alone, µs | to that |",
        "|---|---|---|---|---|---|---|",
    ]
    return Section("A call on record", note, [*head, *lines])


async def _compared(source: str, small: Any, value: Any, times: int, rounds: int) -> Sequence[Comparison]:
    """The call without the three, the sandbox alone, the whole way."""
    async with sandboxed(source) as inside, unjudged(source) as free, whole_way(source) as whole:
        for _ in range(RECENT):  # until the newest records that are kept take no new memory any more
            await whole(small)
        ways = [("without", free), ("sandbox", inside), ("whole way", whole)]
        return await interleave([Arm(word, timed(way, value, times)) for word, way in ways], rounds)


@contextlib.contextmanager
def _one_core() -> Iterator[None]:
    """For every thread that is started meanwhile, where the system can be told."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


async def _durable(rounds: int) -> Section:
    lines = []
    for extra_s in _EXTRA_S:
        with _slower(extra_s) as flush:
            probe, one, many = await _by_flush(rounds, flush)
        shown = [probe.seconds.shown(1e3, 2), one.seconds.shown(1e3, 2), one.ratio.shown(1, 2)]
        lines.append(f"| {extra_s * 1e3:.0f} | {' | '.join(shown)} | {1 / many.seconds.median:,.0f} | {_gain(many)} |")
    note = (
        f"Calls with nothing to do and audit `durable`, by how much longer each flush takes than this disk needs. "
        f"{_MANY} callers: calls a second of all, and that by those of one caller."
    )
    head = [
        f"| flush, ms more | write and flush a line, ms | one caller, ms | ratio | {_MANY} callers, calls/s | ratio |",
        "|---|---|---|---|---|---|",
    ]
    return Section("Durable calls", note, [*head, *lines])


def _gain(many: Comparison) -> str:
    """Calls a second by those of one caller, where ``many`` has times a call by that of one caller."""
    return f"{1 / many.ratio.median:.1f} [{1 / many.ratio.high:.1f}-{1 / many.ratio.low:.1f}]"


async def _by_flush(rounds: int, flush: Callable[[int], None]) -> tuple[Comparison, Comparison, Comparison]:
    async with whole_way(NOOP, AuditMode.DURABLE, _MANY) as call:
        with tempfile.TemporaryDirectory() as folder:
            fd = os.open(Path(folder) / "probe", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            try:
                single = await interleave([Arm("probe", _flushed(fd, flush)), Arm("one", _one(call))], rounds)
                _, many = await interleave([Arm("one", _one(call)), Arm("many", _many(call))], rounds)
            finally:
                os.close(fd)
    return (*single, many)


@contextlib.contextmanager
def _slower(extra_s: float) -> Iterator[Callable[[int], None]]:
    """Has each flush take so much longer, as on a disk that is slower; gives what flushes."""
    real = logfile._sync

    def flush(fd: int) -> None:
        real(fd)
        if extra_s:
            time.sleep(extra_s)

    logfile._sync = flush
    try:
        yield flush
    finally:
        logfile._sync = real


def _flushed(fd: int, flush: Callable[[int], None]) -> Callable[[], Awaitable[float]]:
    def run() -> float:
        taken = []
        for _ in range(50):
            began = time.perf_counter()
            os.write(fd, _LINE)
            flush(fd)
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
