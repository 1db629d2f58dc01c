"""Devices in the shapes that scripts rely on."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from evatui.hardware.device import Device
from evatui.hardware.hardware import Hardware
from evatui.hardware.lifecycle import DeviceState
from evatui.hardware.station import Lease

__all__ = ["device_row", "device_whole", "devices_listed", "lease_json"]


def devices_listed(hardware: Hardware) -> dict[str, Any]:
    """``{devices, sources}``: what is there, and what has a name and is not."""
    fleet = hardware.fleet
    rows = [device_whole(hardware, device) for device in fleet.devices]
    rows += [_missing(print_, name, fleet.generation(print_)) for print_, name in fleet.missing]
    return {"devices": rows, "sources": [asdict(health) for health in hardware.sources]}


def device_row(hardware: Hardware, device: Device) -> dict[str, Any]:
    identity, station = device.identity, hardware.using.station(device)
    return {
        "key": identity.key,
        "logical_id": identity.logical_id,
        "bus": identity.sighting.bus.value,
        "state": device.state.value,
        "strength": identity.strength.value,
        "simulated": identity.sighting.simulated,
        "generation": device.generation,
        "owner": lease_json(station.lease) if station.lease is not None else None,
        "reason": device.reason,
        "fix": device.fix,
        "name": identity.sighting.name,
        "since": device.since,
        "waiting": station.waiting,
        "traffic": hardware.using.tap(device).traffic,
    }


def device_whole(hardware: Hardware, device: Device) -> dict[str, Any]:
    kept, seen = device.kept, device.identity.sighting
    return {
        **device_row(hardware, device),
        "fingerprint": device.identity.fingerprint,
        "vendor_id": _hex(seen.vendor),
        "product_id": _hex(seen.product),
        "serial": seen.serial or None,
        "topology": seen.topology or None,
        "interface": seen.interface or None,
        "usage": seen.usage or None,
        "maker": seen.maker,
        "first_seen": kept.first_seen if kept else None,
        "last_seen": kept.last_seen if kept else None,
        "history": [asdict(link) for link in reversed(kept.links)] if kept else [],
    }


def lease_json(lease: Lease) -> dict[str, Any]:
    return {
        "kind": lease.owner.kind,
        "who": lease.owner.who,
        "request_id": lease.owner.what,
        "lease_id": lease.lease_id,
        "epoch": lease.epoch,
        "generation": lease.generation,
        "since": lease.granted_at,
    }


def _missing(fingerprint: str, name: str, generation: int) -> dict[str, Any]:
    bus = fingerprint.partition(":")[0]
    return {
        "key": fingerprint,
        "logical_id": name,
        "bus": bus,
        "state": DeviceState.ABSENT.value,
        "strength": None,
        "simulated": bus == "sim",
        "generation": generation,
        "owner": None,
        "reason": "it is not plugged in",
        "fix": "",
        "name": "",
        "since": None,
        "waiting": 0,
        "traffic": [],
    }


def _hex(number: int | None) -> str | None:
    return f"{number:04x}" if number is not None else None
