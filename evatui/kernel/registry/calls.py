"""The way of a call: route, slot, pin, schema, Lua, schema, audit, answer."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import orjson

from evatui.kernel.admission.verdict import Candidate
from evatui.kernel.host.host import BoundHost, CallScope, Host
from evatui.kernel.lua.outcome import Outcome
from evatui.kernel.model.call import CallReport, CallRequest, Response
from evatui.kernel.model.clock import Clock, rfc3339
from evatui.kernel.model.errors import CallError, CallFailed, ErrorKind, failure
from evatui.kernel.model.ids import new_id
from evatui.kernel.model.permissions import Permissions
from evatui.kernel.records.audit import Audit, Reservation
from evatui.kernel.records.record import CallFacts
from evatui.kernel.registry.capability import Capability
from evatui.kernel.registry.generation import Generation
from evatui.kernel.registry.interpret import interpret
from evatui.kernel.registry.registry import Registry
from evatui.kernel.registry.router import absent, route

__all__ = ["MAX_DEPTH", "Calls", "Flight"]

MAX_DEPTH = 8
"""Capabilities in one chain of calls."""


@dataclass(slots=True)
class Flight:
    """A call on its way. ``generation`` and ``host`` are None while it waits for a slot."""

    request: CallRequest
    capability_id: str
    started_at: str
    started: float
    deadline: float
    generation: Generation | None = None
    host: BoundHost | None = None


class Calls:
    """Answers calls. ``permissions`` gives the effective grant of a candidate at the time of asking."""

    def __init__(
        self,
        registry: Registry,
        host: Host,
        audit: Audit,
        clock: Clock,
        permissions: Callable[[Candidate], Permissions],
        workspace: str,
    ) -> None:
        self.flights: dict[str, Flight] = {}
        self._registry = registry
        self._host = host
        self._audit = audit
        self._clock = clock
        self._permissions = permissions
        self._workspace = workspace

    async def call(self, request: CallRequest) -> CallReport:
        """Always answers, with a `Response` that says what went wrong; only cancellation is raised."""
        request = replace(
            request,
            request_id=request.request_id or new_id("req"),
            trace_id=request.trace_id or new_id("trace"),
        )
        started = self._clock.monotonic()
        capability: Capability | None = None
        generation: Generation | None = None
        try:
            capability = self._find(request)
            flight = self._take_off(capability, request, started)
            try:
                response = await self._fly(capability, flight)
            finally:
                generation = flight.generation
                del self.flights[request.request_id]
        except CallFailed as failed:
            response = Response(False, error=failed.error)
            response = await self._record_unserved(request, capability, generation, response, started)
        name = generation.name.id if generation else None
        self._count(capability, generation, response)
        return CallReport(
            replace(response, error=response.error.on(name)) if response.error else response,
            request.request_id,
            request.trace_id,
            capability.id if capability else None,
            name,
            (self._clock.monotonic() - started) * 1000,
        )

    def _find(self, request: CallRequest) -> Capability:
        found = route(self._registry.table, request)
        if found is None:
            raise absent(self._registry.capabilities.values(), request)
        return self._registry.capabilities[found]

    # -- on the loop ------------------------------------------------------------------------

    def _take_off(self, capability: Capability, request: CallRequest, started: float) -> Flight:
        if len(request.ancestors) >= MAX_DEPTH:
            raise failure(ErrorKind.CONCURRENCY_LIMITED, f"calls are nested {MAX_DEPTH} deep: {capability.id} refused")
        if request.request_id in self.flights:
            raise failure(ErrorKind.CONFLICT, "a call with this request id is in flight")
        assert capability.active is not None  # the router only names ids of the table
        limit_ms = capability.active.manifest.limits.timeout_ms
        asked_ms = limit_ms if request.timeout_ms is None else min(limit_ms, request.timeout_ms)
        deadline = min(started + asked_ms / 1000, request.deadline or math.inf)
        flight = Flight(request, capability.id, rfc3339(self._clock.now()), started, deadline)
        self.flights[request.request_id] = flight
        return flight

    async def _fly(self, capability: Capability, flight: Flight) -> Response:
        await capability.limiter.acquire(flight.deadline, flight.request.ancestors)
        try:
            generation = capability.active
            if generation is None:
                raise _left(capability)
            flight.generation = generation
            generation.enter()
            try:
                return await self._run(generation, flight)
            finally:
                generation.leave()
        finally:
            capability.limiter.release()

    async def _run(self, generation: Generation, flight: Flight) -> Response:
        candidate, request = generation.candidate, flight.request
        input_bytes = _checked_input(candidate, request.payload)
        reservation = self._audit.begin()
        host = self._host.bind(self._scope(generation, flight, reservation))
        flight.host = host

        def finish(outcome: Outcome) -> Response:
            response = interpret(outcome, candidate)
            facts = self._facts(flight, generation, response, input_bytes, host)
            self._audit.final(reservation, facts)
            return response

        try:
            return await generation.program.call(
                candidate.manifest.lua.entry,
                self._request_value(generation, flight),
                deadline=flight.deadline,
                host=host,
                host_calls=candidate.manifest.limits.host_calls,
                finish=finish,
            )
        except asyncio.CancelledError:
            response = Response(False, error=CallError(ErrorKind.CANCELLED, "the caller went away"))
            facts = self._facts(flight, generation, response, input_bytes, host)
            await asyncio.shield(self._registry.journal.written(lambda: self._audit.final(reservation, facts)))
            raise

    def _scope(self, generation: Generation, flight: Flight, reservation: Reservation) -> CallScope:
        request, manifest = flight.request, generation.manifest
        return CallScope(
            capability_id=manifest.id,
            generation=generation.name.id,
            request_id=request.request_id,
            trace_id=request.trace_id,
            deadline=flight.deadline,
            permissions=lambda: self._permissions(generation.candidate),
            limits=manifest.limits,
            effects=True,
            caller=request.caller,
            ancestors=(*request.ancestors, manifest.id),
            user=request.user,
            tags=request.tags,
            audit=self._audit,
            reservation=reservation,
        )

    def _request_value(self, generation: Generation, flight: Flight) -> Mapping[str, Any]:
        request = flight.request
        return {
            "capability": request.capability,
            "provider": generation.manifest.id,
            "payload": request.payload,
            "context": {
                "workspace": self._workspace,
                "request_id": request.request_id,
                "trace_id": request.trace_id,
                "deadline_ms": max(0, int((flight.deadline - self._clock.monotonic()) * 1000)),
                "generation": generation.name.id,
                "user": request.user,
                "tags": dict(request.tags),
                "caller": request.caller.to_json(),
            },
        }

    # -- records ----------------------------------------------------------------------------

    def _facts(
        self,
        flight: Flight,
        generation: Generation | None,
        response: Response,
        input_bytes: bytes,
        host: BoundHost | None,
    ) -> CallFacts:
        candidate = generation.candidate if generation else None
        return CallFacts(
            request=flight.request,
            capability_id=flight.capability_id,
            generation=generation.name.id if generation else None,
            script_digest=candidate.script_digest if candidate else None,
            manifest_digest=candidate.snapshot.manifest.digest if candidate else None,
            levels=candidate.audit if candidate else None,
            response=response,
            input_bytes=input_bytes,
            host_calls=tuple(host.calls) if host else (),
            duration_us=int((self._clock.monotonic() - flight.started) * 1_000_000),
        )

    async def _record_unserved(
        self,
        request: CallRequest,
        capability: Capability | None,
        generation: Generation | None,
        response: Response,
        started: float,
    ) -> Response:
        """A call that ended before its handler ran is on record too; its answer waits for that."""
        flight = Flight(request, capability.id if capability else "", "", started, 0.0)
        facts = self._facts(flight, generation, response, b"", None)
        try:
            await self._registry.journal.written(lambda: self._audit.final(self._audit.begin(), facts))
        except CallFailed as failed:
            return Response(False, error=failed.error)
        return response

    def _count(self, capability: Capability | None, generation: Generation | None, response: Response) -> None:
        for counted in (capability, generation):
            if counted is not None:
                counted.calls += 1
                counted.errors += not response.ok


def _checked_input(candidate: Candidate, payload: Any) -> bytes:
    """The payload as JSON, inside the size limit and fitting the input schema."""
    try:
        encoded = orjson.dumps(payload)
    except (orjson.JSONEncodeError, RecursionError) as error:
        raise failure(ErrorKind.INVALID_INPUT, f"the payload is not JSON: {error}") from None
    limit = candidate.manifest.limits.max_input_bytes
    if len(encoded) > limit:
        raise failure(ErrorKind.INPUT_TOO_LARGE, f"the payload has {len(encoded)} bytes, {limit} are allowed")
    violations = candidate.input.check(payload)
    if violations:
        raise failure(
            ErrorKind.INVALID_INPUT,
            f"the payload does not fit {candidate.input_name}: {violations[0].text}",
            violations=[{"pointer": v.pointer, "message": v.message} for v in violations],
        )
    return encoded


def _left(capability: Capability) -> CallFailed:
    """The capability stopped serving while the call waited in line."""
    if capability.gone:
        return failure(ErrorKind.NOT_FOUND, f"{capability.id} was removed", reason="unregistered")
    return failure(ErrorKind.UNAVAILABLE, f"{capability.id} is {capability.hold or 'switched off'}", retryable=True)
