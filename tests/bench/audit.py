"""Writing records and finding them, against bare writes and flushes of the same lines in the same run."""

from __future__ import annotations

import asyncio
import os
import statistics
import tempfile
import threading
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from evatui.kernel.model.clock import SYSTEM_CLOCK
from evatui.kernel.records.audit import AuditLog
from evatui.kernel.records.search import Filter, find
from evatui.kernel.workspace.settings import AuditMode, AuditSettings
from tests.bench.arms import Arm, interleave
from tests.bench.results import Section, compared

__all__ = ["measure"]

_LINE = b"x" * 470 + b"\n"
_MANY = 64
_RECORDS = 100_000
_flush = getattr(os, "fdatasync", os.fsync)


async def measure(rounds: int) -> list[Section]:
    with tempfile.TemporaryDirectory() as folder:
        return [await _writing(Path(folder), rounds), await _finding(Path(folder), rounds)]


def _ending(number: int) -> dict[str, object]:
    about = {"actor": {"type": "cli", "id": "bench"}, "capability_id": "bench", "capability": "bench.call"}
    return {"code": "call.ok", "outcome": "ok", **about, "request_id": f"req_{number}", "duration_us": 12}


def _log(folder: Path, mode: AuditMode) -> AuditLog:
    return AuditLog.open(folder / mode, AuditSettings(mode=mode, keep_files=1_000), SYSTEM_CLOCK)


def _timed(work: Callable[[], object], times: int) -> Callable[[], Awaitable[float]]:
    """The median of ``times`` runs, in a thread."""

    def run() -> float:
        taken = []
        for _ in range(times):
            began = time.perf_counter()
            work()
            taken.append(time.perf_counter() - began)
        return statistics.median(taken)

    return lambda: asyncio.to_thread(run)


async def _writing(folder: Path, rounds: int) -> Section:
    fd = os.open(folder / "bare", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    logs = {mode: _log(folder, mode) for mode in AuditMode}

    def one(mode: AuditMode) -> Callable[[], None]:
        return lambda: logs[mode].final(logs[mode].begin(), _ending(0)).wait()

    def flushed() -> None:
        os.write(fd, _LINE)
        _flush(fd)

    async def many() -> float:
        """Seconds a record, with many callers at once."""

        def caller() -> None:
            for _ in range(20):
                one(AuditMode.DURABLE)()

        def run() -> float:
            threads = [threading.Thread(target=caller) for _ in range(_MANY)]
            began = time.perf_counter()
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            return (time.perf_counter() - began) / (20 * _MANY)

        return await asyncio.to_thread(run)

    arms = [
        Arm("write and flush a line", _timed(flushed, 50)),
        Arm("write a line", _timed(lambda: os.write(fd, _LINE), 200)),
        Arm("`write`, one caller", _timed(one(AuditMode.WRITE), 200)),
        Arm("`durable`, one caller", _timed(one(AuditMode.DURABLE), 50)),
        Arm(f"`durable`, {_MANY} callers, by the record", many),
    ]
    found = await interleave(arms, rounds)
    for log in logs.values():
        log.close()
    os.close(fd)
    return Section("An audit record", "One record of a call, without the call.", compared(found, "µs", 1e6))


async def _finding(folder: Path, rounds: int) -> Section:
    log = AuditLog.open(folder / "many", AuditSettings(keep_files=1_000), SYSTEM_CLOCK)
    for number in range(_RECORDS):
        log.final(log.begin(), _ending(number))
    directory, middle = folder / "many", f"req_{_RECORDS // 2}"
    arms = [
        Arm("tail, 20 records", _timed(lambda: bool(log.tail(20)), 5)),
        Arm("query by request", _timed(lambda: list(find(directory, Filter(request=middle))), 1)),
        Arm("query by outcome, all of it", _timed(lambda: list(find(directory, Filter(outcome="denied"))), 1)),
    ]
    found = await interleave(arms, rounds)
    log.close()
    return Section("Finding audit records", f"In {_RECORDS:,} records.", compared(found, "ms", 1e3))
