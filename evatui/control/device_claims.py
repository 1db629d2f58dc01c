"""Claiming devices: what a claim would meet, claims and releases by operators, and what simulated devices do wrong."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

from evatui.control.device_rows import device_row, lease_json
from evatui.control.failing import CommandFailed
from evatui.hardware.device import Device
from evatui.hardware.fix import holder_fix
from evatui.hardware.hardware import Hardware
from evatui.hardware.holder import Holder, foreign_holder
from evatui.hardware.lifecycle import HELD, DeviceState
from evatui.hardware.simulators.faults import Fault
from evatui.hardware.simulators.simulators import Simulators
from evatui.hardware.trouble import Trouble
from evatui.kernel.model.call import Actor
from evatui.kernel.model.errors import ErrorKind
from evatui.kernel.model.text import clean_line

__all__ = ["claimed", "planned", "released", "scripted"]


async def planned(hardware: Hardware, device: Device) -> dict[str, Any]:
    """``{key, logical_id, ok, steps: [{step, ok, detail, fix}]}``: what whoever wants to use it meets, in that order.
    Nothing is opened."""
    path = device.identity.sighting.path if not device.identity.sighting.simulated else ""
    open_here = device.state in HELD
    holder = await asyncio.to_thread(foreign_holder, path) if path and not open_here else None
    steps = list(_steps(hardware, device, holder))
    row = device_row(hardware, device)
    return {
        "key": row["key"],
        "logical_id": row["logical_id"],
        "ok": all(step["ok"] for step in steps),
        "steps": steps,
    }


async def claimed(
    hardware: Hardware, device: Device, actor: Actor, request_id: str, force: bool, again: bool
) -> dict[str, Any]:
    """``{key, lease}``. Raises `CommandFailed`."""
    try:
        lease = await hardware.claim(device, actor, request_id, force=force, again=again)
    except Trouble as trouble:
        raise _failed(device, trouble) from None
    return {"key": device.identity.key, "lease": lease_json(lease)}


def released(hardware: Hardware, device: Device, actor: Actor, force: bool) -> dict[str, Any]:
    """``{key, lease}``: the one that ended. Raises `CommandFailed`."""
    try:
        lease = hardware.release(device, actor, force=force)
    except Trouble as trouble:
        raise _failed(device, trouble) from None
    return {"key": device.identity.key, "lease": lease_json(lease)}


def scripted(simulators: Simulators, name: str, fault: str) -> dict[str, Any]:
    """``{name, fault}``. Raises `CommandFailed`."""
    known, faults = sorted(simulators.names), [one.value for one in Fault]
    if name not in known:
        message = f"no device {clean_line(name, 64)} is simulated: there are {', '.join(known)}"
        raise CommandFailed(ErrorKind.DEVICE_NOT_FOUND, message)
    if fault not in faults:
        message = f"{clean_line(fault, 64)} is no fault: there are {', '.join(faults)}"
        raise CommandFailed(ErrorKind.INVALID_INPUT, message)
    simulators.script(name, Fault(fault))
    return {"name": name, "fault": fault}


def _failed(device: Device, trouble: Trouble) -> CommandFailed:
    key = device.identity.logical_id or device.identity.key
    return CommandFailed(
        trouble.kind,
        f"{key}: {trouble.message}",
        retryable=trouble.retryable,
        suggestion=f"eva hardware plan {key}",
        context=trouble.details,
    )


def _steps(hardware: Hardware, device: Device, holder: Holder | None) -> Iterator[dict[str, Any]]:
    state, lease = device.state, hardware.using.station(device).lease
    there = state in HELD or state is DeviceState.AUTHORIZED
    if state in (DeviceState.NO_ACCESS, DeviceState.AUTHORIZED) or state in HELD:
        yield _step("policy", True, "allowed")
    else:
        yield _step("policy", False, f"{state}: {device.reason}" if device.reason else state.value, device.fix)
    access = device.identity.sighting.access
    if state in (DeviceState.ABSENT, DeviceState.LOST):
        yield _step("access", False, "it is not plugged in: whether the system lets this process open it is not known")
    else:
        yield _step("access", access.ok, access.reason or "the system lets this process open it", access.fix)
    if lease is None:
        yield _step("lease", True, "nobody has it")
    else:
        said = f"{lease.owner.who} has it since {lease.granted_at}"
        ends = "" if lease.owner.kind == "call" else "eva hardware release KEY, or --force"
        yield _step("lease", lease.owner.kind == "call", said, ends)
    if holder is not None:
        said = f"pid {holder.pid} ({holder.program}) has it open"
        seen = device.identity.sighting
        fix = holder_fix(holder.program, holder.pid, seen.vendor, seen.product)
        yield _step("other programs", False, said, fix)
    else:
        yield _step("other programs", True, "none that can be seen has it open")
    yield _step("open", there, "is open" if state in HELD else "not tried: a plan opens nothing")


def _step(name: str, ok: bool, detail: str, fix: str = "") -> dict[str, Any]:
    return {"step": name, "ok": ok, "detail": detail, "fix": fix if not ok else ""}
