"""The transport ``hardware``: a device answers, which is spoken to by its name."""

from __future__ import annotations

from typing import Any

from evatui.hardware.device import Device
from evatui.hardware.dialect import Dialect
from evatui.hardware.hardware import Hardware
from evatui.hardware.hotplug import hotplug_of
from evatui.hardware.lifecycle import HELD, DeviceState
from evatui.hardware.matching import match_of
from evatui.hardware.station import Owner
from evatui.hardware.trouble import Trouble
from evatui.kernel.host.ports import Invocation, NotSent, WayState
from evatui.kernel.model.adapter import Adapter
from evatui.kernel.model.errors import ErrorKind, failure
from evatui.kernel.model.permissions import covers_name
from evatui.kernel.model.text import clean_line
from evatui.kernel.model.tools import ServerInfo
from evatui.kernel.registry.providers.circuit import Rate

__all__ = ["HardwareWay"]

_SETTLE_S = 3.0
_RATE, _BURST = 20, 2
"""Calls a second of each capability where its manifest does not say how many, and twice as many at once."""
_MARGIN_S = 0.02
"""The device's own deadline comes first: a call that is cut from outside costs the open connection."""


class HardwareWay:
    """``logical_id`` and ``expected_generation`` of a payload say which device is meant, and which connection of it;
    the rest is for the device. The answer always says whether it is simulated."""

    server: ServerInfo | None = None

    def __init__(self, adapter: Adapter, hardware: Hardware) -> None:
        self._hardware = hardware
        self._rates: dict[str, Rate] = {}
        self._speaks_for(adapter)

    def _speaks_for(self, adapter: Adapter) -> None:
        self._adapter = adapter
        self._match = match_of(adapter.block)
        self._name = self._match.logical_id
        block = adapter.block
        self._dialect = Dialect(block["protocol"], block["driver"]["kind"], hotplug_of(block["hotplug"]))
        self._hardware.expect(adapter.id, self._match, self._dialect)

    @property
    def state(self) -> WayState:
        try:
            device = self._hardware.using.named(self._name)
        except Trouble:
            return WayState("idle")
        if device.state in HELD:
            return WayState("up")
        if device.state is DeviceState.AUTHORIZED:
            return WayState("idle")
        return WayState("down", f"{self._name} is {device.state}")

    def target(self, invocation: Invocation) -> str:
        payload = invocation.payload
        if not isinstance(payload, dict):
            raise NotSent(ErrorKind.INVALID_INPUT, "the payload must be an object", retryable=False)
        wanted = payload.get("logical_id", self._name)
        if wanted != self._name:
            message = f"{self._adapter.id} speaks for {self._name}, not for {clean_line(str(wanted), 128)}"
            raise NotSent(ErrorKind.DEVICE_NOT_FOUND, message, retryable=False)
        expected = payload.get("expected_generation")
        if expected is not None and (isinstance(expected, bool) or not isinstance(expected, int)):
            raise NotSent(ErrorKind.INVALID_INPUT, "expected_generation must be a whole number", retryable=False)
        if any(covers_name(entry, invocation.capability) for entry in self._hardware.rules.denied):
            message = f"the policy denies {invocation.capability} of every device"
            raise NotSent(ErrorKind.POLICY_DENIED, message, retryable=False)
        per_s = self._adapter.limits.rate_per_s or _RATE
        rate = self._rates.setdefault(invocation.capability, Rate(self._hardware.clock, _BURST))
        if not rate.take(per_s):
            message = f"{self._name} takes {per_s} calls of {invocation.capability} a second"
            raise NotSent(ErrorKind.DEVICE_RATE_LIMITED, message, retry_after_ms=max(1, 1_000 // per_s))
        return f"{self._name} {invocation.capability}"

    async def invoke(self, invocation: Invocation) -> Any:
        await self._hardware.open()
        await self._hardware.settled(min(_SETTLE_S, invocation.left_s))
        payload = {**invocation.payload}
        payload.pop("logical_id", None)
        expected = payload.pop("expected_generation", None)
        caller = invocation.caller
        owner = Owner("call", caller.id or caller.type.value, invocation.request_id)
        left_s = invocation.left_s - _MARGIN_S
        try:
            using = self._hardware.using
            device = using.named(self._name)
            answer = await using.ask(device, self._dialect, invocation.capability, payload, owner, left_s, expected)
        except Trouble as trouble:
            kind, message = trouble.kind, f"{self._name}: {trouble.message}"
            if trouble.sent:
                raise failure(kind, message, retryable=trouble.retryable, **trouble.details) from None
            raise NotSent(kind, message, retryable=trouble.retryable, **trouble.details) from None
        return _labelled(answer, device)

    async def probe(self) -> None:
        """May it be used now? Nothing is opened."""
        await self._hardware.open()
        await self._hardware.settled(_SETTLE_S)
        try:
            self._hardware.using.station(self._hardware.using.named(self._name)).check()
        except Trouble as trouble:
            raise failure(trouble.kind, f"{self._name}: {trouble.message}", retryable=trouble.retryable) from None

    def adjust(self, adapter: Adapter) -> None:
        self._speaks_for(adapter)

    def start(self) -> None:
        """Opened by the first call: opening alone resets many a device."""

    async def close(self) -> None:
        self._hardware.forget(self._adapter.id, self._match, self._dialect)


def _labelled(answer: Any, device: Device) -> dict[str, Any]:
    said = answer if isinstance(answer, dict) else {"value": answer}
    simulated = device.identity.sighting.simulated
    return {**said, "simulated": simulated, "device_generation": device.generation}
