"""``eva --help`` and a shell's completion against an interpreter that does nothing, each a process of its own."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from pathlib import Path

from tests.bench.arms import Arm, interleave
from tests.bench.results import Section, compared
from tests.support.programs import EVA

__all__ = ["measure"]

_ROOT = Path(__file__).parents[2]
_TYPED = {"COMP_WORDS": "eva cap", "COMP_CWORD": "1", "_EVA_COMPLETE": "bash_complete"}


async def measure(rounds: int) -> list[Section]:
    arms = [
        Arm("python -c pass", lambda: _run([sys.executable, "-c", "pass"])),
        Arm("eva --help", lambda: _run([*EVA, "--help"])),
        Arm("completion of a word", lambda: _run(list(EVA), **_TYPED)),
    ]
    found = await interleave(arms, rounds)
    more = 1e3 * (found[1].seconds.median - found[0].seconds.median)
    note = f"From start to end of the process. `eva --help` takes {more:.0f} ms more than nothing at all (wanted: 150)."
    return [Section("Words", note, compared(found, "ms", 1e3, 0))]


async def _run(argv: list[str], **environment: str) -> float:
    place = {**os.environ, "PYTHONPATH": str(_ROOT), **environment}
    began = time.perf_counter()
    await asyncio.to_thread(subprocess.run, argv, env=place, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - began
