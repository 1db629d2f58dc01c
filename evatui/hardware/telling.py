"""What happens to devices, as events."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from evatui.hardware.device import Change, Device
from evatui.hardware.lifecycle import HELD, DeviceState
from evatui.hardware.station import Lease, Owner
from evatui.kernel.model.call import KERNEL, Actor
from evatui.kernel.records.codes import Code, Outcome
from evatui.kernel.records.events import EventBus
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


def topic_of(state: DeviceState) -> str:
    """The last segment of the topic that tells of a device that came to be in ``state``."""
    return _TOPICS.get(state, state.value)


class Telling:
    def __init__(self, bus: EventBus, journal: Journal) -> None:
        self._bus = bus
        self._journal = journal

    def device(self, change: Change) -> None:
        """Emits ``/hardware/device/<what>``; nothing for what was so before the runtime started."""
        let_go = change.old in HELD and change.new is DeviceState.PRESENT
        if change.known or change.new in _QUIET or let_go:
            return
        identity = change.device.identity
        payload = {
            **_who(change.device),
            "device_gen": change.generation,
            "state": change.new.value,
            "cause": change.cause,
            "at": change.at,
        }
        topic = "reattached" if change.old is change.new else topic_of(change.new)
        self._bus.emit(f"/hardware/device/{topic}", payload)
        if change.new is DeviceState.AMBIGUOUS and identity.cloned:
            self._bus.emit("/hardware/device/identity_conflict", payload)

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


def _who(device: Device) -> dict[str, Any]:
    identity = device.identity
    return {
        "device_key": identity.key,
        "logical_id": identity.logical_id,
        "bus": identity.sighting.bus.value,
        "simulated": identity.sighting.simulated,
    }
