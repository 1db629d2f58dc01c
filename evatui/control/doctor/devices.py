"""The devices of a workspace: can they be seen, and can those be used that have a name?"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from evatui.control.doctor.check import Check
from evatui.hardware.fix import wsl_fix

__all__ = ["check_devices"]

_PLUGGED = frozenset({"serial", "hid"})
_USABLE = frozenset({"authorized", "opening", "handshaking", "online"})


def check_devices(found: Mapping[str, Any]) -> Check:
    """``found`` is what ``hardware.list`` answers. What nobody has named is nobody's trouble."""
    blind = [f"{one['name']}: {one['problem']}" for one in found["sources"] if one["problem"]]
    unfit = [row for row in found["devices"] if row["logical_id"] and row["state"] not in _USABLE]
    wrong = [*blind, *(f"{row['logical_id']} is {row['state']}" for row in unfit)]
    attach = wsl_fix(os.uname().release if hasattr(os, "uname") else "")
    if not wrong and attach and not any(row["bus"] in _PLUGGED for row in found["devices"]):
        return Check("devices", True, f"nothing is plugged in; under WSL2: {attach}")
    if not wrong:
        looks = ", ".join(one["name"] for one in found["sources"] if one["looking"]) or "nothing, the policy says so"
        return Check("devices", True, f"{len(found['devices'])} seen; looked for: {looks}")
    fix = f"eva hardware inspect {unfit[0]['logical_id']}" if unfit else "eva hardware rescan"
    return Check("devices", False, "; ".join(wrong), fix)
