"""Capabilities and their generations as rows."""

from __future__ import annotations

from collections.abc import Iterator

from evatui.control.deciding import PermissionRow
from evatui.control.isolation import in_force, why
from evatui.control.snapshot import Beside, CanaryRow, CapabilityRow, GenerationRow, Side, Transition
from evatui.control.standing import disk_status, marks, reason_of
from evatui.control.waiting import waits_for
from evatui.kernel.admission.explained import explained_permissions
from evatui.kernel.model.lifecycle import State
from evatui.kernel.model.manifest import Manifest
from evatui.kernel.model.text import clean_line
from evatui.kernel.registry.capability import Capability, Past
from evatui.kernel.registry.retention import Kept
from evatui.kernel.registry.rollout.bounds import lower_bound, upper_bound
from evatui.kernel.registry.rollout.cohort import told
from evatui.kernel.registry.rollout.judge import FAIL_CONFIDENCE, PASS_CONFIDENCE
from evatui.kernel.registry.rollout.rollout import Rollout
from evatui.kernel.registry.table import Table
from evatui.kernel.registry.trail import Edge
from evatui.runtime import Runtime

__all__ = ["canary_row", "capability_row", "contested", "generation_rows", "transition_row"]


def capability_row(runtime: Runtime, capability: Capability) -> CapabilityRow:
    active = capability.active
    shown = active.candidate if active else capability.candidate
    manifest = shown.manifest if shown else capability.rejection.manifest if capability.rejection else None
    return CapabilityRow(
        id=capability.id,
        name=clean_line(manifest.name) if manifest else capability.id,
        description=clean_line(manifest.description) if manifest else "",
        kind=manifest.kind.value if manifest else "",
        version=manifest.version if manifest else "",
        enabled=manifest.enabled if manifest else True,
        priority=manifest.priority if manifest else 0,
        capabilities=manifest.capabilities if manifest else (),
        state=capability.state,
        since=capability.since,
        generation=active.name.id if active else None,
        number=active.name.short if active else None,
        marks=marks(capability),
        isolation=where.value if (where := in_force(capability)) else "",
        isolation_why=why(capability),
        in_flight=capability.in_flight,
        queued=capability.limiter.queued,
        calls=capability.calls,
        errors=capability.errors,
        reason=reason_of(capability) or "",
        on_disk=disk_status(capability),
        side_effects=manifest.side_effects.value if manifest else "none",
        drain_timeout_ms=manifest.reload.drain_timeout_ms if manifest else 0,
        path=clean_line(capability.path),
        script=clean_line(manifest.lua.script) if manifest else "",
        beside=tuple(_beside(runtime, capability)),
        permissions=tuple(_permissions(runtime, manifest)) if manifest else (),
        behind=tuple(_contested(runtime, capability, first=False)),
        before=tuple(_contested(runtime, capability, first=True)),
        generations=tuple(generation_rows(capability)),
        trail=tuple(transition_row(edge) for edge in runtime.registry.trail.of(capability.id)),
    )


def _permissions(runtime: Runtime, manifest: Manifest) -> Iterator[PermissionRow]:
    for found in explained_permissions(manifest, runtime.policy) if runtime.policy else ():
        entry = found["entry"]
        in_force = bool(found["in_force"]) and found["taken_by"] is None
        yield PermissionRow(
            permission=found["permission"],
            entry=clean_line(" ".join(entry) if isinstance(entry, list) else entry, 200),
            in_force=in_force,
            why=clean_line(found["why"], 200),
        )


def _contested(runtime: Runtime, capability: Capability, *, first: bool) -> Iterator[str]:
    """The names that it shares with others: where it is the ``first`` to answer, or where another one is."""
    for name, ids in contested(runtime.table, capability):
        if (ids[0] == capability.id) is first:
            yield f"{name}: {', '.join(ids[1:]) if first else ids[0]}"


def contested(table: Table, capability: Capability) -> list[tuple[str, tuple[str, ...]]]:
    """Names of a serving capability that others provide too, with all who do, the one that answers first."""
    names = capability.active.manifest.capabilities if capability.active else ()
    shared = ((name, table.providers.get(name, ())) for name in names)
    return [(name, ids) for name, ids in shared if capability.id in ids and len(ids) > 1]


def _beside(runtime: Runtime, capability: Capability) -> list[Beside]:
    now = runtime.clock.monotonic()
    beside = [
        Beside(
            what="draining",
            number=generation.name.short,
            calls=generation.in_flight,
            seconds_left=max(0.0, generation.drain_deadline - now) if generation.drain_deadline else None,
        )
        for generation in capability.draining
    ]
    if capability.rollout is not None:
        canary = canary_row(capability.rollout, now)
        left = canary.seconds_left if capability.rollout.waits else None
        beside.insert(0, Beside(what="canary", number=canary.number, seconds_left=left, canary=canary))
    if capability.rejection is not None:
        first = capability.rejection.diagnostics[0]
        place = f"{first.primary.file}:{first.primary.line}" if first.primary else ""
        beside.append(Beside(what="refused", code=first.code, place=clean_line(place)))
    held = capability.held
    if held is not None and held.ruling is not None:
        first = held.ruling.diagnostics[0]
        number = held.name.short if held.name else ""
        beside.append(Beside(what="held", number=number, code=first.code, waits_for=waits_for(held.ruling)))
    return beside


def canary_row(rollout: Rollout, now: float) -> CanaryRow:
    generation = rollout.generation
    canary, baseline = (
        Side(
            samples=side.samples,
            faults=side.faults,
            p95_ms=side.p95_ms,
            lower=lower_bound(side.faults, side.samples, FAIL_CONFIDENCE) if side.samples else 0.0,
            upper=upper_bound(side.faults, side.samples, PASS_CONFIDENCE) if side.samples else 1.0,
        )
        for side in rollout.sides(now)
    )
    return CanaryRow(
        generation=generation.name.id,
        number=generation.name.short,
        version=generation.manifest.version,
        phase=rollout.phase.value,
        verdict=rollout.verdict(now).value,
        takes=clean_line(told(rollout.spec)),
        canary=canary,
        baseline=baseline,
        at_deadline=rollout.analysis.on_insufficient_data.value,
        seconds_left=rollout.seconds_left(now),
        min_samples=rollout.analysis.min_samples,
        max_error_rate=rollout.analysis.max_error_rate,
        window_s=rollout.analysis.window_s,
    )


def _shares(capability: Capability) -> dict[str, str]:
    """Whose calls each takes, by generation, where two serve."""
    rollout, active = capability.rollout, capability.active
    if rollout is None or active is None:
        return {}
    return {rollout.generation.name.id: clean_line(told(rollout.spec)), active.name.id: "all others"}


def generation_rows(capability: Capability) -> list[GenerationRow]:
    """What serves, drains or ended in this run, newest first, then what else a rollback can bring back, each once.

    One that came back is there as what it is now, not also as what it was before.
    """
    active = capability.active
    serving = active.digest if active else None
    restorable = {kept.name.id for kept in capability.kept if kept.digest != serving}
    live = [*reversed(capability.serving), *reversed(capability.draining)]
    shares = _shares(capability)
    rows = [
        GenerationRow(
            id=g.name.id,
            number=g.name.short,
            version=g.manifest.version,
            state=g.state,
            since=g.since,
            digest=g.digest,
            in_flight=g.in_flight,
            share=shares.get(g.name.id, ""),
            restorable=g.name.id in restorable,
        )
        for g in live
    ]
    over: list[tuple[Past | Kept, str]] = [(past, past.ended) for past in reversed(capability.past)]
    over += [(kept, kept.at) for kept in capability.kept]
    rows += [
        GenerationRow(
            id=one.name.id,
            number=one.name.short,
            version=one.version,
            state=State.UNREGISTERED,
            since=since,
            digest=one.digest,
            restorable=one.name.id in restorable,
        )
        for one, since in over
    ]
    once: dict[str, GenerationRow] = {}
    for row in rows:
        once.setdefault(row.id, row)
    return list(once.values())


def transition_row(edge: Edge) -> Transition:
    return Transition(
        seq=edge.seq,
        at=edge.at,
        id=edge.id,
        generation=edge.generation,
        number=edge.number,
        old=edge.old,
        new=edge.new,
        actor=clean_line(edge.actor, 64),
        reason=clean_line(edge.reason),
    )
