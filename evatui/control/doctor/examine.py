"""Everything that is looked at, in one value."""

from __future__ import annotations

import asyncio
import platform
from collections.abc import Mapping
from typing import Any

from evatui import __version__
from evatui.control.doctor.check import Check
from evatui.control.doctor.machine import check_libraries, check_limits, libraries, limits
from evatui.control.doctor.places import (
    check_clock,
    check_disk,
    check_lock,
    check_permissions,
    disk,
    lock,
    permissions,
)
from evatui.control.doctor.sandbox import check_sandbox, sandbox
from evatui.kernel.lua.engine import Engine
from evatui.kernel.model.sandbox import SandboxFacts
from evatui.kernel.workspace.layout import Layout

__all__ = ["examine", "with_checks"]


async def examine(layout: Layout | None, engine: Engine, facts: SandboxFacts) -> dict[str, Any]:
    """``{version, platform, libraries, limits, permissions, disk, lock, devices, sandbox, ok, checks}``.

    What belongs to a workspace is null without one.
    """
    found = await asyncio.to_thread(_examined, layout)
    found["sandbox"] = await sandbox(engine, facts)
    return with_checks(found, check_sandbox(found["sandbox"]))


def _examined(layout: Layout | None) -> dict[str, Any]:
    found: dict[str, Any] = {
        "version": __version__,
        "platform": {"system": platform.system(), "release": platform.release(), "machine": platform.machine()},
        "libraries": libraries(),
        "limits": limits(),
        "permissions": permissions(layout) if layout else None,
        "disk": disk(layout) if layout else None,
        "lock": lock(layout) if layout else None,
        "devices": None,
    }
    checks = [check_libraries(found["libraries"]), *check_limits(found["limits"])]
    if layout is not None:
        checks += [
            *check_permissions(layout, found["permissions"]),
            check_disk(found["disk"]),
            check_lock(found["lock"]),
            check_clock(layout),
        ]
    return with_checks(found, checks)


def with_checks(found: Mapping[str, Any], checks: list[Check]) -> dict[str, Any]:
    """``found`` with further checks; ``ok`` where none of all failed."""
    every = [*found.get("checks", ()), *(check.to_json() for check in checks)]
    return {**found, "ok": all(check["ok"] for check in every), "checks": every}
