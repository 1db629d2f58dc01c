"""Whoever is adopted from a command, and ends by itself, leaves nothing behind."""

from __future__ import annotations

import asyncio
import subprocess
import sys

import psutil
import pytest

from evatui.adapters import orphans
from tests.support.waiting import until

_LEAVES_ONE = """
import ctypes, os, time
if os.fork() == 0:
    ctypes.CDLL(None).prctl(38, 1, 0, 0, 0)
    if os.fork() == 0:
        time.sleep(0.1)
    os._exit(0)
os.wait()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only there somebody is adopted")
async def test_it_is_no_zombie_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(orphans, "_REAP_EVERY_S", 0.02)
    before = set(psutil.Process().children())
    with orphans.adopting():
        await asyncio.to_thread(subprocess.run, [sys.executable, "-ISc", _LEAVES_ONE], check=True)
        await until(lambda: set(psutil.Process().children()) <= before)
