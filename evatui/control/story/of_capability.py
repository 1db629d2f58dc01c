"""Why a capability is as it is: what serves and why, what the disk holds and why that does not, and what to do."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path
from typing import Any

from evatui.control.standing import disk_status, marks, reason_of
from evatui.control.story.trace import Record, diagnosed, edge, is_fault, is_order, logged, newest, step
from evatui.control.waiting import held_of
from evatui.kernel.model.text import clean_line
from evatui.kernel.records.codes import Code
from evatui.kernel.records.search import Filter
from evatui.kernel.registry.capability import Capability
from evatui.kernel.storage.database import StorageError
from evatui.runtime import Runtime

__all__ = ["of_capability"]

_MOST = 6


async def of_capability(runtime: Runtime, capability: Capability) -> dict[str, Any]:
    """``{about, id, state, since, marks, reason, serving, on_disk, waits, hold, canary, quarantined, transitions,
    rejections, orders, faults, next}``."""
    read = await asyncio.to_thread(_read, logged(runtime), capability.id, _serving_id(capability))
    waits = held_of(capability)
    return {
        "about": "capability",
        "id": capability.id,
        "state": capability.state.value,
        "since": capability.since,
        "marks": list(marks(capability)),
        "reason": reason_of(capability),
        "serving": _serving(capability, read.pop("published")),
        "on_disk": _on_disk(capability),
        "waits": waits and {name: waits[name] for name in ("digest", "since", "waits_for", "reason", "generation")},
        "hold": capability.hold.value if capability.hold else None,
        "canary": capability.canary.name.id if capability.canary else None,
        "quarantined": sorted(capability.quarantined),
        "transitions": [edge(one) for one in runtime.registry.trail.of(capability.id)][-_MOST:],
        "rejections": await _rejections(runtime, capability.id),
        **read,
        "next": _next(capability, waits, bool(read["faults"])),
    }


def _read(directory: Path, capability_id: str, serving: str | None) -> dict[str, Any]:
    sorts = {"orders": is_order, "faults": is_fault}
    found = newest(directory, Filter(capability=capability_id), sorts, _MOST)
    published = Filter(generation=serving, code=Code.CAPABILITY_PUBLISHED)
    first = newest(directory, published, {"first": lambda _: True}, 1)["first"] if serving else ()
    return {**found, "published": first[0] if first else None}


def _serving_id(capability: Capability) -> str | None:
    return capability.active.name.id if capability.active else None


def _serving(capability: Capability, published: Record | None) -> dict[str, Any] | None:
    """``published`` is the record of when it went into service last, None where that is gone."""
    active = capability.active
    if active is None:
        return None
    return {
        "generation": active.name.id,
        "number": active.name.short,
        "version": active.manifest.version,
        "digest": active.digest,
        "since": published["at"] if published else active.since,
        "actor": published["actor"] if published else None,
        "request_id": published["request_id"] if published else None,
        "in_flight": active.in_flight,
        "unwell": active.ailment is not None,
    }


def _on_disk(capability: Capability) -> dict[str, Any]:
    rejection = capability.rejection
    return {
        "status": disk_status(capability),
        "path": clean_line(capability.path),
        "digest": capability.disk_digest or None,
        "since": capability.rejected_at if rejection else None,
        "diagnostics": diagnosed(one.to_json() for one in rejection.diagnostics) if rejection else [],
    }


async def _rejections(runtime: Runtime, capability_id: str) -> list[dict[str, Any]]:
    try:
        kept = await runtime.refusals.kept(capability_id)
    except StorageError:
        return []
    return [
        {"at": told.at, "digest": told.digest, "summary": told.summary, "diagnostics": diagnosed(told.diagnostics)}
        for told in reversed(kept[:_MOST])
    ]


def _next(capability: Capability, waits: dict[str, Any] | None, faults: bool) -> list[dict[str, Any]]:
    name, status = capability.id, disk_status(capability)
    order = partial(_order, name)
    steps = []
    if capability.hold is not None:
        steps.append(order("enable"))
    if status == "rejected" and capability.rejection is not None:
        place = capability.rejection.diagnostics[0].primary
        steps.append(step("explain", f"eva capability explain-rejected {name}"))
        if place is not None:
            steps.append(step("mend", place=f"{place.file}:{place.line}"))
    if waits is not None:
        steps.append(
            {
                "trust": step("trust", "eva trust"),
                "restart": step("restart", "eva runtime restart"),
                "approval": step("approve", f"eva capability approve {name} --digest {waits['digest']}"),
            }[waits["waits_for"]]
        )
    if status == "quarantined":
        steps += [step("compare", f"eva capability diff {name} {_short(capability)} disk"), order("retry")]
    if status == "missing" and capability.kept:
        steps.append(order("rollback"))
    if capability.rollout is not None:
        steps += [order("promote"), order("abort")]
    elif faults and capability.active is not None and len(capability.kept) > 1:
        steps.append(order("rollback"))
    if faults:
        steps.append(step("faults", f"eva audit query --capability {name} --outcome error"))
    return steps


def _order(name: str, word: str) -> dict[str, Any]:
    return step(word, f"eva capability {word} {name}")


def _short(capability: Capability) -> str:
    return capability.active.name.short if capability.active else ""
