"""The devices of a runtime: listed, explained, given names."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict
from typing import Any

from evatui.control.operator import CommandFailed
from evatui.control.params import Params, read_flag, read_needed, read_text
from evatui.hardware.device import Device
from evatui.hardware.lifecycle import DeviceState
from evatui.kernel.model.call import Actor
from evatui.kernel.model.errors import ErrorKind
from evatui.kernel.model.text import clean_line
from evatui.kernel.records.codes import Code, Outcome
from evatui.runtime import Runtime

__all__ = ["SETTLE_S", "Devices"]

SETTLE_S = 3.0
"""How long a source is waited for that has not looked yet, or sees something that has not settled."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,127}", re.ASCII)


class Devices:
    """``work`` has the commands by name. Devices are looked for as soon as somebody asks for them."""

    def __init__(self, runtime: Runtime) -> None:
        self.work: Mapping[str, Callable[[Params, Actor], Awaitable[dict[str, Any]]]] = {
            "hardware.list": self._list,
            "hardware.inspect": self._inspect,
            "hardware.rescan": self._rescan,
            "hardware.bind": self._bind,
        }
        self._runtime = runtime
        self._hardware = runtime.hardware

    async def listed(self) -> dict[str, Any]:
        """``{devices, sources}``, once what is plugged in has settled."""
        await self._looked()
        return self._listed()

    async def _list(self, params: Params, actor: Actor) -> dict[str, Any]:
        return await self.listed()

    async def _inspect(self, params: Params, actor: Actor) -> dict[str, Any]:
        await self._looked()
        device = self._known(read_needed(params, "key"))
        kept, seen = device.kept, device.identity.sighting
        return {
            **_row(device),
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

    async def _rescan(self, params: Params, actor: Actor) -> dict[str, Any]:
        await self._hardware.open()
        await self._hardware.rescan(SETTLE_S)
        return self._listed()

    async def _bind(self, params: Params, actor: Actor) -> dict[str, Any]:
        """``{key, logical_id, was}``: the device as it is called from now on, and the name that it had before."""
        await self._looked()
        wanted, name = read_needed(params, "key"), read_text(params, "name")
        if read_flag(params, "remove"):
            return await self._unbind(wanted, actor)
        if name is None or _NAME.fullmatch(name) is None:
            said = "a name is 1 to 128 characters of A-Z a-z 0-9 _ . -, and begins with a letter or digit"
            raise CommandFailed(ErrorKind.INVALID_INPUT, said)
        device = self._known(wanted)
        was = device.identity.logical_id
        owner = next((print_ for print_, given in self._hardware.fleet.bindings.items() if given == name), None)
        if owner is not None and owner != device.identity.fingerprint:
            raise CommandFailed(
                ErrorKind.CONFLICT,
                f"{name} already means {clean_line(owner)}",
                suggestion=f"eva hardware bind {name} --remove",
            )
        await self._hardware.bind(device, name, actor.id or actor.type.value)
        return self._bound(Code.DEVICE_BOUND, device.identity.key, device.identity.fingerprint, name, was, actor)

    async def _unbind(self, wanted: str, actor: Actor) -> dict[str, Any]:
        named = {name: print_ for print_, name in self._hardware.fleet.bindings.items()}
        fingerprint = named.get(wanted) or self._known(wanted).identity.fingerprint
        was = self._hardware.fleet.bindings.get(fingerprint)
        await self._hardware.unbind(fingerprint)
        return self._bound(Code.DEVICE_UNBOUND, fingerprint, fingerprint, None, was, actor)

    def _bound(
        self, code: Code, key: str, fingerprint: str, name: str | None, was: str | None, actor: Actor
    ) -> dict[str, Any]:
        self._runtime.registry.journal.write(code, Outcome.OK, actor, device=fingerprint, logical_id=name, was=was)
        return {"key": key, "logical_id": name, "was": was}

    async def _looked(self) -> None:
        await self._hardware.open()
        await self._hardware.settled(SETTLE_S)

    def _listed(self) -> dict[str, Any]:
        fleet = self._hardware.fleet
        rows = [*map(_row, fleet.devices)]
        rows += [_missing(print_, name, fleet.generation(print_)) for print_, name in fleet.missing]
        return {"devices": rows, "sources": [asdict(health) for health in self._hardware.sources]}

    def _known(self, wanted: str) -> Device:
        """By key, by fingerprint, or by its name."""
        for device in self._hardware.fleet.devices:
            identity = device.identity
            if wanted in (identity.key, identity.fingerprint, identity.logical_id):
                return device
        raise CommandFailed(
            ErrorKind.DEVICE_NOT_FOUND, f"no device {clean_line(wanted, 200)} is there", suggestion="eva hardware list"
        )


def _row(device: Device) -> dict[str, Any]:
    identity = device.identity
    return {
        "key": identity.key,
        "logical_id": identity.logical_id,
        "bus": identity.sighting.bus.value,
        "state": device.state.value,
        "strength": identity.strength.value,
        "simulated": identity.sighting.simulated,
        "generation": device.generation,
        "owner": None,
        "reason": device.reason,
        "fix": device.fix,
        "name": identity.sighting.name,
        "since": device.since,
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
    }


def _hex(number: int | None) -> str | None:
    return f"{number:04x}" if number is not None else None
