"""The console as a program of its own over a scripted runtime, for tests in a real terminal.

``python -m tests.console.small_console MARKS [SLOW_CLOSE_S] [quiet|deaf|flood]``: appends a word to the file MARKS
for everything that the runtime hears, so that a test reads afterwards what happened. Quiet, nothing counts down;
deaf, it goes on draining when it is told to cut; in a flood, it never stops to tell of changes.
"""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from pathlib import Path
from typing import Any

from evatui.console.app import ConsoleApp
from evatui.console.launch import launch
from evatui.control.snapshot import ConsoleSnapshot, Cursor
from tests.console.fake_operator import FakeOperator
from tests.console.scene import capability, scene


class MarkingOperator(FakeOperator):
    def __init__(self, marks: Path, slow_close: float, heeds_cut: bool, snapshot: ConsoleSnapshot) -> None:
        super().__init__(snapshot)
        self._marks = marks
        self._slow_close = slow_close
        self._heeds_cut = heeds_cut

    def mark(self, word: str) -> None:
        with self._marks.open("a") as file:
            file.write(f"{word}\n")

    async def run(self, command: str, **params: Any) -> dict[str, Any]:
        self.mark(command)
        return await super().run(command, **params)

    async def snapshot(self, since: Cursor) -> ConsoleSnapshot:
        self.mark("snapshot")
        return await super().snapshot(since)

    def cut(self) -> None:
        self.mark("cut")
        if self._heeds_cut:
            self._slow_close = 0.0

    async def close(self) -> None:
        self.mark("closing")
        end = time.monotonic()
        while time.monotonic() < end + self._slow_close:
            await asyncio.sleep(0.02)
        self.mark("closed")


def flood(operator: FakeOperator) -> None:
    while True:
        operator.change(operator.current)
        time.sleep(0.0001)


def main() -> None:
    marks, slow, quiet = (*sys.argv[1:], *("", "0", "")[len(sys.argv) - 1 :])
    still = scene(capabilities=(capability("repo-summary", 42),), transitions=())
    snapshot = still if quiet == "quiet" else scene()
    operator = MarkingOperator(Path(marks), float(slow), quiet != "deaf", snapshot)

    async def open_operator() -> FakeOperator:
        operator.mark("opened")
        if quiet == "flood":
            threading.Thread(target=flood, args=(operator,), daemon=True).start()
        return operator

    sys.exit(launch(ConsoleApp(open_operator), mouse=True))


if __name__ == "__main__":
    main()
