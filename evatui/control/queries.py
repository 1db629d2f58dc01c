"""What may be asked without changing anything: each name to its answer."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from evatui.control.answers import inspected, listed
from evatui.control.devices import Devices
from evatui.control.explained_refusals import explained
from evatui.control.failing import CommandFailed
from evatui.control.graph import graphed
from evatui.control.naming import known
from evatui.control.params import Params, read_needed, read_text
from evatui.control.past import past
from evatui.control.plugins import PluginQueries
from evatui.control.recorded import Recorded
from evatui.control.render import rendered_manifest
from evatui.control.skills import SkillQueries
from evatui.control.story.asking import told
from evatui.kernel.model.call import Actor
from evatui.kernel.model.errors import ErrorKind
from evatui.kernel.registry.comparing import compared
from evatui.runtime import Runtime

__all__ = ["Queries"]

Answer = Awaitable[dict[str, Any]]


class Queries:
    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self.answers: Mapping[str, Callable[[Params, Actor], Answer]] = {
            "doctor": self._doctor,
            "capability.list": self._list,
            "capability.inspect": self._inspect,
            "capability.render": self._render,
            "capability.health": self._health,
            "capability.diff": self._diff,
            "capability.graph": self._graph,
            "capability.history": self._history,
            "capability.explain_rejected": self._explain,
            "capability.validate": self._validate,
            "why": self._why,
            **Recorded(runtime).answers,
            **SkillQueries(runtime).answers,
            **PluginQueries(runtime).answers,
        }

    async def _doctor(self, params: Params, actor: Actor) -> dict[str, Any]:
        from evatui.control.doctor.devices import check_devices
        from evatui.control.doctor.examine import examine, with_checks

        found = await examine(self._runtime.layout, self._runtime.engine, self._runtime.sandbox)
        devices = await Devices(self._runtime).listed()
        return with_checks({**found, "devices": devices}, [check_devices(devices)])

    async def _list(self, params: Params, actor: Actor) -> dict[str, Any]:
        return listed(self._runtime)

    async def _inspect(self, params: Params, actor: Actor) -> dict[str, Any]:
        return inspected(self._runtime, known(self._runtime, read_needed(params, "id")))

    async def _explain(self, params: Params, actor: Actor) -> dict[str, Any]:
        return await explained(self._runtime, read_text(params, "id"), read_text(params, "digest"))

    async def _validate(self, params: Params, actor: Actor) -> dict[str, Any]:
        """``{id, generation, violations: [{pointer, message}]}``: those of what serves, else of what the disk holds."""
        capability = known(self._runtime, read_needed(params, "id"))
        candidate = capability.active.candidate if capability.active else capability.candidate
        if candidate is None:
            raise CommandFailed(ErrorKind.UNAVAILABLE, f"{capability.id} has no schema that holds up")
        found = await asyncio.to_thread(candidate.input.check, params.get("payload", {}))
        return {
            "id": capability.id,
            "generation": capability.active.name.id if capability.active else None,
            "violations": [{"pointer": one.pointer, "message": one.message} for one in found],
        }

    async def _render(self, params: Params, actor: Actor) -> dict[str, Any]:
        wanted = read_needed(params, "id")
        strays = self._runtime.registry.strays
        path = wanted if wanted in strays else known(self._runtime, wanted).path
        return {"id": wanted, **await asyncio.to_thread(rendered_manifest, self._runtime.layout, path)}

    async def _diff(self, params: Params, actor: Actor) -> dict[str, Any]:
        capability = known(self._runtime, read_needed(params, "id"))
        old, new = read_text(params, "old"), read_text(params, "new")
        return await compared(self._runtime.keeping, capability, old, new, self._runtime.accounts)

    async def _why(self, params: Params, actor: Actor) -> dict[str, Any]:
        return await told(self._runtime, read_needed(params, "what"))

    async def _graph(self, params: Params, actor: Actor) -> dict[str, Any]:
        return graphed(self._runtime)

    async def _history(self, params: Params, actor: Actor) -> dict[str, Any]:
        wanted = read_needed(params, "id")
        found = await asyncio.to_thread(past, self._runtime, wanted)
        if not found["generations"]:
            known(self._runtime, wanted)  # an unknown id is an error; a known one may never have been loaded
        return found

    async def _health(self, params: Params, actor: Actor) -> dict[str, Any]:
        capability = known(self._runtime, read_needed(params, "id"))
        active = capability.active
        if active is None:
            raise CommandFailed(ErrorKind.UNAVAILABLE, f"{capability.id} serves nothing: it is {capability.state}")
        started = self._runtime.clock.monotonic()
        shadow = self._runtime.shadow
        active.inside.enter()
        try:
            rejection = await shadow.health(active.candidate, active.program, active.name.id)
        finally:
            active.inside.leave()
        return {
            "ok": rejection is None,
            "duration_ms": round((self._runtime.clock.monotonic() - started) * 1000, 3),
            "generation": active.name.id,
            "error": rejection.diagnostics[0].to_json() if rejection else None,
        }
