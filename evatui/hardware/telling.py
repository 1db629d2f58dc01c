"""What happens to devices, as events."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from evatui.hardware.device import Change
from evatui.hardware.lifecycle import DeviceState
from evatui.kernel.records.events import EventBus
from evatui.kernel.registry.journal import Journal

__all__ = ["Telling"]

_TOPICS: Final = {
    DeviceState.SETTLING: "discovered",
    DeviceState.PRESENT: "settled",
    DeviceState.LOST: "offline",
    DeviceState.ABSENT: "removed",
}
"""The other states are their own topics."""
_QUIET: Final = frozenset({DeviceState.OPENING, DeviceState.HANDSHAKING})


class Telling:
    def __init__(self, bus: EventBus, journal: Journal) -> None:
        self._bus = bus
        self._journal = journal

    def device(self, change: Change) -> None:
        """Emits ``/hardware/device/<what>``; nothing for what was so before the runtime started."""
        if change.known or change.new in _QUIET:
            return
        identity = change.device.identity
        payload = {
            "device_key": identity.key,
            "logical_id": identity.logical_id,
            "bus": identity.sighting.bus.value,
            "device_gen": change.generation,
            "state": change.new.value,
            "simulated": identity.sighting.simulated,
            "cause": change.cause,
            "at": change.device.since,
        }
        topic = "reattached" if change.old is change.new else _TOPICS.get(change.new, change.new.value)
        self._bus.emit(f"/hardware/device/{topic}", payload)
        if change.new is DeviceState.AMBIGUOUS and identity.cloned:
            self._bus.emit("/hardware/device/identity_conflict", payload)

    def source(self, name: str, problem: str) -> None:
        """Emits ``/hardware/source/failed`` or ``ok``."""
        self._bus.emit(f"/hardware/source/{'failed' if problem else 'ok'}", {"source": name, "cause": problem})

    def defect(self, error: Exception) -> None:
        self._journal.defect("hardware", error)

    def later(self, work: Callable[[], None]) -> None:
        self._journal.later(work)
