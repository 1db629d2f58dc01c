"""A device that says ten megabytes a second, while one asks it, watches it, and has the console open."""

from __future__ import annotations

import asyncio
import os
import select
import shutil
import statistics
import time
from pathlib import Path

import psutil
import pytest

import evatui
from evatui.console.app import ConsoleApp
from evatui.console.screens.device import DeviceScreen
from evatui.console.settings import Settings
from evatui.console.view.actions import View
from evatui.control.failing import CommandFailed
from evatui.control.opening import OpenMode
from evatui.control.operator import Operator
from evatui.hardware.simulators.terminal import Terminal
from tests.control.crowd import opened

SECONDS = float(os.environ.get("EVA_SOAK_FLOOD_S", "30"))
LINE = b'{"seq":0,"weight_g":19060,"stable":true,"reading":1}'.ljust(98) + b"\r\n"
NOISE = 10_000_000


def flooding(terminal: Terminal) -> None:
    """In place of `Terminal._listen`: before each answer it says ten megabytes of something else."""
    master, wake, rest = terminal._master, terminal._wake_r, b""
    while wake not in select.select([wake, master], [], [])[0]:
        *lines, rest = (rest + os.read(master, 4_096)).split(b"\n")
        for line in lines:
            answer = terminal._model.answer(line.decode())
            if b"command" in line and not shouted(terminal, LINE * (NOISE // len(LINE))):
                return
            os.write(master, f"{answer}\r\n".encode())


def shouted(terminal: Terminal, noise: bytes) -> bool:
    """False where nobody reads it any more."""
    os.set_blocking(terminal._master, False)
    left = memoryview(noise)
    while left:
        ready, _, _ = select.select([terminal._wake_r], [terminal._master], [])
        if ready:
            return False
        left = left[os.write(terminal._master, left) :]
    os.set_blocking(terminal._master, True)
    return True


async def asking(operator: Operator, over: asyncio.Event, ended: list[str]) -> None:
    while not over.is_set():
        try:
            await operator.run("capability.call", name="scale.report", payload={})
            ended.append("ok")
        except CommandFailed as failed:
            ended.append(failed.kind)


async def lagging(over: asyncio.Event, lags: list[float]) -> None:
    while not over.is_set():
        asked = time.perf_counter()
        await asyncio.sleep(0.01)
        lags.append((time.perf_counter() - asked - 0.01) * 1000)


async def test_a_device_that_never_stops_talking_is_counted_and_holds_up_neither_calls_nor_screen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "ws"
    shutil.copytree(Path(evatui.__file__).parent.parent / "capabilities", root / "capabilities")
    shutil.copytree(Path(evatui.__file__).parent.parent / "schemas", root / "schemas")
    operator = await opened(root, OpenMode.HOLD)

    async def open_operator() -> Operator:
        return operator

    app, over = ConsoleApp(open_operator, settings=Settings(view=View.DEVICES)), asyncio.Event()
    async with app.run_test(size=(120, 36)) as pilot:
        await app.first_snapshot.wait()
        monkeypatch.setattr(Terminal, "_listen", flooding)
        while not any("scale" in row.key for row in app.pane.rows.shown):
            await pilot.pause(0.1)
        while "scale.main" not in str(getattr(app.pane.subject(), "label", "")):
            await pilot.press("down")
        await pilot.press("enter", "3")
        assert isinstance(app.screen, DeviceScreen)
        ended, lags, began = list[str](), list[float](), time.perf_counter()
        tasks = [asyncio.create_task(asking(operator, over, ended)), asyncio.create_task(lagging(over, lags))]
        before = psutil.Process().memory_info().rss
        await asyncio.sleep(SECONDS)
        over.set()
        await asyncio.gather(*tasks)
        took = time.perf_counter() - began
        told = await operator.run("hardware.monitor", key="scale.main")
        monitor = app.screen.monitor
        totals, grown = told["totals"], (psutil.Process().memory_info().rss - before) >> 20
        print(
            f"\n{totals['rx_bytes'] / took / 1e6:.1f} MB/s heard, {monitor.missed:,} messages dropped and counted;"
            f" the loop late by median {statistics.median(lags):.1f}, p99 {sorted(lags)[-len(lags) // 100]:.1f},"
            f" worst {max(lags):.1f} ms; {len(ended)} calls: {sorted({*ended})}; {grown} MiB more"
        )
        assert "ok" in ended
        assert monitor.missed > 0
        assert len(monitor.frames) == monitor.frames.maxlen
        assert grown <= 64
        assert sorted(lags)[-len(lags) // 100] <= 100
