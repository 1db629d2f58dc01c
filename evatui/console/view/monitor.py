"""What is said to a device and by it, as it is watched: newest last, in hexadecimal, as text, or both."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

from evatui.console.view.ink import EMPTY, Ink, Line, join, line
from evatui.console.view.trend import spark
from evatui.console.view.words import Look, clock
from evatui.control.device_frames import Form, frame_rows, printable

__all__ = ["Frame", "Monitor", "monitor_head", "monitor_lines"]

_KEPT: Final = 500
_ROWS: Final = 400
"""So many lines are made each time: a device that floods must not keep the screen busy. The log has all of it."""
_TIME: Final = 15
"""Cells of the time and the arrow."""


@dataclass(frozen=True, slots=True)
class Frame:
    at: str
    received: bool
    size: int
    data: bytes


@dataclass(slots=True)
class Monitor:
    """``params`` are those of the next question, `take` hears its answer."""

    form: Form = Form.MIXED
    query: str = ""
    typing: bool = False
    """The filter is being typed."""
    paused: int | None = None
    """How many frames there were when it was stopped; those that came since are counted, and not shown."""
    problem: str = ""
    count: int = 0
    missed: int = 0
    state: Mapping[str, Any] = field(default_factory=dict)
    frames: deque[Frame] = field(default_factory=lambda: deque(maxlen=_KEPT))
    _seq: int = 0

    @property
    def params(self) -> dict[str, int]:
        return {"since": self._seq} if self._seq else {}

    def take(self, data: Mapping[str, Any]) -> None:
        self.problem, self.state = "", data
        self._seq = int(data["seq"])
        self.missed += int(data["dropped"])
        for one in data["heard"]:
            self.count += 1
            self.frames.append(
                Frame(str(one["at"]), one["direction"] == "rx", int(one["size"]), bytes.fromhex(one["hex"]))
            )

    def pause(self) -> None:
        self.paused = self.count if self.paused is None else None

    def newest(self) -> Iterator[Frame]:
        """Through the filter, the newest first."""
        later = self.count - self.paused if self.paused is not None else 0
        known = list(self.frames)[: max(0, len(self.frames) - later)]
        return filter(self._passes, reversed(known)) if self.query else reversed(known)

    def _passes(self, frame: Frame) -> bool:
        """A regular expression, or, where it is none yet, just text."""
        pattern = _pattern(self.query)
        return bool(pattern.search(printable(frame.data)) or pattern.search(frame.data.hex()))


@lru_cache(maxsize=1)
def _pattern(query: str) -> re.Pattern[str]:
    try:
        return re.compile(query, re.IGNORECASE)
    except re.error:
        return re.compile(re.escape(query), re.IGNORECASE)


def monitor_lines(monitor: Monitor, width: int, look: Look) -> list[Line]:
    rows: list[Line] = []
    for frame in monitor.newest():
        rows[:0] = _rows(frame, monitor.form, width, look)
        if len(rows) >= _ROWS:
            break
    if not rows:
        said = "Nothing passes the filter." if monitor.query and monitor.frames else "Nothing has been said yet."
        rows = [line(said), line(("It is heard when somebody uses the device; nothing is opened for this.", Ink.DIM))]
    return rows


def monitor_head(monitor: Monitor) -> Iterator[Line]:
    """How much was said, what is shown of it, and what was lost: that stands still while the rest goes by."""
    state = monitor.state
    if monitor.problem:
        yield line(("✗ ", Ink.BAD), monitor.problem)
    if not state:
        return
    totals, traffic = state["totals"], state["traffic"]
    yield join(
        (
            line((spark([float(size) for size in traffic[-30:]]), Ink.INFO)),
            line(f"← {totals['rx_bytes']:,} B", (f" in {totals['rx_messages']:,}", Ink.DIM)),
            line(f"→ {totals['tx_bytes']:,} B", (f" in {totals['tx_messages']:,}", Ink.DIM)),
            line((f"{max(traffic, default=0):,} B/s at most", Ink.DIM)),
        )
    )
    yield join(
        (
            line((monitor.form.value, Ink.KEY)),
            _filter(monitor),
            *_marks(monitor),
            _modem(state["lines"]),
        )
    )


def _filter(monitor: Monitor) -> Line:
    if not monitor.typing and not monitor.query:
        return EMPTY
    return line(("/", Ink.KEY), monitor.query, ("▏" if monitor.typing else "", Ink.KEY))


def _marks(monitor: Monitor) -> Iterator[Line]:
    state, totals = monitor.state, monitor.state["totals"]
    if monitor.paused is not None:
        yield line((f"stopped, +{monitor.count - monitor.paused} since", Ink.WARN))
    if state["log"]:
        yield line((f"● to {state['log']}", Ink.OK))
    lost = {"not seen here": monitor.missed, "discarded": totals["discarded"], "gaps": totals["gaps"]}
    for word, count in lost.items():
        if count:
            yield line((f"{count:,} {word}", Ink.WARN))


def _modem(levels: Mapping[str, bool]) -> Line:
    """A line that is high is in capitals."""
    return line(*((f"{name.upper() if high else name} ", Ink.OK if high else Ink.DIM) for name, high in levels.items()))


def _rows(frame: Frame, form: Form, width: int, look: Look) -> Iterator[Line]:
    arrow, ink = ("←", Ink.INFO) if frame.received else ("→", Ink.OK)
    first, *rest = frame_rows(frame.data, form, max(8, width - _TIME)) or [""]
    more = f" +{frame.size - len(frame.data)} bytes" if frame.size > len(frame.data) else ""
    yield line((f"{clock(frame.at, look, millis=True)} ", Ink.DIM), (f"{arrow} ", ink), first)
    for row in rest:
        yield line(" " * _TIME, row)
    if more:
        yield line(" " * _TIME, (more.strip(), Ink.DIM))
