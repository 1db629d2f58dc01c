"""What happens to devices, as events."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any, Final

from evatui.hardware.device import Change, Device
from evatui.hardware.lifecycle import HELD, DeviceState
from evatui.hardware.moment import Moment
from evatui.hardware.patience import LeftAlone
from evatui.hardware.station import Lease, Owner
from evatui.hardware.trouble import Trouble
from evatui.kernel.model.call import KERNEL, Actor
from evatui.kernel.model.errors import ErrorKind
from evatui.kernel.records.codes import Code, Outcome
from evatui.kernel.records.events import EventBus
from evatui.kernel.records.record import canonical
from evatui.kernel.registry.journal import Journal
from evatui.kernel.storage.device_book import Claim

__all__ = ["Telling", "topic_of"]

_TOPICS: Final = {
    DeviceState.SETTLING: "discovered",
    DeviceState.PRESENT: "settled",
    DeviceState.LOST: "offline",
    DeviceState.ABSENT: "removed",
}
"""The other states are their own topics."""
_CODES: Final = {
    "granted": Code.DEVICE_CLAIMED,
    "released": Code.DEVICE_RELEASED,
    "revoked": Code.DEVICE_REVOKED,
    "expired": Code.DEVICE_EXPIRED,
}
_QUIET: Final = frozenset({DeviceState.OPENING, DeviceState.HANDSHAKING})
_FAULTS: Final = frozenset(
    {
        ErrorKind.DEVICE_OPEN_FAILED,
        ErrorKind.DEVICE_HANDSHAKE_FAILED,
        ErrorKind.DEVICE_PROTOCOL_ERROR,
        ErrorKind.DEVICE_FRAME_TOO_LARGE,
        ErrorKind.DEVICE_WRITE_UNKNOWN,
        ErrorKind.TIMEOUT,
    }
)
"""Those of the device itself; that it went away is told as such."""
_DATA_S: Final = 0.1
"""A device may answer a thousand times a second, and an event is for somebody who watches."""


def topic_of(state: DeviceState) -> str:
    """The last segment of the topic that tells of a device that came to be in ``state``."""
    return _TOPICS.get(state, state.value)


class Telling:
    def __init__(self, bus: EventBus, journal: Journal) -> None:
        self._bus = bus
        self._journal = journal
        self._next_data: dict[str, float] = {}

    def device(self, change: Change) -> None:
        """Emits ``/hardware/device/<what>``; nothing for what was so before the runtime started."""
        let_go = change.old in HELD and change.new is DeviceState.PRESENT
        if change.known or change.new in _QUIET or let_go:
            return
        identity = change.device.identity
        if change.new is DeviceState.ABSENT:
            self._next_data.pop(identity.fingerprint, None)
        payload = _state(change.device, change.new, change.generation, change.cause, change.at)
        topic = "reattached" if change.old is change.new else topic_of(change.new)
        self._bus.emit(f"/hardware/device/{topic}", payload)
        if change.new is DeviceState.AMBIGUOUS and identity.cloned:
            self._bus.emit("/hardware/device/identity_conflict", payload)

    def fault(self, device: Device, trouble: Trouble, now: Moment) -> None:
        """Emits ``/hardware/device/error`` where ``trouble`` is the device's own."""
        if trouble.kind in _FAULTS and not isinstance(trouble, LeftAlone):
            payload = _state(device, device.state, device.generation, trouble.message, now.at)
            self._bus.emit("/hardware/device/error", {**payload, "kind": trouble.kind.value})

    def answered(self, device: Device, capability: str, answer: Any, now: Moment) -> None:
        """Emits ``/hardware/device/data``: what is said to a capability is not for everybody who hears events, so only
        the size and the first 8 digits of the SHA-256 of its canonical JSON are told."""
        key = device.identity.fingerprint
        if now.monotonic < self._next_data.get(key, 0.0):
            return
        try:
            said = canonical(answer)
        except TypeError:  # no JSON, and so no answer: whoever asked is told
            return
        self._next_data[key] = now.monotonic + _DATA_S
        payload = _state(device, device.state, device.generation, "", now.at)
        told = {"capability": capability, "size": len(said), "sha8": hashlib.sha256(said).hexdigest()[:8]}
        self._bus.emit("/hardware/device/data", {**payload, **told})

    def lease(self, what: str, device: Device, lease: Lease, cause: str, actor: Actor) -> None:
        """Emits ``/hardware/lease/<what>``, and writes it down: ``granted``, ``released``, ``revoked``, or ``expired``
        where it was wanted again and did not come back. Only of what operators hold: calls come and go too often."""
        owner = lease.owner.who
        payload = {"lease_id": lease.lease_id, "owner": owner, "epoch": lease.epoch, "device_gen": lease.generation}
        self._bus.emit(f"/hardware/lease/{what}", {**_who(device), **payload, "cause": cause}, actor=actor)
        key = device.identity.fingerprint
        self._journal.write(_CODES[what], Outcome.OK, actor, device=key, owner=owner, cause=cause)

    def orphan(self, claim: Claim) -> None:
        payload = {"device_key": claim.fingerprint, "lease_id": claim.lease_id, "owner": claim.actor, "at": claim.at}
        self._bus.emit("/hardware/lease/orphaned", payload)
        self._journal.write(Code.DEVICE_ORPHANED, Outcome.UNKNOWN, KERNEL, device=claim.fingerprint, owner=claim.actor)

    def command(self, what: str, device: Device, capability: str, owner: Owner, cause: str) -> None:
        """Emits ``/hardware/command/<what>``: ``accepted``, and how it ended: ``completed``, ``failed`` before anything
        was sent, ``unknown`` after, ``cancelled``."""
        payload = {"capability": capability, "request_id": owner.what, "cause": cause}
        self._bus.emit(f"/hardware/command/{what}", {**_who(device), **payload})

    def source(self, name: str, problem: str) -> None:
        """Emits ``/hardware/source/failed`` or ``ok``."""
        self._bus.emit(f"/hardware/source/{'failed' if problem else 'ok'}", {"source": name, "cause": problem})

    def defect(self, error: Exception) -> None:
        self._journal.defect("hardware", error)

    def later(self, work: Callable[[], None]) -> None:
        self._journal.later(work)


def _state(device: Device, state: DeviceState, generation: int, cause: str, at: str) -> dict[str, Any]:
    return {**_who(device), "device_gen": generation, "state": state.value, "cause": cause, "at": at}


def _who(device: Device) -> dict[str, Any]:
    identity = device.identity
    return {
        "device_key": identity.key,
        "logical_id": identity.logical_id,
        "bus": identity.sighting.bus.value,
        "simulated": identity.sighting.simulated,
    }
