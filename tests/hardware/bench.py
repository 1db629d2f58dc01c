"""Devices as a source would see them, and time that passes when it is told to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from evatui.hardware.device import Change
from evatui.hardware.fleet import Fleet
from evatui.hardware.moment import Moment
from evatui.hardware.rules import Rules
from evatui.hardware.sighting import Bus, Sighting

RULES = Rules(enabled=True, buses=frozenset({"serial", "hid", "remote", "sim"}), quarantine=True, simulators=True)


def port(**more: Any) -> Sighting:
    """An FTDI adapter; ``more`` says otherwise."""
    said = {"vendor": 0x0403, "product": 0x6001, "serial": "FT-EVA-1", "topology": "1-1", "attachment": "a1"}
    return Sighting(bus=Bus.SERIAL, **{**said, **more})


@dataclass
class Bench:
    """A fleet with one source, looked at whenever `see` says what is plugged in."""

    rules: Rules = RULES
    now: float = 100.0
    changes: list[Change] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.fleet = Fleet(self.changes.append)

    def moment(self) -> Moment:
        return Moment(self.now, f"at {self.now:g}")

    def see(self, *there: Sighting, after: float = 0.5) -> None:
        self.now += after
        self.fleet.observe("serial", there, self.rules, self.moment())

    def settle(self, *there: Sighting) -> None:
        """Long enough for everything that a device waits for by itself."""
        for _ in range(6):
            self.see(*there)

    def states(self) -> dict[str, str]:
        return {device.identity.key: device.state.value for device in self.fleet.devices}

    def told(self) -> list[str]:
        said, self.changes[:] = [f"{change.old} > {change.new}" for change in self.changes], []
        return said
