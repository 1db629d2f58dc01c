"""The simulated devices of a runtime, as a source that sees them."""

from __future__ import annotations

import os
import threading
from typing import Final

from evatui.hardware.dialect import Line
from evatui.hardware.ports.hid_port import HidPort
from evatui.hardware.ports.serial_port import SerialPort
from evatui.hardware.ports.wire import Wire
from evatui.hardware.sighting import Access, Bus, Sighting
from evatui.hardware.simulators.faults import Fault
from evatui.hardware.simulators.models import MODELS, REPORTING, Model, Reporting
from evatui.hardware.simulators.reporter import Reporter
from evatui.hardware.simulators.terminal import Terminal
from evatui.hardware.trouble import Trouble
from evatui.kernel.model.errors import ErrorKind

__all__ = ["Simulators"]

_VENDOR: Final = 0x1209
_FLAPS: Final = 6
_ALL: Final = {**MODELS, **REPORTING}
_CLOSED: Final = Access(False, "it is simulated that the system does not let anybody open it", "script another fault")


class Simulators:
    """Thread-safe. Where the system has no pseudo terminals, there are none."""

    name = "simulators"
    bus = Bus.SIM
    from_memory = True

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._faults = dict.fromkeys(_ALL, Fault.NONE)
        self._plugged = dict.fromkeys(_ALL, 1)
        self._flaps = dict.fromkeys(_ALL, 0)
        self._models: dict[str, Model] = {}
        self._reporting: dict[str, Reporting] = {}
        self._open: dict[str, Terminal | Reporter] = {}

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(_ALL)

    def glance(self) -> object:
        return None

    def scan(self) -> list[Sighting]:
        if not hasattr(os, "openpty"):
            return []
        with self._lock:
            return [sighting for name in _ALL for sighting in self._seen(name)]

    def open(self, sighting: Sighting, line: Line) -> Wire:
        name = sighting.path
        with self._lock:
            match self._faults[name]:
                case Fault.UNPLUG:
                    raise Trouble(ErrorKind.DEVICE_DISCONNECTED, "the device went away", retryable=True)
                case Fault.BUSY:
                    said = "another program has the device, as it was simulated"
                    raise Trouble(ErrorKind.DEVICE_BUSY, said, retryable=True)
            if name in REPORTING:
                return self._reporter(name, line)
            terminal = self._terminal(name)
        return SerialPort(terminal.path, line, terminal.release)

    def _reporter(self, name: str, line: Line) -> Wire:
        model = self._reporting.setdefault(name, REPORTING[name][2]())
        reporter = self._open[name] = Reporter(model, lambda: self._faults[name])
        return HidPort(reporter, reporter.unplug, line.feature)

    def _terminal(self, name: str) -> Terminal:
        try:
            model = self._models.setdefault(name, MODELS[name][2]())
            terminal = self._open[name] = Terminal(model, lambda: self._faults[name])
        except OSError:
            said = "the system has no pseudo terminal for it"
            raise Trouble(ErrorKind.DEVICE_OPEN_FAILED, said, retryable=True) from None
        return terminal

    def script(self, name: str, fault: Fault) -> None:
        """From now on, until it is told otherwise."""
        with self._lock:
            was, self._faults[name] = self._faults[name], fault
            if fault is Fault.FLAP:
                self._flaps[name] = _FLAPS
            if was is Fault.UNPLUG:
                self._plugged[name] += 1
            pulled = self._open.get(name) if fault in (Fault.UNPLUG, Fault.FLAP) else None
        if pulled is not None:
            pulled.close()

    def _seen(self, name: str) -> list[Sighting]:
        fault = self._faults[name]
        if fault is Fault.UNPLUG:
            return []
        if self._flaps[name]:
            self._flaps[name] -= 1
            self._plugged[name] += self._flaps[name] % 2
        seen = self._sighting(name, "1")
        return [seen, self._sighting(name, "2")] if fault is Fault.TWIN else [seen]

    def _sighting(self, name: str, place: str) -> Sighting:
        what, product, _ = _ALL[name]
        return Sighting(
            bus=Bus.SIM,
            vendor=_VENDOR,
            product=product,
            serial=name,
            usage="ff00.0001" if name in REPORTING else "",
            topology=f"{name}-{place}",
            name=what,
            maker="evatui",
            attachment=str(self._plugged[name]),
            path=name,
            access=_CLOSED if self._faults[name] is Fault.DENIED else Access(),
        )
