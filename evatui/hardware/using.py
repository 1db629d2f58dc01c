"""The use of devices: every call, and every claim of an operator, goes through the station of its device."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, Final

from evatui.hardware.connection import Connection
from evatui.hardware.device import Change, Device
from evatui.hardware.dialect import PLAIN, Dialect
from evatui.hardware.lifecycle import HELD, DeviceState
from evatui.hardware.moment import Moment
from evatui.hardware.sources.source import Source
from evatui.hardware.station import Lease, Owner, Station
from evatui.hardware.tap import Tap
from evatui.hardware.telling import Telling
from evatui.hardware.trouble import Trouble
from evatui.kernel.model.call import KERNEL, Actor
from evatui.kernel.model.errors import ErrorKind

__all__ = ["Using"]

_WHY: Final = {DeviceState.LOST: ErrorKind.DEVICE_DISCONNECTED, DeviceState.ABSENT: ErrorKind.DEVICE_DISCONNECTED}


class Using:
    """For the kernel's loop. ``ended`` hears of each claim that ends."""

    def __init__(
        self,
        sources: Sequence[Source],
        devices: Callable[[], Iterable[Device]],
        judge: Callable[[], None],
        telling: Telling,
        now: Callable[[], Moment],
    ) -> None:
        self.ended: Callable[[Lease], None] = _nobody
        self._sources = {source.bus: source for source in sources}
        self._devices = devices
        self._judge = judge
        self._telling = telling
        self._now = now
        self._stations: dict[str, Station] = {}
        self._dialects: dict[str, Dialect] = {}
        self._taps: dict[str, Tap] = {}

    def speaks(self, logical_id: str, dialect: Dialect) -> None:
        """How an operator's claim opens the device of that name."""
        self._dialects[logical_id] = dialect

    def forget(self, logical_id: str, dialect: Dialect) -> None:
        """Unless somebody else speaks for it by now."""
        if self._dialects.get(logical_id) is dialect:
            del self._dialects[logical_id]

    def named(self, logical_id: str) -> Device:
        """Raises `Trouble` ``DeviceNotFound`` where nothing of that name is plugged in."""
        for device in self._devices():
            if device.identity.logical_id == logical_id:
                return device
        raise Trouble(ErrorKind.DEVICE_NOT_FOUND, f"no device {logical_id} is plugged in", retryable=True)

    def lease_of(self, device: Device) -> Lease | None:
        return self.station(device).lease

    def tap(self, device: Device) -> Tap:
        """What is said to this device and by it; kept as long as it is expected back."""
        fingerprint = device.identity.fingerprint
        found = self._taps.get(fingerprint)
        if found is None:
            found = self._taps[fingerprint] = Tap(self._now)
        return found

    def station(self, device: Device) -> Station:
        """The one of this device, also where it was plugged in anew."""
        fingerprint = device.identity.fingerprint
        found = self._stations.get(fingerprint)
        if found is None or found.device is not device:
            found = self._stations[fingerprint] = Station(device, self._connect, self._judge, self._now)
        return found

    async def ask(
        self,
        device: Device,
        dialect: Dialect,
        capability: str,
        payload: Any,
        owner: Owner,
        left_s: float,
        expected: int | None,
    ) -> Any:
        """The answer of a device. Raises `Trouble`."""
        self._telling.command("accepted", device, capability, owner, "")
        try:
            answer = await self.station(device).ask(dialect, capability, payload, owner, left_s, expected)
        except Trouble as trouble:
            self._telling.fault(device, trouble, self._now())
            self._telling.command("unknown" if trouble.sent else "failed", device, capability, owner, trouble.message)
            raise
        except asyncio.CancelledError:
            self._telling.command("cancelled", device, capability, owner, "whoever called has given it up")
            raise
        self._telling.answered(device, capability, answer, self._now())
        self._telling.command("completed", device, capability, owner, "")
        return answer

    async def claim(self, device: Device, actor: Actor, request_id: str, *, force: bool) -> Lease:
        """Raises `Trouble`. ``force``: whoever has claimed it before has it no more."""
        station, who = self.station(device), actor.id or actor.type.value
        if force and station.claimed is not None:
            self._revoke(station, ErrorKind.DEVICE_BUSY, f"{who} took it", actor)
        dialect = self._dialects.get(device.identity.logical_id or "", PLAIN)
        try:
            lease = await station.claim(dialect, Owner("operator", who, request_id))
        except Trouble as trouble:
            self._telling.fault(device, trouble, self._now())
            raise
        self._telling.lease("granted", device, lease, "", actor)
        return lease

    def release(self, device: Device, actor: Actor, *, force: bool) -> Lease:
        """Raises `Trouble` where nobody has claimed it, or somebody else."""
        station, who = self.station(device), actor.id or actor.type.value
        lease = station.claimed
        if lease is None:
            raise Trouble(ErrorKind.CONFLICT, "nobody has claimed the device")
        if lease.owner.who != who and not force:
            message = f"{lease.owner.who} has claimed the device, not {who}; --force takes it from them"
            raise Trouble(ErrorKind.CONFLICT, message)
        if lease.owner.who == who:
            station.release()
            self._telling.lease("released", device, lease, "", actor)
            self.ended(lease)
        else:
            self._revoke(station, ErrorKind.DEVICE_BUSY, f"{who} took it", actor)
        return lease

    def told(self, change: Change) -> None:
        """A device that is not anybody's to use any more is nobody's."""
        if change.old in HELD and change.new not in HELD:
            station = self._stations.get(change.device.identity.fingerprint)
            if station is not None and station.device is change.device and not station.closing:
                kind = _WHY.get(change.new, ErrorKind.DEVICE_UNAUTHORIZED)
                self._revoke(station, kind, change.cause)
        if change.new is DeviceState.ABSENT:
            self._stations.pop(change.device.identity.fingerprint, None)
            tap = self._taps.pop(change.device.identity.fingerprint, None)
            if tap is not None:
                self._telling.later(partial(tap.log_to, None))

    def retry(self) -> None:
        """What failed before is no reason not to open a device."""
        for station in self._stations.values():
            station.patience.forget()

    async def close(self) -> None:
        for station in self._stations.values():
            await station.end()
        for tap in self._taps.values():
            self._telling.later(partial(tap.log_to, None))

    def _revoke(self, station: Station, kind: ErrorKind, why: str, actor: Actor = KERNEL) -> None:
        claimed = station.claimed
        station.revoke(kind, why)
        if claimed is not None:
            self._telling.lease("revoked", station.device, claimed, why, actor)
            self.ended(claimed)

    def _connect(self, device: Device, dialect: Dialect) -> Connection:
        sighting = device.identity.sighting
        return Connection(partial(self._sources[sighting.bus].open, sighting, dialect.line), self.tap(device))


def _nobody(lease: Lease) -> None:
    """Nobody wants to know."""
