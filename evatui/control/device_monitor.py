"""What is said to a device and by it, for operators who watch. Nothing is opened for that, and nothing is sent."""

from __future__ import annotations

import asyncio
import os
import re
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from evatui.control.failing import CommandFailed
from evatui.control.params import Params, read_flag, read_number
from evatui.hardware.device import Device
from evatui.hardware.frame_log import FrameLog
from evatui.hardware.hardware import Hardware
from evatui.hardware.tap import Heard, Tap
from evatui.kernel.model.errors import ErrorKind

__all__ = ["logged", "monitored"]

FOLDER: Final = "devices"
_MOST: Final = 1_000
_USUAL: Final = 200
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9_.-]+")


def monitored(hardware: Hardware, device: Device, params: Params) -> dict[str, Any]:
    """``{key, logical_id, state, simulated, heard, seq, more, dropped, totals, traffic, lines, log}``: what was heard
    after ``since``, at most ``limit``."""
    tap, identity = hardware.using.tap(device), device.identity
    limit = min(read_number(params, "limit") or _USUAL, _MOST)
    listening = tap.since(read_number(params, "since") or 0, limit)
    return {
        "key": identity.key,
        "logical_id": identity.logical_id,
        "state": device.state.value,
        "simulated": identity.sighting.simulated,
        "heard": [_heard(one) for one in listening.heard],
        "seq": listening.last,
        "more": False,
        "dropped": listening.missed,
        "totals": asdict(tap.totals),
        "traffic": tap.traffic,
        "lines": dict(tap.lines),
        "log": _name(device) if tap.log is not None else None,
    }


async def logged(hardware: Hardware, device: Device, state_dir: Path, params: Params) -> dict[str, Any]:
    """``{key, log}``: the file that it goes to from now on, in the state folder; None with ``off``. Raises
    `CommandFailed`."""
    tap, off = hardware.using.tap(device), read_flag(params, "off")
    if off:
        await asyncio.to_thread(tap.log_to, None)
    elif tap.log is None:
        await asyncio.to_thread(_begin, tap, state_dir / _name(device))
    return {"key": device.identity.key, "log": None if off else _name(device)}


def _begin(tap: Tap, path: Path) -> None:
    try:
        tap.log_to(FrameLog(path))
    except OSError as error:
        why = os.strerror(error.errno or 0).lower()
        raise CommandFailed(ErrorKind.UNAVAILABLE, f"the log of the device cannot be written: {why}") from None


def _name(device: Device) -> str:
    return f"{FOLDER}/{_UNSAFE.sub('_', device.identity.logical_id or device.identity.key)}.log"


def _heard(heard: Heard) -> dict[str, Any]:
    return {
        "seq": heard.seq,
        "at": heard.at,
        "direction": heard.direction.value,
        "size": heard.size,
        "epoch": heard.epoch,
        "hex": heard.data.hex(),
    }
