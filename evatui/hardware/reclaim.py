"""Claims that come back with their device, where whoever claimed it wanted that. Each one is a lease of its own, under
the policy of then, and with a greeting; what was asked under the one before is void."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from evatui.hardware.device import Change, Device
from evatui.hardware.lifecycle import JUDGED, DeviceState
from evatui.hardware.station import Lease
from evatui.hardware.trouble import Trouble
from evatui.kernel.model.call import Actor
from evatui.kernel.storage.database import StorageError

__all__ = ["Reclaim", "Wanted"]

_ATTEMPTS: Final = 5
_PAUSE_S: Final = 1.0
_OVER: Final = (JUDGED - {DeviceState.AUTHORIZED}) | {DeviceState.ABSENT, DeviceState.DISABLED}
"""It did not come back, or as one that may not be used."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """``lease`` is the one that ended, or that still holds."""

    actor: Actor
    request_id: str
    lease: Lease


class Reclaim:
    """For the kernel's loop. ``claim`` raises `Trouble` or `StorageError`; ``gave_up`` hears why it came to nothing."""

    def __init__(
        self,
        claim: Callable[[Device, Wanted], Awaitable[Lease]],
        gave_up: Callable[[Device, Wanted, str], None],
    ) -> None:
        self._claim = claim
        self._gave_up = gave_up
        self._wanted: dict[str, Wanted] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def want(self, device: Device, wanted: Wanted) -> None:
        self._wanted[device.identity.fingerprint] = wanted

    def wanted(self, device: Device) -> Wanted | None:
        return self._wanted.get(device.identity.fingerprint)

    def forget(self, device: Device) -> None:
        self._wanted.pop(device.identity.fingerprint, None)

    def told(self, change: Change) -> None:
        device, fingerprint = change.device, change.device.identity.fingerprint
        wanted = self._wanted.get(fingerprint)
        if wanted is None:
            return
        if change.new in _OVER:
            self.forget(device)
            self._gave_up(device, wanted, change.cause)
        elif change.new is DeviceState.AUTHORIZED and fingerprint not in self._tasks:
            self._tasks[fingerprint] = asyncio.create_task(self._again(device, wanted))
            self._tasks[fingerprint].add_done_callback(lambda _: self._tasks.pop(fingerprint, None))

    def close(self) -> None:
        for task in self._tasks.values():
            task.cancel()

    async def _again(self, device: Device, wanted: Wanted) -> None:
        why = ""
        for _ in range(_ATTEMPTS):
            if self.wanted(device) is not wanted or device.state is not DeviceState.AUTHORIZED:
                return
            try:
                await self._claim(device, wanted)
                return
            except (Trouble, StorageError) as problem:
                why = problem.message if isinstance(problem, Trouble) else "it could not be written down"
                if not isinstance(problem, Trouble) or not problem.retryable:
                    break
            await asyncio.sleep(_PAUSE_S)
        if self.wanted(device) is wanted:
            self.forget(device)
            self._gave_up(device, wanted, why)
