"""A runtime as the frozen values that consoles paint. Runs on the kernel's loop; copies, never shares."""

from __future__ import annotations

import os
import socket
from dataclasses import replace
from itertools import islice

from evatui.control.adapter_rows import adapter_rows
from evatui.control.audit_rows import audit_row
from evatui.control.capability_rows import capability_row, contested, transition_row
from evatui.control.clean_payload import CleanPayload
from evatui.control.device_rows import devices_listed
from evatui.control.extensions import Extensions
from evatui.control.idle import idle_rows
from evatui.control.lua_skills import lua_skill_rows
from evatui.control.plugin_rows import PluginRows
from evatui.control.refusals import rejection_rows
from evatui.control.skill_rows import extensions
from evatui.control.snapshot import (
    CallRow,
    CapabilityRow,
    ConsoleSnapshot,
    Cursor,
    Indicator,
    RuntimeInfo,
)
from evatui.control.standing import marks
from evatui.control.waiting import held_rows, trust_info
from evatui.kernel.model.clock import rfc3339
from evatui.kernel.model.event import Event
from evatui.kernel.model.manifest import Kind
from evatui.kernel.model.text import clean_line
from evatui.kernel.registry.capability import Capability
from evatui.kernel.registry.under_way import UnderWay
from evatui.runtime import Runtime

__all__ = ["View", "runtime_info"]

_MAX_CALLS = 1000
_MAX_ROWS = 1000


class View:
    """Makes snapshots of one runtime. A capability at rest keeps its row, the same object, from one to the next."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._rows: dict[str, tuple[object, CapabilityRow]] = {}
        self._skills: tuple[object, list[CapabilityRow], Extensions] | None = None
        self._plugins = PluginRows(runtime)

    def snapshot(self, since: Cursor) -> ConsoleSnapshot:
        """The newest state, with what happened after ``since``."""
        runtime, registry = self._runtime, self._runtime.registry
        events, events_lost = runtime.bus.since(since.events)
        records, records_lost = runtime.audit.since(since.audit)
        skipped = max(0, len(records) - _MAX_ROWS)
        records = records[skipped:]
        now = runtime.clock.monotonic()
        capabilities = tuple(self._row(capability) for _, capability in sorted(registry.capabilities.items()))
        return ConsoleSnapshot(
            at=rfc3339(runtime.clock.now()),
            runtime=runtime_info(runtime),
            cursor=Cursor(events[-1].seq if events else since.events, records[-1]["seq"] if records else since.audit),
            counts=dict(registry.trail.counts),
            capabilities=capabilities,
            rejections=rejection_rows(runtime),
            calls=tuple(_call(call, now) for call in islice(runtime.dispatch.under_way, _MAX_CALLS)),
            transitions=tuple(transition_row(edge) for edge in registry.trail.recent),
            events=tuple(_clean_event(event) for event in events),
            audit=tuple(audit_row(record) for record in records),
            dropped=events_lost + records_lost + skipped,
            watch=_watch(runtime),
            health=replace(_indicator(runtime.audit.health), since=runtime.audit.unwell_since),
            manifests_in=tuple(runtime.layout.manifests),
            held=held_rows(runtime),
            idle=idle_rows(runtime),
            trust=trust_info(runtime),
            extensions=self._extensions(capabilities),
            devices=devices_listed(runtime.hardware) if runtime.hardware.has_looked else {},
            adapters=adapter_rows(runtime),
        )

    def _extensions(self, capabilities: tuple[CapabilityRow, ...]) -> Extensions:
        """Rows at rest are the same objects, so what was made of them is made once."""
        known, lua = self._runtime.skills.latest, [row for row in capabilities if row.kind == Kind.LUA_SKILL]
        same = self._skills is not None and self._skills[0] is known and self._skills[1] == lua
        if not same or self._skills is None:
            told = extensions(known)
            self._skills = known, lua, replace(told, skills=(*told.skills, *lua_skill_rows(lua)))
        return self._plugins.added_to(self._skills[2])

    def _row(self, capability: Capability) -> CapabilityRow:
        if capability.draining or capability.rollout is not None:
            return capability_row(self._runtime, capability)  # its time left counts down
        runtime = self._runtime
        key = (
            runtime.registry.trail.last_of(capability.id),
            capability.in_flight,
            capability.limiter.queued,
            capability.calls,
            capability.errors,
            capability.disk_digest,
            capability.unapplied,
            capability.quarantined,
            capability.held.ruling if capability.held is not None else None,
            capability.hold,
            capability.gone,
            capability.path,
            capability.conduct.last,
            marks(capability),
            runtime.policy.epoch if runtime.policy else "",
            contested(runtime.table, capability),
        )
        known = self._rows.get(capability.id)
        if known is None or known[0] != key or capability.rejection is not None:
            known = self._rows[capability.id] = (key, capability_row(self._runtime, capability))
        return known[1]


def runtime_info(runtime: Runtime) -> RuntimeInfo:
    frozen = runtime.freezing.frozen
    return RuntimeInfo(
        pid=os.getpid(),
        host=clean_line(socket.gethostname(), 64),
        workspace=clean_line(runtime.layout.name, 64),
        since=rfc3339(runtime.since),
        mode=runtime.layout.runtime.mode,
        frozen=clean_line(f"since {frozen.at} by {frozen.actor}", 120) if frozen else "",
        shutdown_timeout_ms=runtime.layout.runtime.shutdown_timeout_ms,
    )


def _call(call: UnderWay, now: float) -> CallRow:
    return CallRow(
        request_id=clean_line(call.request.request_id, 64),
        capability_id=call.answered_by or clean_line(call.request.capability, 128),
        generation=call.runs_on or "",
        number=call.number,
        caller=clean_line(call.request.caller.id or call.request.caller.type.value, 64),
        started_at=rfc3339(call.at),
        elapsed_ms=(now - call.started) * 1000,
        deadline_ms=(call.deadline - call.started) * 1000,
        host_call=call.doing,
        progress=call.progress,
        queued=call.runs_on is None,
    )


def _clean_event(event: Event) -> Event:
    payload = CleanPayload(event.payload)  # a topic has no sign that needs it
    return Event(event.seq, event.event_id, event.topic, event.at, event.actor, event.cause, payload)


def _watch(runtime: Runtime) -> Indicator:
    if runtime.watch is None:
        return Indicator(ok=True, word="off", detail="nothing is watched")
    health = runtime.watch.health
    return replace(_indicator((health.ok, health.word, health.detail)), since=health.blind_since or "")


def _indicator(health: tuple[bool, str, str]) -> Indicator:
    ok, word, detail = health
    return Indicator(ok=ok, word=word, detail=clean_line(detail))
