"""The life of one generation, from its load until it was freed."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from evatui.control.past import states
from evatui.control.story.trace import edge, is_fault, is_order, logged, newest, step
from evatui.kernel.model.lifecycle import State
from evatui.kernel.records.search import Filter
from evatui.kernel.registry.capability import Remembered
from evatui.kernel.storage.history import Recorded
from evatui.runtime import Runtime

__all__ = ["of_generation"]

_MOST = 12


async def of_generation(runtime: Runtime, capability_id: str, one: Recorded) -> dict[str, Any]:
    """``{about, id, number, capability_id, version, digest, state, created_at, served_at, kept, quarantined,
    transitions, orders, faults, next}``."""
    capability = runtime.registry.capabilities.get(capability_id)
    known = capability or runtime.registry.remembered.get(capability_id, Remembered())
    state = states(capability).get(one.generation_id, State.UNREGISTERED)
    kept, quarantined = one.digest in {past.digest for past in known.kept}, one.digest in known.quarantined
    steps = []
    if state is not State.ACTIVE and kept:
        steps.append(step("rollback", f"eva capability rollback {capability_id} --to g{one.number}"))
    if quarantined:
        steps.append(step("retry", f"eva capability retry {capability_id}"))
    steps.append(step("capability", f"eva why {capability_id}"))
    return {
        "about": "generation",
        "id": one.generation_id,
        "number": f"g{one.number}",
        "capability_id": capability_id,
        "version": one.version,
        "digest": one.digest,
        "state": state.value,
        "created_at": one.created_at,
        "served_at": one.served_at,
        "kept": kept,
        "quarantined": quarantined,
        "transitions": [
            edge(taken) for taken in runtime.registry.trail.of(capability_id) if taken.generation == one.generation_id
        ],
        **await asyncio.to_thread(_read, logged(runtime), one.generation_id),
        "next": steps,
    }


def _read(directory: Path, generation: str) -> dict[str, Any]:
    return newest(directory, Filter(generation=generation), {"orders": is_order, "faults": is_fault}, _MOST)
