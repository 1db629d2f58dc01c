"""One device: what it is, who has it, what is said, when it was plugged in, and what mends it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from enum import StrEnum

from textual import events
from textual.widget import Widget

from evatui.console.screens.dialog import Dialog, choices
from evatui.console.view.devices import DeviceRow, device_tab
from evatui.console.view.ink import EMPTY, Ink, Line, line, plain
from evatui.console.view.monitor import Monitor, monitor_head, monitor_lines
from evatui.console.view.sent import Sent
from evatui.console.widgets.lines import Lines

__all__ = ["DeviceScreen", "Tab"]

_ASKED_S = 0.5


class Tab(StrEnum):
    OVERVIEW = "Overview"
    LEASE = "Lease"
    MONITOR = "Monitor"
    HISTORY = "History"
    FIX = "Fix"


_TABS = list(Tab)
_STEPS = {"tab": 1, "right": 1, "shift+tab": -1, "left": -1}


class DeviceScreen(Dialog[None]):
    """``current`` is the device as it is known now, ``ask`` sends a command. What is said is asked for as long as one
    looks at it."""

    rows_around = 14
    confirm_keys = ("C",)
    cancel_keys = ("escape", "q", "enter")

    def __init__(
        self, device: DeviceRow, current: Callable[[str], DeviceRow | None], ask: Callable[..., Awaitable[Sent]]
    ) -> None:
        super().__init__(device.label, self._lines, EMPTY)
        self._device = device
        self._current = current
        self._ask = ask
        self._asking = False
        self._tab = Tab.OVERVIEW
        self.monitor = Monitor()
        self.set_class(True, "-broad")
        self._change_foot()

    def on_mount(self) -> None:
        super().on_mount()
        self.set_interval(_ASKED_S, self._look)

    def _lines(self, width: int) -> list[Line]:
        if self._tab is Tab.MONITOR:
            return monitor_lines(self.monitor, width, self.app.look)
        return device_tab(self._device, self._tab, width, self.app.look)

    def _head(self, width: int) -> list[Line]:
        tabs = [(f" {number} {tab} ", Ink.LIT if tab is self._tab else Ink.DIM) for number, tab in enumerate(_TABS, 1)]
        return [line(*tabs), *(monitor_head(self.monitor) if self._tab is Tab.MONITOR else ())]

    def body(self) -> Sequence[Widget]:
        return (Lines(self._head, classes="head"), *super().body())

    def _look(self) -> None:
        self._device = self._current(self._device.key) or self._device
        if self._tab is Tab.MONITOR and not self._asking:
            self._asking = True
            self.run_worker(self._listen(), exit_on_error=False)
        self._show()

    async def _listen(self) -> None:
        try:
            sent = await self._ask("hardware.monitor", key=self._device.key, **self.monitor.params)
        finally:
            self._asking = False
        if sent.data is not None:
            self.monitor.take(sent.data)
        elif sent.failed is not None:
            self.monitor.problem = sent.failed.message
        self._show()

    def _show(self) -> None:
        body = self.query_one(".body", Lines)
        at_end = body.scroll_offset.y >= body.max_scroll_y
        body.ask_again()
        self.query_one(".head", Lines).ask_again()
        if self._tab is Tab.MONITOR and at_end and self.monitor.paused is None:
            self.call_after_refresh(body.scroll_end, animate=False)

    def confirm(self) -> None:
        if self._tab is Tab.FIX and self._device.fix:
            text = self._device.fix
        else:
            text = "\n".join(plain(row).rstrip() for row in self.query_one(".body", Lines).lines)
        self.app.copy(text, f"{len(text):,} characters")

    def typed(self, event: events.Key) -> None:
        if self.monitor.typing:
            event.stop()
            self._type(event)
        elif event.key in _STEPS:
            event.stop()
            self._turn(_TABS[(_TABS.index(self._tab) + _STEPS[event.key]) % len(_TABS)])
        elif event.key in ("1", "2", "3", "4", "5"):
            event.stop()
            self._turn(_TABS[int(event.key) - 1])
        elif self._tab is Tab.MONITOR and event.key in ("t", "space", "slash", "L"):
            event.stop()
            self._watch(event.key)
        else:
            super().typed(event)

    def _watch(self, key: str) -> None:
        match key:
            case "t":
                self.monitor.form = self.monitor.form.next
            case "space":
                self.monitor.pause()
            case "slash":
                self.monitor.typing = True
            case "L":
                self.run_worker(self._log(), exit_on_error=False)
        self._show()

    async def _log(self) -> None:
        off = {"off": True} if self.monitor.state.get("log") else {}
        sent = await self._ask("hardware.log", key=self._device.key, **off)
        if sent.failed is not None:
            self.monitor.problem = sent.failed.message
        self._look()

    def _type(self, event: events.Key) -> None:
        if event.key in ("enter", "escape"):
            self.monitor.typing = False
            if event.key == "escape":
                self.monitor.query = ""
        elif event.key == "backspace":
            self.monitor.query = self.monitor.query[:-1]
        elif event.character is not None and event.character.isprintable() and len(self.monitor.query) < 64:
            self.monitor.query += event.character
        self._show()

    def _turn(self, tab: Tab) -> None:
        self._tab = tab
        self._change_foot()
        self.query_one(".foot", Lines).ask_again()
        self._look()

    def _change_foot(self) -> None:
        keys = [("esc", "back"), ("tab", "next"), ("C", "copy")]
        if self._tab is Tab.MONITOR:
            keys += [("t", "form"), ("space", "stop"), ("/", "filter"), ("L", "log")]
        self._foot = choices(*keys)
