"""The room's door: what devices there are, followed for as long as a runtime serves."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from evatui.hardware.device import Change, Device
from evatui.hardware.dialect import Dialect
from evatui.hardware.fleet import Fleet
from evatui.hardware.lifecycle import DeviceState
from evatui.hardware.matching import Match
from evatui.hardware.moment import Moment
from evatui.hardware.reclaim import Reclaim, Wanted
from evatui.hardware.rounds import Rounds
from evatui.hardware.rules import Rules, rules_of
from evatui.hardware.sighting import Bus
from evatui.hardware.sources.health import SourceHealth
from evatui.hardware.sources.looking import Look, Looking
from evatui.hardware.sources.noticing import Noticing
from evatui.hardware.sources.source import Source
from evatui.hardware.station import Lease
from evatui.hardware.telling import Telling
from evatui.hardware.trouble import Trouble
from evatui.hardware.using import Using
from evatui.kernel.admission.policy import Policy
from evatui.kernel.model.call import KERNEL, Actor
from evatui.kernel.model.clock import Clock, rfc3339
from evatui.kernel.model.errors import ErrorKind
from evatui.kernel.storage.database import StorageError
from evatui.kernel.storage.device_book import Binding, Claim, DeviceBook

__all__ = ["Hardware"]


class Hardware:
    """For the loop that opens it. Closed, and before it is opened, it knows of no device."""

    def __init__(
        self,
        sources: Sequence[Source],
        book: DeviceBook,
        policy: Callable[[], Policy | None],
        telling: Telling,
        clock: Clock,
        folder: str = "/dev",
    ) -> None:
        """``folder`` is where nodes of devices come and go."""
        self.fleet = Fleet(self._told)
        self.using = Using(sources, lambda: self.fleet.devices, self.judge, telling, lambda: self.now)
        self.using.ended = self._unclaim
        self._reclaim = Reclaim(self._claim_again, self._gave_up)
        self._lookings = [Looking(source) for source in sources]
        self._health = {source.name: SourceHealth(source.name, source.bus.value) for source in sources}
        self._book = book
        self._policy = policy
        self._telling = telling
        self.clock = clock
        self._tasks: list[asyncio.Task[None]] = []
        self._rounds = Rounds(sources)
        self._news = asyncio.Event()
        self._opening: asyncio.Task[None] | None = None
        self._unwritten: dict[str, Device] = {}
        self._noticing = Noticing(folder, self._rounds.hint)

    @property
    def has_looked(self) -> bool:
        return any(health.looked for health in self._health.values())

    @property
    def sources(self) -> list[SourceHealth]:
        return list(self._health.values())

    @property
    def addresses(self) -> list[str]:
        """Of the network, that adapters name."""
        return sorted({match.address for match in list(self.fleet.matches.values()) if match.address})

    @property
    def rules(self) -> Rules:
        policy = self._policy()
        return rules_of(policy.settings if policy is not None else None)

    @property
    def now(self) -> Moment:
        return Moment(self.clock.monotonic(), rfc3339(self.clock.now()))

    async def open(self) -> None:
        """From now on the sources look, again and again. Idempotent. Raises `StorageError`."""
        if self._opening is None:
            self._opening = asyncio.create_task(self._open())
        try:
            await asyncio.shield(self._opening)
        except StorageError:
            self._opening = None
            raise

    async def _open(self) -> None:
        kept, bindings, orphans = await asyncio.to_thread(
            lambda: (self._book.devices(), self._book.bindings(), self._book.orphans())
        )
        for orphan in orphans:
            self._telling.orphan(orphan)
        self.fleet.remember(kept, {one.fingerprint: one.logical_id for one in bindings})
        self._tasks = [asyncio.create_task(self._follow(looking)) for looking in self._lookings]
        self._noticing.open()

    async def settled(self, within_s: float) -> bool:
        """Waits until each source has looked once, and what it saw has settled; False after ``within_s``."""
        try:
            async with asyncio.timeout(within_s):
                while not self._is_settled():
                    self._news.clear()
                    await self._news.wait()
        except TimeoutError:
            return False
        return True

    async def rescan(self, within_s: float) -> bool:
        """Looks now, and waits as `settled` does; what could not be opened may be tried again."""
        self.using.retry()
        self._look_again(*Bus)
        return await self.settled(within_s)

    def _look_again(self, *buses: Bus) -> None:
        for looking in self._lookings:
            name, bus = looking.source.name, looking.source.bus
            if bus in buses:
                looking.renew()
                self._health[name] = SourceHealth(name, bus.value)
        self._rounds.ask(*buses)

    async def bind(self, device: Device, logical_id: str, actor: str) -> None:
        """From now on ``device`` is ``logical_id``. Raises `StorageError`."""
        binding = Binding(fingerprint=device.identity.fingerprint, logical_id=logical_id, at=self.now.at, actor=actor)
        await asyncio.to_thread(self._book.bind, binding)
        self.fleet.bindings[binding.fingerprint] = logical_id
        self.judge()

    async def unbind(self, fingerprint: str) -> None:
        """Raises `StorageError`."""
        await asyncio.to_thread(self._book.unbind, fingerprint)
        self.fleet.bindings.pop(fingerprint, None)
        self.judge()

    def expect(self, adapter_id: str, match: Match, dialect: Dialect) -> None:
        """From now on an adapter speaks for the device that it describes."""
        new = match.address and match.address not in self.addresses
        self.fleet.matches[adapter_id] = match
        self.using.speaks(match.logical_id, dialect)
        if new:
            self._look_again(Bus.REMOTE)
        self.judge()

    def forget(self, adapter_id: str, match: Match, dialect: Dialect) -> None:
        """It does so no more, unless another one of that id does by now."""
        if self.fleet.matches.get(adapter_id) is match:
            del self.fleet.matches[adapter_id]
        self.using.forget(match.logical_id, dialect)
        self.judge()

    def judge(self) -> None:
        """Every device as it was seen last, under the names and rules of now."""
        self.fleet.again(self.rules, self.now)

    async def claim(self, device: Device, actor: Actor, request_id: str, *, force: bool, again: bool = False) -> Lease:
        """``again``: also when it went away and comes back. Raises `Trouble`, and `StorageError` where it cannot be
        written down that it is held: then it is not."""
        lease = await self.using.claim(device, actor, request_id, force=force)
        claim = Claim(
            fingerprint=device.identity.fingerprint,
            lease_id=lease.lease_id,
            at=lease.granted_at,
            actor=lease.owner.who,
        )
        try:
            await asyncio.to_thread(self._book.claim, claim)
        except StorageError:
            self.using.release(device, actor, force=True)
            raise
        self._reclaim.forget(device)
        if again:
            self._reclaim.want(device, Wanted(actor, request_id, lease))
        return lease

    def release(self, device: Device, actor: Actor, *, force: bool) -> Lease:
        """The lease that ended. One that went away, and is to be claimed again, is so no more. Raises `Trouble`."""
        wanted = self._reclaim.wanted(device)
        if wanted is None or self.using.station(device).claimed is not None:
            lease = self.using.release(device, actor, force=force)
        elif force or wanted.actor == actor:
            lease = wanted.lease
        else:
            raise Trouble(ErrorKind.CONFLICT, "somebody else wants the device when it comes back; --force ends that")
        self._reclaim.forget(device)
        return lease

    async def _claim_again(self, device: Device, wanted: Wanted) -> Lease:
        return await self.claim(device, wanted.actor, wanted.request_id, force=False, again=True)

    def _gave_up(self, device: Device, wanted: Wanted, why: str) -> None:
        self._telling.lease("expired", device, wanted.lease, why, KERNEL)

    def _unclaim(self, lease: Lease) -> None:
        def forget() -> None:
            with contextlib.suppress(StorageError):  # the next start then finds it, and says so
                self._book.unclaim(lease.lease_id)

        self._telling.later(forget)

    async def close(self) -> None:
        self._noticing.close()
        self._reclaim.close()
        self._rounds.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.using.close()
        for looking in self._lookings:
            looking.close()

    def _is_settled(self) -> bool:
        looked = all(health.looked or not health.looking for health in self._health.values())
        waiting = (DeviceState.SETTLING, DeviceState.PRESENT)
        return looked and not any(device.state in waiting for device in self.fleet.devices)

    async def _follow(self, looking: Looking) -> None:
        name = looking.source.name
        while True:
            began = self.clock.monotonic()
            self._rounds.begin(name)
            try:
                await self._look(looking)
            except Exception as error:  # the next look may succeed
                self._telling.defect(error)
            self._news.set()
            self._write()
            await self._rounds.pause(name, self._due_s(began))

    def _due_s(self, began: float) -> float | None:
        """How soon a device has something to do by itself. What was due before the look that has just ended waits for
        another one, which may see more: the next round is soon enough for it."""
        due = self.fleet.due
        return due - self.clock.monotonic() if due is not None and due > began else None

    async def _look(self, looking: Looking) -> None:
        name, bus = looking.source.name, looking.source.bus
        if not self.rules.looks_for(bus):
            self.fleet.disable(name, self.now)
            self._health[name] = SourceHealth(name, bus.value, looking=False)
            return
        look = await looking.look()
        self._note(name, bus.value, look)
        if look.sightings is not None:
            self.fleet.observe(name, look.sightings, self.rules, self.now)
        else:
            self.fleet.pass_time(self.now)

    def _note(self, name: str, bus: str, look: Look) -> None:
        before = self._health[name]
        looked = before.looked or not self._rounds.is_asked(name)  # who asked meanwhile waits for the next look
        self._health[name] = SourceHealth(name, bus, looked, look.problem, look.took_ms)
        if look.problem != before.problem:
            self._telling.source(name, look.problem)

    def _told(self, change: Change) -> None:
        self._telling.device(change)
        self.using.told(change)
        self._reclaim.told(change)
        if change.device.kept is not None:
            self._unwritten[change.device.identity.fingerprint] = change.device

    def _write(self) -> None:
        """What is to be remembered of whatever changed."""
        kept = [device.kept for device in self._unwritten.values() if device.kept is not None]
        self._unwritten.clear()
        if kept:
            self._telling.later(partial(self._keep, kept))

    def _keep(self, kept: Sequence[Any]) -> None:
        with contextlib.suppress(StorageError):  # the health of the database says so; the next change tries again
            self._book.keep(kept)
