"""The history of one capability: its generations, also those of earlier runs."""

from __future__ import annotations

from typing import Any

from evatui.kernel.model.lifecycle import State
from evatui.kernel.registry.capability import Capability, Remembered
from evatui.kernel.storage.history import Recorded
from evatui.runtime import Runtime

__all__ = ["past", "states"]

_MOST = 200


def past(runtime: Runtime, capability_id: str) -> dict[str, Any]:
    """``{id, generations: [{id, number, version, digest, state, created_at, served_at, kept, pinned, quarantined}]}``.

    The newest first, at most 200. ``kept``: a rollback can bring it back; ``pinned``: a person went back to it last, so
    it stays kept however many follow. Blocking.
    """
    capability = runtime.registry.capabilities.get(capability_id)
    known = capability or runtime.registry.remembered.get(capability_id, Remembered())
    live = states(capability)
    return {
        "id": capability_id,
        "generations": [
            _row(one, live.get(one.generation_id, State.UNREGISTERED), known)
            for one in runtime.history.generations(capability_id, _MOST)
        ],
    }


def states(capability: Capability | None) -> dict[str, State]:
    """Of its generations that have not ended, by id."""
    if capability is None:
        return {}
    found = {generation.name.id: generation.state for generation in capability.generations}
    for slot in (capability.attempt, capability.parked):
        if slot is not None and slot.name is not None:
            found.setdefault(slot.name.id, slot.state)
    return found


def _row(one: Recorded, state: State, known: Capability | Remembered) -> dict[str, Any]:
    return {
        "id": one.generation_id,
        "number": f"g{one.number}",
        "version": one.version,
        "digest": one.digest,
        "state": state.value,
        "created_at": one.created_at,
        "served_at": one.served_at,
        "kept": any(one.digest == kept.digest for kept in known.kept),
        "pinned": one.digest == known.pinned,
        "quarantined": one.digest in known.quarantined,
    }
