"""The way of a call: route, slot, pin, schema, Lua, schema, audit, answer."""

from __future__ import annotations

import asyncio
import contextlib
import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from evatui.kernel.host.host import CallScope, Host
from evatui.kernel.lua.ending import Overdue
from evatui.kernel.lua.outcome import Outcome
from evatui.kernel.model.call import CallReport, CallRequest, Response
from evatui.kernel.model.clock import Clock
from evatui.kernel.model.errors import CallError, CallFailed, ErrorKind, failure
from evatui.kernel.model.manifest import AuditLevels
from evatui.kernel.records.audit import GIVE_UP_S, AuditLog, Reservation
from evatui.kernel.records.groups import ACCEPTED
from evatui.kernel.registry.call_record import call_record
from evatui.kernel.registry.capability import Capability
from evatui.kernel.registry.cut import running
from evatui.kernel.registry.flight import Flight
from evatui.kernel.registry.generation import Generation
from evatui.kernel.registry.in_force import InForce
from evatui.kernel.registry.interpret import interpret
from evatui.kernel.registry.payload import admitted, handed
from evatui.kernel.registry.registry import Registry
from evatui.kernel.registry.rollout.tally import Sample
from evatui.kernel.registry.router import pick, unserved

__all__ = ["MAX_DEPTH", "Calls"]

_OF_OTHERS = frozenset({ErrorKind.CANCELLED, ErrorKind.AUDIT_UNAVAILABLE})
"""Ends of a call that say nothing about the version that it ran on."""
MAX_DEPTH = 8
"""Capabilities in one chain of calls."""


class Calls:
    """Answers calls."""

    def __init__(
        self,
        registry: Registry,
        host: Host,
        audit: AuditLog,
        clock: Clock,
        in_force: InForce,
        workspace: str,
        mode: str,
    ) -> None:
        self.flights: dict[str, Flight] = {}
        registry.leaving.calls = lambda generation: running(self.flights.values(), generation, clock)
        self.on_flight: Callable[[], None] = lambda: None
        """Called when a call takes off, and from any thread when one reports its progress; must be cheap."""
        self.ending = False
        """The runtime ends: only calls that run already may make others."""
        self.observers: list[Callable[[Capability, Generation, Sample], None]] = []
        """Called after each call that ran while a version of its capability was new, before its answer leaves; must be
        cheap, must not raise."""
        self._registry = registry
        self._host = host
        self._audit = audit
        self._clock = clock
        self._in_force = in_force
        self._workspace = workspace
        self._mode = mode

    async def call(self, request: CallRequest) -> CallReport:
        """Always answers, with a `Response` that says what went wrong; only cancellation is raised."""
        flight = Flight(request, self._clock.now(), self._clock.monotonic(), task=asyncio.current_task())
        try:
            capability = self._take_off(flight)
            try:
                response = await self._fly(capability, flight)
            finally:
                del self.flights[request.request_id]
        except CallFailed as failed:
            response = Response(False, error=failed.error)
            if not flight.recorded:  # else it ran, and it is its record that failed
                response = await self._record_unserved(flight, response)
        except asyncio.CancelledError:
            if not flight.is_by_order:
                if not flight.recorded:
                    self._record_cancelled(flight)
                raise
            response = Response(False, error=CallError(ErrorKind.CANCELLED, f"cancelled by {flight.cancelled_by}"))
            if not flight.recorded:
                response = await self._record_unserved(flight, response)
        return self._report(flight, response)

    def _report(self, flight: Flight, response: Response) -> CallReport:
        if flight.capability is not None:
            flight.capability.calls += 1
            flight.capability.errors += not response.ok
            self._sample(flight.capability, flight, response.error.kind if response.error else None)
        name = flight.generation.name.id if flight.generation else None
        return CallReport(
            replace(response, error=response.error.on(name)) if response.error else response,
            flight.request.request_id,
            flight.request.trace_id,
            flight.capability.id if flight.capability else None,
            name,
            (self._clock.monotonic() - flight.started) * 1000,
        )

    def _sample(self, capability: Capability, flight: Flight, error: ErrorKind | None) -> None:
        """What the end of a call says about the version that it ran on, if it says anything."""
        generation, now = flight.generation, self._clock.monotonic()
        if generation is None or flight.host is None or error in _OF_OTHERS:
            return
        if error is ErrorKind.TIMEOUT and flight.deadline - flight.pinned < generation.program.program.fair_s:
            return  # its caller, or the queue, left it too little time
        sample = Sample(error, (now - flight.pinned) * 1000)
        generation.tally.add(sample)
        if capability.rollout is not None or capability.trial is not None:
            for observe in self.observers:
                observe(capability, generation, sample)

    # -- on the loop ------------------------------------------------------------------------

    def _take_off(self, flight: Flight) -> Capability:
        request, registry = flight.request, self._registry
        if self.ending and not request.ancestors:
            raise failure(ErrorKind.UNAVAILABLE, "the runtime ends", retryable=True, reason="runtime_ends")
        answering = registry.answering(request)
        if answering is None:
            raise registry.absent(request)
        found = answering.manifest.id
        flight.capability = capability = registry.capabilities[found]
        if len(request.ancestors) >= MAX_DEPTH:
            raise failure(ErrorKind.CONCURRENCY_LIMITED, f"calls are nested {MAX_DEPTH} deep: {found} refused")
        if request.request_id in self.flights:
            raise failure(ErrorKind.CONFLICT, "a call with this request id is in flight")
        limit_ms = answering.manifest.limits.timeout_ms
        asked_ms = limit_ms if request.timeout_ms is None else min(limit_ms, request.timeout_ms)
        flight.deadline = min(flight.started + asked_ms / 1000, request.deadline or math.inf)
        self.flights[request.request_id] = flight
        self.on_flight()
        return capability

    async def _fly(self, capability: Capability, flight: Flight) -> Response:
        limiter, ancestors = capability.limiter, flight.request.ancestors
        if not limiter.take(ancestors):
            await limiter.acquire(flight.deadline, ancestors)
        try:
            generation = self._pinned(capability, flight)
            generation.inside.enter()
            try:
                return await self._run(generation, flight)
            finally:
                generation.inside.leave()
        finally:
            limiter.release()

    def _pinned(self, capability: Capability, flight: Flight) -> Generation:
        """The generation that the call stays on to its end."""
        generation, _ = pick(self._registry.table, capability.id, flight.request, self._workspace)
        if generation is None and capability.gone:
            generation = self._registry.answering(flight.request)
        if generation is None or generation.manifest.id != capability.id:
            raise unserved(capability)
        gate = generation.manifest.runtime_gate
        if gate is not None:
            gate.check(capability.id, self._mode, flight.request.caller.type)
        flight.generation, flight.pinned = generation, self._clock.monotonic()
        limits = generation.candidate.manifest.limits  # of a canary they may be tighter than those it flew by
        flight.deadline = min(flight.deadline, flight.started + limits.timeout_ms / 1000)
        return generation

    async def _run(self, generation: Generation, flight: Flight) -> Response:
        candidate, manifest = generation.candidate, generation.candidate.manifest
        request, deadline = flight.request, flight.deadline
        payload, data = admitted(request, candidate)
        flight.data = data
        if payload is not request.payload:
            request = flight.request = replace(request, payload=payload)
        reservation = self._audit.begin()
        host = flight.host = self._host.bind(partial(self._scope, generation, request, deadline, reservation))

        def finish(outcome: Outcome) -> Response:
            flight.recorded = True  # by nobody else, however long this takes
            response = interpret(outcome, candidate)
            flight.judged = True
            flight.acceptance = self._audit.final(reservation, self._record(flight, response), inline=True)
            return response

        try:
            response = await generation.program.call(
                manifest.lua.entry,
                handed(
                    request,
                    provider=manifest.id,
                    generation=generation.name.id,
                    workspace=self._workspace,
                    left_s=deadline - self._clock.monotonic(),
                ),
                deadline=deadline,
                host=host,
                host_calls=manifest.limits.host_calls,
                finish=finish,
                size=len(data),
            )
            if flight.acceptance is not ACCEPTED:
                await flight.acceptance.settled()
            return response
        except Overdue:  # what it waits for is on no record yet
            if flight.judged:
                raise self._audit.overdue(ran=True) from None
            late = "the call ended, but its result takes too long to check, and so is not on record"
            raise failure(ErrorKind.AUDIT_UNAVAILABLE, late, ran=True) from None
        except BaseException:
            self._audit.release(reservation)  # of a call that was cancelled before it began
            raise

    def _scope(
        self, generation: Generation, request: CallRequest, deadline: float, reservation: Reservation
    ) -> CallScope:
        candidate = generation.candidate
        manifest = candidate.manifest
        return CallScope(
            capability_id=manifest.id,
            capability=request.capability,
            generation=generation.name.id,
            request_id=request.request_id,
            trace_id=request.trace_id,
            deadline=deadline,
            permissions=lambda: self._in_force.permissions(candidate),
            credentials=lambda: self._in_force.credentials(candidate),
            limits=manifest.limits,
            schema_version=manifest.state_schema,
            effects=True,
            caller=request.caller,
            ancestors=(*request.ancestors, manifest.id),
            user=request.user,
            tags=request.tags,
            reported=self.on_flight,
            audit=self._audit,
            reservation=reservation,
        )

    # -- records ----------------------------------------------------------------------------

    def _record(self, flight: Flight, response: Response) -> dict[str, Any]:
        generation, host = flight.generation, flight.host
        return call_record(
            flight.request,
            response,
            capability_id=flight.capability.id if flight.capability else None,
            generation=generation,
            levels=self._in_force.levels(generation.candidate) if generation else AuditLevels(),
            host_calls=host.account() if host else (),
            duration_us=int((self._clock.monotonic() - flight.started) * 1_000_000),
            data=flight.data,
        )

    async def _record_unserved(self, flight: Flight, response: Response) -> Response:
        """A call that ended before its handler ran is on record too; its answer waits for that."""
        record = self._record(flight, response)
        try:
            reservation = self._audit.begin()  # where nothing can be written that need not be waited for
            async with asyncio.timeout(GIVE_UP_S):
                written = self._registry.journal.written(partial(self._write, record, reservation))
                await asyncio.shield(written)
        except CallFailed as failed:
            return Response(False, error=failed.error)
        except TimeoutError:
            return Response(False, error=self._audit.overdue().error)
        return response

    def _record_cancelled(self, flight: Flight) -> None:
        """In the background: whoever asked for it is gone."""

        def write() -> None:
            with contextlib.suppress(CallFailed):
                self._write(record, self._audit.begin())

        error = CallError(ErrorKind.CANCELLED, "cancelled before the handler began")
        record = self._record(flight, Response(False, error=error))
        self._registry.journal.later(write)

    def _write(self, record: Mapping[str, Any], reservation: Reservation) -> None:
        self._audit.final(reservation, record).wait()
