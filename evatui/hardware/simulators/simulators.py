"""The simulated devices of a runtime, as a source that sees them."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Final

from evatui.hardware.sighting import Access, Bus, Sighting
from evatui.hardware.simulators.faults import Fault
from evatui.hardware.simulators.models import MODELS, Model
from evatui.hardware.simulators.terminal import Terminal
from evatui.hardware.trouble import Trouble
from evatui.kernel.model.errors import ErrorKind

__all__ = ["Simulators"]

_VENDOR: Final = 0x1209
_FLAPS: Final = 6
_CLOSED: Final = Access(False, "it is simulated that the system does not let anybody open it", "script another fault")


class Simulators:
    """Thread-safe. Where the system has no pseudo terminals, there are none."""

    name = "simulators"
    bus = Bus.SIM

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._faults = dict.fromkeys(MODELS, Fault.NONE)
        self._plugged = dict.fromkeys(MODELS, 1)
        self._flaps = dict.fromkeys(MODELS, 0)
        self._models: dict[str, Model] = {}
        self._open: dict[str, Terminal] = {}

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(MODELS)

    def scan(self) -> list[Sighting]:
        if not hasattr(os, "openpty"):
            return []
        with self._lock:
            return [sighting for name in MODELS for sighting in self._seen(name)]

    def reach(self, sighting: Sighting) -> tuple[str, Callable[[], None]]:
        name = sighting.path
        with self._lock:
            match self._faults[name]:
                case Fault.UNPLUG:
                    raise Trouble(ErrorKind.DEVICE_DISCONNECTED, "the device went away", retryable=True)
                case Fault.BUSY:
                    said = "another program has the device, as it was simulated"
                    raise Trouble(ErrorKind.DEVICE_BUSY, said, retryable=True)
            try:
                model = self._models.setdefault(name, MODELS[name][2]())
                terminal = self._open[name] = Terminal(model, lambda: self._faults[name])
            except OSError:
                said = "the system has no pseudo terminal for it"
                raise Trouble(ErrorKind.DEVICE_OPEN_FAILED, said, retryable=True) from None
        return terminal.path, terminal.close

    def script(self, name: str, fault: Fault) -> None:
        """From now on, until it is told otherwise."""
        with self._lock:
            was, self._faults[name] = self._faults[name], fault
            if fault is Fault.FLAP:
                self._flaps[name] = _FLAPS
            if was is Fault.UNPLUG:
                self._plugged[name] += 1
            terminal = self._open.get(name) if fault in (Fault.UNPLUG, Fault.FLAP) else None
        if terminal is not None:
            terminal.close()

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
        what, product, _ = MODELS[name]
        return Sighting(
            bus=Bus.SIM,
            vendor=_VENDOR,
            product=product,
            serial=name,
            topology=f"{name}-{place}",
            name=what,
            maker="evatui",
            attachment=str(self._plugged[name]),
            path=name,
            access=_CLOSED if self._faults[name] is Fault.DENIED else Access(),
        )
