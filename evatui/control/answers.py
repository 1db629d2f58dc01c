"""The ``data`` of the queries, in the shapes that scripts rely on."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from evatui.control.adapter_rows import listed_adapters
from evatui.control.capability_rows import generation_rows
from evatui.control.idle import MAX_IDLE, idle_rows
from evatui.control.isolation import isolation
from evatui.control.refusals import rejection_rows
from evatui.control.standing import disk_code, disk_status, marks, reason_of
from evatui.control.view import runtime_info
from evatui.control.waiting import held_of, trust_info, waiting
from evatui.kernel.admission.explained import explained
from evatui.kernel.admission.manifest import values_of
from evatui.kernel.admission.redact import veiled
from evatui.kernel.model.lifecycle import State
from evatui.kernel.model.permissions import Permissions
from evatui.kernel.model.text import clean_line
from evatui.kernel.registry.capability import Capability
from evatui.kernel.workspace.watch import Watch, WatchHealth
from evatui.runtime import Runtime

__all__ = ["inspected", "listed", "status"]


_MAX_WARNINGS = 200


def status(runtime: Runtime, socket: str | None) -> dict[str, Any]:
    """``runtime`` is null where none holds the workspace."""
    info = runtime_info(runtime)
    audit_ok, audit_word, audit_detail = runtime.audit.health
    held = runtime.watch is not None
    return {
        "runtime": {"pid": info.pid, "since": info.since, "mode": info.mode, "socket": socket} if held else None,
        "workspace": info.workspace,
        "counts": _counts(runtime),
        "in_flight": runtime.dispatch.in_flight,
        "watch": _watch(runtime.watch),
        "audit": {"ok": audit_ok, "word": audit_word, "detail": audit_detail, "since": runtime.audit.unwell_since},
        "rejections": len(rejection_rows(runtime)),
        "held": len(waiting(runtime)),
        "frozen": asdict(runtime.freezing.frozen) if runtime.freezing.frozen else None,
        "untrusted": trust_info(runtime).waiting,
        "problems": _problems(runtime),
    }


def _watch(watch: Watch | None) -> dict[str, Any]:
    """``how`` is ``inotify``, ``watchfiles`` or ``polling``, null while nothing is seen; ``blind_since`` RFC 3339."""
    health = watch.health if watch is not None else WatchHealth(True)
    return {
        "ok": health.ok,
        "word": "off" if watch is None else health.word,
        "detail": "nothing is watched" if watch is None else clean_line(health.detail),
        "how": health.how or None,
        "folders": health.folders,
        "unreadable": [clean_line(path) for path in health.unreadable],
        "blind_since": health.blind_since,
        "overflows": health.overflows,
    }


def _problems(runtime: Runtime) -> list[dict[str, Any]]:
    return [problem.to_json() for problem in runtime.problems]


def _counts(runtime: Runtime) -> dict[str, int]:
    """Capabilities per state (the console's drawing counts generations)."""
    counts = {state.value: 0 for state in State}
    for capability in runtime.registry.capabilities.values():
        counts[capability.state.value] += 1
    return counts


def listed(runtime: Runtime) -> dict[str, Any]:
    rows = [_row(capability) for _, capability in sorted(runtime.registry.capabilities.items())]
    strays: list[dict[str, Any]] = [
        {
            "id": rejection.id,
            "name": None,
            "kind": None,
            "version": None,
            "enabled": None,
            "priority": None,
            "capabilities": [],
            "state": State.REJECTED.value,
            "marks": [],
            "generation": None,
            "in_flight": 0,
            "reason": rejection.diagnostics[0].reason.value,
            "on_disk": {"status": "rejected", "digest": rejection.digest, "code": rejection.diagnostics[0].code},
            "active": {"digest": None},
            "path": path,
        }
        for path, (rejection, _) in sorted(runtime.registry.strays.items())
    ]
    return {
        "capabilities": rows + strays,
        "adapters": listed_adapters(runtime),
        "shadowed": _shadowed(runtime),
        "files": [{"path": row.path, "why": row.why} for row in idle_rows(runtime)],
        "more_files": max(0, len(runtime.reloader.idle) - MAX_IDLE),
        "problems": _problems(runtime),
        "warnings": _warnings(runtime),
    }


def _warnings(runtime: Runtime) -> list[dict[str, Any]]:
    """What sound capabilities say beside, of each the version on disk."""
    found = [
        {"id": key, **warning.to_json()}
        for key, capability in sorted(runtime.registry.capabilities.items())
        if capability.candidate is not None and capability.rejection is None and not capability.gone
        for warning in capability.candidate.warnings
    ]
    return found[:_MAX_WARNINGS]


def _shadowed(runtime: Runtime) -> list[dict[str, Any]]:
    """Names that several capabilities provide: who answers, and who would in its place."""
    return [
        {"name": name, "served_by": ids[0], "behind": list(ids[1:])}
        for name, ids in sorted(runtime.table.providers.items())
        if len(ids) > 1
    ]


def _row(capability: Capability) -> dict[str, Any]:
    """``on_disk.digest`` of a version that waits is the one that approves it."""
    active, held = capability.active, capability.held
    digest = held.digest if held is not None else capability.disk_digest
    candidate = active.candidate if active else capability.candidate
    manifest = candidate.manifest if candidate else capability.rejection.manifest if capability.rejection else None
    return {
        "id": capability.id,
        "name": manifest.name if manifest else None,
        "kind": manifest.kind.value if manifest else None,
        "version": manifest.version if manifest else None,
        "enabled": manifest.enabled if manifest else None,
        "priority": manifest.priority if manifest else None,
        "capabilities": list(manifest.capabilities) if manifest else [],
        "state": capability.state.value,
        "marks": list(marks(capability)),
        "generation": active.name.id if active else None,
        "number": active.name.short if active else None,
        "in_flight": capability.in_flight,
        "reason": reason_of(capability),
        "on_disk": {
            "status": disk_status(capability),
            "digest": digest or None,
            "code": disk_code(capability),
        },
        "active": {"digest": active.digest if active else None},
        "path": capability.path,
    }


def inspected(runtime: Runtime, capability: Capability) -> dict[str, Any]:
    active = capability.active
    candidate = active.candidate if active else capability.candidate
    policy = runtime.policy
    granted = policy.effective(candidate.manifest) if policy and candidate else Permissions()
    manifest = candidate.manifest if candidate else None
    return {
        **_row(capability),
        "manifest": veiled(values_of(candidate.snapshot.document)) if candidate else None,
        "input_schema": candidate.input.document if candidate else None,
        "output_schema": candidate.output.document if candidate else None,
        "permissions": {
            "effective": granted.to_json(),
            "requested": manifest.permissions.to_json() if manifest else None,
            "granted_by": policy.sources(manifest) if policy and manifest else [],
            "explained": explained(manifest, policy) if policy and manifest else {},
        },
        "held": held_of(capability),
        "warnings": [warning.to_json() for warning in candidate.warnings] if candidate else [],
        "digests": {path: file.digest for path, file in candidate.snapshot.files.items()} if candidate else {},
        "truths": {
            "on_disk": {
                "status": disk_status(capability),
                "digest": capability.disk_digest or None,
                "code": disk_code(capability),
            },
            "validated": {"digest": capability.candidate.snapshot.digest if capability.candidate else None},
            "active": {
                "digest": active.digest if active else None,
                "generation": active.name.id if active else None,
                "number": active.name.short if active else None,
                "since": active.since if active else None,
            },
            "in_flight": [
                {"generation": g.name.id, "calls": g.in_flight, "state": g.state.value} for g in capability.generations
            ],
        },
        "generations": [asdict(row) for row in generation_rows(capability)],
        "canary": capability.rollout.to_json(runtime.clock.monotonic()) if capability.rollout else None,
        "statistics": {g.name.id: g.tally.to_json() for g in capability.generations},
        "isolation": isolation(capability),
        "limits": asdict(manifest.limits) if manifest else {},
        "counters": {"calls": capability.calls, "errors": capability.errors, "queued": capability.limiter.queued},
    }
