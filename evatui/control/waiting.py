"""Versions that wait for a person, as the queries and the console tell of them."""

from __future__ import annotations

from typing import Any

from evatui.control.deciding import HeldRow, TrustInfo
from evatui.kernel.model.text import clean_line
from evatui.kernel.registry.capability import Capability
from evatui.kernel.registry.ruling import Ruling
from evatui.runtime import Runtime

__all__ = ["held_of", "held_rows", "trust_info", "waiting", "waits_for"]


def held_of(capability: Capability) -> dict[str, Any] | None:
    """What waits of a capability: ``{id, path, digest, generation, since, serving, reason, waits_for, change_class,
    untrusted, approved, permissions, diagnostics}``; None where nothing does."""
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
        "waits_for": waits_for(ruling),
        "change_class": ruling.change_class.value,
        "untrusted": ruling.untrusted,
        "approved": ruling.approved,
        "permissions": ruling.differences(),
        "diagnostics": [diagnostic.to_json() for diagnostic in ruling.diagnostics],
    }


def waits_for(ruling: Ruling) -> str:
    """``approval`` gives trust as well, so it outweighs ``trust``; what is approved waits for the next ``restart``."""
    if ruling.untrusted and len(ruling.diagnostics) == 1:
        return "trust"
    return "restart" if ruling.approved else "approval"


def waiting(runtime: Runtime) -> list[dict[str, Any]]:
    """Every version that waits, by id."""
    found = (held_of(capability) for _, capability in sorted(runtime.registry.capabilities.items()))
    return [held for held in found if held is not None]


def held_rows(runtime: Runtime) -> tuple[HeldRow, ...]:
    """The same for the console."""
    found = (_held_row(capability) for _, capability in sorted(runtime.registry.capabilities.items()))
    return tuple(row for row in found if row is not None)


def _held_row(capability: Capability) -> HeldRow | None:
    held = capability.held
    if held is None or held.ruling is None or capability.gone:
        return None
    ruling = held.ruling
    return HeldRow(
        id=capability.id,
        path=clean_line(capability.path),
        digest=held.digest,
        number=held.name.short if held.name else "",
        since=held.since,
        serving=capability.active.name.short if capability.active else None,
        waits_for=waits_for(ruling),
        change_class=ruling.change_class.value,
        permissions=tuple(ruling.differences()),
        diagnostics=ruling.diagnostics,
    )


def trust_info(runtime: Runtime) -> TrustInfo:
    held = (capability.held for capability in runtime.registry.capabilities.values() if not capability.gone)
    untrusted = sum(one is not None and one.ruling is not None and one.ruling.untrusted for one in held)
    untrusted += sum(one.untrusted for one in runtime.providers.held.values())
    return TrustInfo(vouched=runtime.trust.vouched, waiting=untrusted, trusted=runtime.trust.known)
