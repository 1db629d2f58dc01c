"""What a plugin writes on its standard error while it runs: each line is progress, and no flood of them gets on."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any, Final

from evatui.kernel.model.progress import Progress
from evatui.kernel.model.text import clean_line

__all__ = ["ProgressLines"]

_EVERY_S: Final = 0.1
_LINE_BYTES: Final = 4_096
_SHOWN: Final = 300


class ProgressLines:
    """``tell`` gets the first line at once, then the newest one at most ten times a second, and at the `end` the last.

    A line may be JSON, ``{type: progress, stage, message, progress: 0..1}``; any other is a message. ``passed_over``
    counts those that were not told. For one thread.
    """

    def __init__(self, tell: Callable[[Progress], None]) -> None:
        self.passed_over = 0
        self._tell = tell
        self._rest = b""
        self._last: bytes | None = None
        self._next = 0.0

    def hear(self, data: bytes) -> None:
        *lines, self._rest = (self._rest + data).split(b"\n")
        self._rest = self._rest[:_LINE_BYTES]
        for line in lines:
            if line.strip():
                self.passed_over += self._last is not None
                self._last = line[:_LINE_BYTES]
        if self._last is not None and time.monotonic() >= self._next:
            self._pass_on()

    def end(self) -> None:
        if self._rest.strip():
            self.hear(b"\n")
        if self._last is not None:
            self._pass_on()

    def _pass_on(self) -> None:
        line, self._last = self._last or b"", None
        self._next = time.monotonic() + _EVERY_S
        self._tell(_understood(line.decode(errors="replace")))


def _understood(line: str) -> Progress:
    said = _object(line)
    if said is None:
        return Progress(0, None, clean_line(line.strip(), _SHOWN))
    words = [said[key] for key in ("stage", "message") if isinstance(said.get(key), str)]
    message = clean_line(": ".join(words), _SHOWN)
    done = said.get("progress")
    if isinstance(done, bool) or not isinstance(done, int | float) or not 0 <= done <= 1:
        return Progress(0, None, message)
    return Progress(int(done * 100), 100, message)


def _object(line: str) -> dict[str, Any] | None:
    if not line.lstrip().startswith("{"):
        return None
    try:
        said = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return said if isinstance(said, dict) and said.get("type") == "progress" else None
