"""What the policy says about a device that is there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evatui.hardware.identity import Identity
from evatui.hardware.lifecycle import DeviceState
from evatui.hardware.sighting import Bus

__all__ = ["Rules", "Verdict", "rules_of"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """``state`` is one of `JUDGED`; ``reason`` and ``fix`` say why it may not be used, and what a person can do."""

    state: DeviceState
    reason: str = ""
    fix: str = ""


@dataclass(frozen=True, slots=True)
class Rules:
    """The ``hardware`` block of the policy in force; without any policy there is none, and nothing is looked for."""

    enabled: bool = False
    buses: frozenset[str] = frozenset()
    quarantine: bool = True
    simulators: bool = False
    denied: tuple[str, ...] = ()
    """Names under which no device is called, patterns among them."""

    def looks_for(self, bus: Bus) -> bool:
        """Devices of other buses are seen too, and refused: but nobody simulates one for that."""
        return self.enabled and (bus is not Bus.SIM or self.simulators)

    def judge(self, identity: Identity) -> Verdict:
        sighting = identity.sighting
        if sighting.bus not in self.buses:
            reason = f"the policy allows no devices of the bus {sighting.bus}"
            return Verdict(DeviceState.DENIED, reason, f"name {sighting.bus} in hardware.allowed_buses of the policy")
        if identity.doubt:
            return Verdict(DeviceState.AMBIGUOUS, identity.doubt, _bind(identity))
        if identity.logical_id is None and self.quarantine and not sighting.simulated:
            return Verdict(DeviceState.QUARANTINED, "nobody has said what it is", _bind(identity))
        if not sighting.access.ok:
            return Verdict(DeviceState.NO_ACCESS, sighting.access.reason, sighting.access.fix)
        return Verdict(DeviceState.AUTHORIZED)


def _bind(identity: Identity) -> str:
    return f"eva hardware bind {identity.fingerprint} NAME"


def rules_of(settings: Mapping[str, Any] | None) -> Rules:
    """``settings`` are those of the policy in force."""
    block = settings["hardware"] if settings is not None else None
    if block is None:
        return Rules()
    return Rules(
        enabled=block["enabled"],
        buses=frozenset(block["allowed_buses"]),
        quarantine=block["quarantine_unknown_devices"],
        simulators=block["simulators"],
        denied=tuple(block["denied_capabilities"]),
    )
