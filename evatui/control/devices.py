"""The devices of a runtime: listed, explained, given names."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from evatui.control.device_claims import claimed, planned, released, scripted
from evatui.control.device_monitor import logged, monitored
from evatui.control.device_rows import device_whole, devices_listed
from evatui.control.failing import CommandFailed
from evatui.control.params import Params, read_flag, read_needed, read_request_id, read_text
from evatui.hardware.device import Device
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
            "hardware.plan": self._plan,
            "hardware.claim": self._claim,
            "hardware.release": self._release,
            "hardware.monitor": self._monitor,
            "hardware.log": self._log,
            "hardware.simulate": self._simulate,
        }
        self._runtime = runtime
        self._hardware = runtime.hardware

    async def listed(self) -> dict[str, Any]:
        """``{devices, sources}``, once what is plugged in has settled."""
        await self._looked()
        return devices_listed(self._hardware)

    async def _list(self, params: Params, actor: Actor) -> dict[str, Any]:
        return await self.listed()

    async def _inspect(self, params: Params, actor: Actor) -> dict[str, Any]:
        await self._looked()
        device = self._known(read_needed(params, "key"))
        return device_whole(self._hardware, device)

    async def _rescan(self, params: Params, actor: Actor) -> dict[str, Any]:
        await self._hardware.open()
        await self._hardware.rescan(SETTLE_S)
        return devices_listed(self._hardware)

    async def _plan(self, params: Params, actor: Actor) -> dict[str, Any]:
        await self._looked()
        return await planned(self._hardware, self._known(read_needed(params, "key")))

    async def _claim(self, params: Params, actor: Actor) -> dict[str, Any]:
        await self._looked()
        device, force = self._known(read_needed(params, "key")), read_flag(params, "force")
        again = read_flag(params, "again")
        return await claimed(self._hardware, device, actor, read_request_id(params), force, again)

    async def _release(self, params: Params, actor: Actor) -> dict[str, Any]:
        await self._looked()
        device = self._known(read_needed(params, "key"))
        return released(self._hardware, device, actor, read_flag(params, "force"))

    async def _monitor(self, params: Params, actor: Actor) -> dict[str, Any]:
        wanted = read_needed(params, "key")
        if not params.get("since"):  # whoever goes on watching is not kept waiting by what shakes
            await self._looked()
        return monitored(self._hardware, self._known(wanted), params)

    async def _log(self, params: Params, actor: Actor) -> dict[str, Any]:
        await self._looked()
        device = self._known(read_needed(params, "key"))
        told = await logged(self._hardware, device, self._runtime.layout.state_dir, params)
        key = device.identity.fingerprint
        self._runtime.registry.journal.write(Code.DEVICE_LOGGED, Outcome.OK, actor, device=key, log=told["log"])
        return told

    async def _simulate(self, params: Params, actor: Actor) -> dict[str, Any]:
        """``{name, fault}``"""
        told = scripted(self._runtime.simulators, read_needed(params, "name"), read_needed(params, "fault"))
        self._runtime.registry.journal.write(Code.DEVICE_SIMULATED, Outcome.OK, actor, **told)
        await self._hardware.open()
        await self._hardware.rescan(SETTLE_S)
        return told

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
        if was is None:
            said = f"nobody has given {clean_line(wanted, 200)} a name; what adapters call it stands in their manifests"
            raise CommandFailed(ErrorKind.CONFLICT, said, suggestion="eva hardware list")
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

    def _known(self, wanted: str) -> Device:
        """By key, by fingerprint, or by its name."""
        for device in self._hardware.fleet.devices:
            identity = device.identity
            if wanted in (identity.key, identity.fingerprint, identity.logical_id):
                return device
        raise CommandFailed(
            ErrorKind.DEVICE_NOT_FOUND, f"no device {clean_line(wanted, 200)} is there", suggestion="eva hardware list"
        )
