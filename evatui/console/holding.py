"""Devices, claimed and released."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from evatui.console.asking import Asking
from evatui.console.view.devices import DeviceRow
from evatui.console.view.ink import Ink, Line, line, wrapped

if TYPE_CHECKING:
    from evatui.console.stage import Stage

__all__ = ["Holding"]


_WEAK: Final = {"weak": "It has no number that tells it from others: it is known by where it is plugged in."}


class Holding:
    def __init__(self, app: Stage, asking: Asking) -> None:
        self._app = app
        self._asking = asking
        self.handlers: dict[str, Callable[[], None]] = {
            "claim": self._claim,
            "release": self._release,
            "release.force": self._take,
            "bind": self._bind,
            "rescan": self._rescan,
        }

    def _device(self) -> DeviceRow:
        row = self._app.pane.subject()
        assert isinstance(row, DeviceRow)  # the table enables these for nothing else
        return row

    def _claim(self) -> None:
        row = self._device()
        lines = (
            _name(row),
            line("It is opened, which resets many a board, and is yours until it is released."),
            line(("Calls that want it get DeviceBusy meanwhile, and say whose it is.", Ink.DIM)),
        )
        self._asking.confirm("hardware.claim", {"key": row.key}, f"Claim {row.label}?", wrapped(lines), "claim")

    def _release(self) -> None:
        row = self._device()
        lines = (_name(row), line(f"{row.owner} has it. It is closed, and calls reach it again."))
        self._asking.confirm("hardware.release", {"key": row.key}, f"Release {row.label}?", wrapped(lines), "release")

    def _take(self) -> None:
        row = self._device()
        lines = (_name(row), line(f"{row.owner} has it, and loses it at once, whatever they are doing with it."))
        params = {"key": row.key, "force": True}
        title = f"Take {row.label} from {row.owner}?"
        self._asking.typed("hardware.release", params, title, wrapped(lines), "release", row.label)

    def _bind(self) -> None:
        from evatui.console.screens.name import Name

        row = self._device()
        lines = (_name(row), line("Capabilities call it by the name, such as scale.main, and never see a port."))
        self._app.push_screen(Name(f"Bind {row.label}", wrapped(lines), "go on", dotted=True), self._named)

    def _named(self, name: str | None) -> None:
        if not name:
            return
        row = self._device()
        lines = (_name(row), line(f"From now on {name} means this device."), line(_WEAK.get(row.strength, "")))
        params = {"key": row.key, "name": name}
        self._asking.confirm("hardware.bind", params, f"Is {row.label} {name}?", wrapped(lines), "bind")

    def _rescan(self) -> None:
        self._app.say(line(("… ", Ink.INFO), "looking for devices"))
        self._app.run_worker(self._asking.send("hardware.rescan"), exit_on_error=False)


def _name(row: DeviceRow) -> Line:
    return line((row.label, Ink.STRONG), ("  SIM" if row.simulated else "", Ink.INFO), (f"  {row.key}", Ink.DIM))
