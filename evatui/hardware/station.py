"""Who may use a device now. One lease at a time; each has a number, and what was asked under an older one is void."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any, Final

from evatui.hardware.connection import Connection
from evatui.hardware.device import Device
from evatui.hardware.dialect import Dialect
from evatui.hardware.lifecycle import HELD, DeviceState
from evatui.hardware.moment import Moment
from evatui.hardware.patience import Patience
from evatui.hardware.trouble import Trouble
from evatui.kernel.model.errors import ErrorKind
from evatui.kernel.model.ids import new_id

__all__ = ["Lease", "Owner", "Station"]

_QUEUE: Final = 64
_OPENING_S: Final = 10.0
_CLOSING_S: Final = 2.0
_USABLE: Final = HELD | {DeviceState.AUTHORIZED}
_REFUSED: Final = {
    DeviceState.QUARANTINED: ErrorKind.DEVICE_UNAUTHORIZED,
    DeviceState.DENIED: ErrorKind.DEVICE_UNAUTHORIZED,
    DeviceState.DISABLED: ErrorKind.DEVICE_UNAUTHORIZED,
    DeviceState.AMBIGUOUS: ErrorKind.DEVICE_AMBIGUOUS,
    DeviceState.NO_ACCESS: ErrorKind.DEVICE_NO_ACCESS,
}
"""In every other state it is not there, or not yet."""


@dataclass(frozen=True, slots=True)
class Owner:
    """``kind`` is ``call`` or ``operator``; ``who`` called, or claimed it, and ``what`` is the request."""

    kind: str
    who: str
    what: str = ""


@dataclass(frozen=True, slots=True)
class Lease:
    """``epoch`` counts the leases of a device in this run; ``generation`` is that of its connection."""

    lease_id: str
    owner: Owner
    epoch: int
    generation: int
    granted_at: str


class Station:
    """Of one device, for the kernel's loop."""

    def __init__(
        self,
        device: Device,
        connect: Callable[[Device, Dialect], Connection],
        judge: Callable[[], None],
        now: Callable[[], Moment],
    ) -> None:
        """``connect`` makes what opens it, ``judge`` has all devices judged as they are now."""
        self.device = device
        self.lease: Lease | None = None
        self.waiting = 0
        self._connect = connect
        self._judge = judge
        self._now = now
        self._turn = asyncio.Lock()
        self._epoch = 0
        self._connection: Connection | None = None
        self._leaving: Connection | None = None
        self._dialect: Dialect | None = None
        self._revoked: asyncio.Future[Trouble] | None = None
        self.patience = Patience()
        self.closing = False
        """It lets go of the device by itself."""

    @property
    def claimed(self) -> Lease | None:
        """The lease of an operator."""
        return self.lease if self.lease is not None and self.lease.owner.kind == "operator" else None

    async def ask(
        self, dialect: Dialect, capability: str, payload: Any, owner: Owner, left_s: float, expected: int | None
    ) -> Any:
        """One request under a lease of its own. Raises `Trouble`."""
        async with self._leased(owner, expected) as lease:
            connection = await self._ready(dialect, lease)
            try:
                answer = await self._unless_revoked(connection.ask(dialect, capability, payload, left_s, lease.epoch))
            except Trouble as trouble:
                self._broke(trouble)
                raise
            except asyncio.CancelledError:
                self._close("the call was given up")
                raise
            self._fence(lease)
            if self.device.state is DeviceState.DEGRADED:
                self.device.take(DeviceState.ONLINE, "it answers again", self._now())
            return answer

    async def claim(self, dialect: Dialect, owner: Owner) -> Lease:
        """For an operator, until `release`: whoever calls meanwhile is told so. Raises `Trouble`."""
        async with self._leased(owner, None) as lease:
            await self._ready(dialect, lease)
            self._fence(lease)
        self.lease = lease
        return lease

    def release(self) -> None:
        """What was open is closed, and the device is judged as it is now."""
        self._epoch += 1
        self.lease = None
        self._close("released")

    def revoke(self, kind: ErrorKind, why: str) -> Lease | None:
        """Whoever has it has it no more, and gets an error at once; returns that lease."""
        lease, self.lease = self.lease, None
        self._epoch += 1
        if self._revoked is not None and not self._revoked.done():
            self._revoked.set_result(Trouble(kind, why, sent=True))
        self._close(why)
        return lease

    async def end(self) -> None:
        """The runtime ends: whatever is open is closed, and that is waited for, though not for ever."""
        closing = [asyncio.ensure_future(one.close()) for one in (self._connection, self._leaving) if one is not None]
        if closing:
            await asyncio.wait(closing, timeout=_CLOSING_S)
        self._connection = self._leaving = None

    def check(self, expected: int | None = None) -> None:
        """May it be used? Raises `Trouble`, which says why not."""
        device, claimed = self.device, self.claimed
        if device.state not in _USABLE:
            kind = _REFUSED.get(device.state, ErrorKind.DEVICE_DISCONNECTED)
            gone = kind is ErrorKind.DEVICE_DISCONNECTED
            why = f": {device.reason}" if device.reason else ""
            raise Trouble(kind, f"the device is {device.state}{why}", retryable=gone, state=device.state.value)
        if claimed is not None:
            raise Trouble(ErrorKind.DEVICE_BUSY, f"{claimed.owner.who} has claimed the device", retryable=True)
        if expected is not None and expected != device.generation:
            message = f"the device was plugged in anew: generation {device.generation} by now, not {expected}"
            raise Trouble(ErrorKind.DEVICE_STALE_GENERATION, message, device_generation=device.generation)

    @contextlib.asynccontextmanager
    async def _leased(self, owner: Owner, expected: int | None) -> AsyncIterator[Lease]:
        self.check(expected)
        if self.waiting >= _QUEUE:
            raise Trouble(ErrorKind.DEVICE_BUSY, f"{_QUEUE} calls wait for the device already", retryable=True)
        self.waiting += 1
        try:
            await self._turn.acquire()
        finally:
            self.waiting -= 1
        try:
            self.check(expected)  # it may have gone, or somebody claimed it, meanwhile
            self._epoch += 1
            lease = Lease(new_id("lease"), owner, self._epoch, self.device.generation, self._now().at)
            self.lease = lease
            self._revoked = asyncio.get_running_loop().create_future()
            try:
                yield lease
            finally:
                self._revoked.cancel()
                self._revoked = None
                if self.lease is lease:
                    self.lease = None
        finally:
            self._turn.release()

    def _fence(self, lease: Lease) -> None:
        """What was answered to a lease that ended meanwhile is nobody's."""
        if self.lease is not lease or lease.epoch != self._epoch:
            raise Trouble(ErrorKind.DEVICE_DISCONNECTED, "the lease ended before the answer came", sent=True)

    async def _ready(self, dialect: Dialect, lease: Lease) -> Connection:
        """The open device; opened now, where it is not."""
        if self._connection is not None and self._dialect is not None and self._dialect.is_same(dialect):
            return self._connection
        self.patience.check(dialect.hotplug, self.device.generation, self._now().monotonic)
        self._close("it is opened anew")
        if self._leaving is not None:  # what was asked before may still be on its way: there are never two that write
            await self._unless_revoked(self._leaving.close(), _CLOSING_S, ErrorKind.DEVICE_BUSY)
            self._leaving = None
        if self.lease is not lease or self.device.state is not DeviceState.AUTHORIZED:
            raise Trouble(ErrorKind.DEVICE_DISCONNECTED, f"the device is {self.device.state}", retryable=True)
        connection, settle_s = self._connect(self.device, dialect), dialect.line.settle_s
        self._connection, self._dialect = connection, dialect
        self.device.take(DeviceState.OPENING, "opening", self._now())
        try:
            await self._unless_revoked(connection.open(settle_s), _OPENING_S + settle_s, ErrorKind.DEVICE_OPEN_FAILED)
            self.device.take(DeviceState.HANDSHAKING, "open", self._now())
            await self._unless_revoked(connection.greet(dialect, lease.epoch))
        except Trouble as trouble:
            self._broke(trouble)
            if not self._is_revoked:
                self.patience.failed(dialect.hotplug, self.device.generation, self._now().monotonic)
            raise
        except asyncio.CancelledError:
            self._close("opening was given up")
            raise
        self.device.take(DeviceState.ONLINE, "it answers", self._now())
        self.patience.forget()
        return connection

    async def _unless_revoked(
        self, work: Any, within_s: float | None = None, late: ErrorKind = ErrorKind.TIMEOUT
    ) -> Any:
        """The outcome of ``work``; what is revoked does not wait for the device, and nothing longer than that."""
        assert self._revoked is not None
        doing = asyncio.ensure_future(work)
        doing.add_done_callback(_heard)  # what is revoked may fail as well, and then nobody asks how
        try:
            await asyncio.wait({doing, self._revoked}, timeout=within_s, return_when=asyncio.FIRST_COMPLETED)
            if self._is_revoked:
                raise self._revoked.result()
            if not doing.done():
                raise Trouble(late, "the system has not opened or closed the device in time", retryable=True)
            return doing.result()
        finally:
            if not doing.done():
                doing.cancel()

    @property
    def _is_revoked(self) -> bool:
        return self._revoked is not None and self._revoked.done()

    def _broke(self, trouble: Trouble) -> None:
        """A device that has gone is gone at once; one that only did not answer is closed, to be opened anew."""
        if trouble.kind in (ErrorKind.INVALID_INPUT, ErrorKind.NOT_FOUND):
            return
        if trouble.kind is ErrorKind.DEVICE_DISCONNECTED and self.device.state in HELD:
            self.device.gone("it went away while it was in use", self._now())
        elif trouble.kind is ErrorKind.TIMEOUT and self._answers_are_numbered:
            self.device.take(DeviceState.DEGRADED, "it has not answered in time", self._now())
            return
        self._close(trouble.message)

    @property
    def _answers_are_numbered(self) -> bool:
        return self._dialect is not None and self._dialect.numbers_answers

    def _close(self, why: str) -> None:
        if self._connection is not None:
            self._connection.give_up()
            self._leaving, self._connection, self._dialect = self._connection, None, None
        if self.device.state in HELD:
            self.closing = True
            try:
                self.device.take(DeviceState.PRESENT, why, self._now())
            finally:
                self.closing = False
            self._judge()


def _heard(doing: asyncio.Future[Any]) -> None:
    if not doing.cancelled():
        doing.exception()
