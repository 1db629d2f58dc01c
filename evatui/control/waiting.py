"""Versions that wait for a person, as the queries and the console tell of them."""

from __future__ import annotations

from typing import Any

from evatui.kernel.registry.capability import Capability
from evatui.runtime import Runtime

__all__ = ["held_of", "waiting"]


def held_of(capability: Capability) -> dict[str, Any] | None:
    """What waits of a capability: ``{id, path, digest, generation, since, serving, reason, change_class, approved,
    permissions, diagnostics}``; None where nothing does."""
    held = capability.held
    if held is None or held.ruling is None or capability.gone:
        return None
    ruling = held.ruling
    return {
        "id": capability.id,
        "path": capability.path,
        "digest": held.digest,
        "generation": held.name.id if held.name else None,
        "since": held.since,
        "serving": capability.active.name.short if capability.active else None,
        "reason": ruling.reason.value if ruling.reason else None,
        "change_class": ruling.change_class.value,
        "untrusted": ruling.untrusted,
        "approved": ruling.approved,
        "permissions": ruling.differences(),
        "diagnostics": [diagnostic.to_json() for diagnostic in ruling.diagnostics],
    }


def waiting(runtime: Runtime) -> list[dict[str, Any]]:
    """Every version that waits, by id."""
    found = (held_of(capability) for _, capability in sorted(runtime.registry.capabilities.items()))
    return [held for held in found if held is not None]
