"""The console's first frame against the import of Textual, each in a process of its own."""

from __future__ import annotations

import asyncio
import sys
import tempfile
from pathlib import Path

from tests.bench.arms import Arm, interleave
from tests.bench.results import Section, compared
from tests.bench.terminal import time_until

__all__ = ["measure"]

_ROOT = Path(__file__).parents[2]
_IMPORT = "import sys, textual.app; sys.stdout.write('im' + 'ported'); sys.stdout.flush(); sys.stdin.read()"
_CONSOLE = "import sys; from evatui.__main__ import main; sys.exit(main())"
_FIRST_FRAME = b"loading"


async def measure(rounds: int) -> list[Section]:
    with tempfile.TemporaryDirectory() as state:
        console = [sys.executable, "-c", _CONSOLE, str(_ROOT)]
        arms = [
            Arm("import textual.app", lambda: _until([sys.executable, "-c", _IMPORT], b"imported", state)),
            Arm("first frame", lambda: _until(console, _FIRST_FRAME, state)),
        ]
        lines = compared(await interleave(arms, rounds), "ms", 1e3, 0)
    note = "From the start of the process to its first output that says so, in a pseudo terminal of 120×36."
    return [Section("First paint", note, lines)]


async def _until(argv: list[str], text: bytes, state: str) -> float:
    return await asyncio.to_thread(time_until, argv, text, {"EVA_STATE_DIR": state, "PYTHONPATH": str(_ROOT)})
