"""One adapter in service: the way of a call to it, from its limits to its record."""

from __future__ import annotations

import asyncio
import contextlib
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Protocol

from evatui.kernel.host.ports import Invocation, NotSent, Way, WayState
from evatui.kernel.model.adapter import Adapter
from evatui.kernel.model.call import CallerType, CallReport, CallRequest, Response
from evatui.kernel.model.clock import Clock
from evatui.kernel.model.errors import CallError, CallFailed, ErrorKind, failure
from evatui.kernel.model.manifest import AuditLevels
from evatui.kernel.model.progress import Progress
from evatui.kernel.model.text import clean_line
from evatui.kernel.records.audit import AuditLog
from evatui.kernel.records.record import canonical
from evatui.kernel.registry.limiter import Limiter
from evatui.kernel.registry.payload import resolved
from evatui.kernel.registry.providers.circuit import Circuit, Rate
from evatui.kernel.registry.providers.trip import Trip

__all__ = ["House", "Provider"]


class House(Protocol):
    """What a provider uses of the kernel."""

    audit: AuditLog
    clock: Clock
    trips: dict[str, Trip]
    """The calls of all adapters that are in flight, by request."""
    on_change: Callable[[], None]

    def tell(self, what: str, adapter: Adapter, **more: Any) -> None: ...

    def levels(self) -> AuditLevels: ...

    def later(self, work: Callable[[], None]) -> None: ...


class Provider:
    """Used on the kernel's loop only. ``calls`` and ``errors`` count, ``last`` is how the last call ended."""

    def __init__(self, adapter: Adapter, way: Way, house: House) -> None:
        self.adapter = adapter
        self.way = way
        self.circuit = Circuit(house.clock)
        self.calls = 0
        self.errors = 0
        self.last = ""
        self.leaving = False
        self._house = house
        self._rate = Rate(house.clock)
        self._limiter = Limiter(adapter.id, adapter.limits.concurrency, house.clock)

    @property
    def state(self) -> WayState:
        if not self.circuit.is_open:
            return self.way.state
        left = self.circuit.left_s(self.adapter.breaker)
        failed = f"it failed {self.adapter.breaker.failures} times in a row ({self.last})"
        if left:
            return WayState("down", f"{failed}: left alone for {left:.0f} s more")
        return WayState("idle", f"{failed}: the next call tries whether it is well again")

    @property
    def in_flight(self) -> int:
        return self._limiter.running

    def adjust(self, adapter: Adapter) -> None:
        """Another manifest that leads to the same place."""
        self.adapter = adapter
        self._limiter.resize(adapter.limits.concurrency)
        self.way.adjust(adapter)

    async def close(self, within_s: float) -> None:
        """Takes no more calls, lets those end that run, then ends what it has started."""
        self.leaving = True
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(within_s):
                await self._limiter.idle()
        await self.way.close()

    async def call(self, request: CallRequest) -> CallReport:
        """Always answers; only cancellation is raised. ``generation`` of the report is None where nothing was sent."""
        house, adapter = self._house, self.adapter
        started, limit_ms = house.clock.monotonic(), adapter.limits.timeout_ms
        asked_ms = min(limit_ms, request.timeout_ms or limit_ms)
        deadline = min(started + asked_ms / 1000, request.deadline or math.inf)
        task = asyncio.current_task()
        trip = Trip(request, house.clock.now(), started, deadline, task=task, adapter=adapter)
        try:
            trip.reservation = house.audit.begin()
            with self._in_flight(trip):
                response = await self._answered(trip)
        except CallFailed as failed:
            response = Response(False, error=failed.error)
        except asyncio.CancelledError:
            if not trip.is_by_order:
                self._recorded_later(trip)
                raise
            response = Response(False, error=CallError(ErrorKind.CANCELLED, f"cancelled by {trip.cancelled_by}"))
        response = await self._recorded(trip, response)
        self.calls += 1
        self.errors += not response.ok
        took_ms = (house.clock.monotonic() - started) * 1000
        return CallReport(response, request.request_id, request.trace_id, adapter.id, trip.answer_from, took_ms)

    @contextlib.contextmanager
    def _in_flight(self, trip: Trip) -> Iterator[None]:
        trips, key = self._house.trips, trip.request.request_id
        if key in trips:
            raise NotSent(ErrorKind.CONFLICT, "a call with this request id is in flight", retryable=False)
        trips[key] = trip
        self._house.on_change()
        try:
            yield
        finally:
            del trips[key]

    async def _answered(self, trip: Trip) -> Response:
        adapter = self.adapter
        if self.leaving:
            raise NotSent(ErrorKind.UNAVAILABLE, f"{adapter.id} leaves service", reason="draining")
        trip.payload, trip.data = await asyncio.to_thread(self._admitted, trip.request)
        if not self._rate.take(adapter.limits.rate_per_s):
            message = f"{adapter.id} takes {adapter.limits.rate_per_s} calls a second"
            device = adapter.transport == "hardware"
            kind = ErrorKind.DEVICE_RATE_LIMITED if device else ErrorKind.CONCURRENCY_LIMITED
            raise NotSent(kind, message, reason="rate_limited")
        await self._limiter.acquire(trip.deadline, trip.request.ancestors)
        trip.begun = True
        try:
            return await self._within_circuit(trip)
        finally:
            self._limiter.release()

    async def _within_circuit(self, trip: Trip) -> Response:
        adapter = self.adapter
        if not self.circuit.enter(adapter.breaker):
            message = f"{adapter.id} is {self.state.word}: {self.state.detail}"
            raise NotSent(ErrorKind.UNAVAILABLE, message, reason="circuit_open")
        ended: ErrorKind | None = ErrorKind.CANCELLED
        try:
            result = await self._asked(trip)
            ended = None
            return Response(True, result)
        except CallFailed as failed:
            ended = failed.error.kind
            if failed.error.details.get("origin") == "handler":
                ended = ErrorKind.HANDLER_ERROR  # it works, and says no
            self.last = clean_line(failed.error.message, 200)
            raise
        finally:
            turned = self.circuit.leave(ended, adapter.breaker)
            if turned is not None:
                self._house.tell("circuit_opened" if turned else "circuit_closed", adapter, cause=self.last)

    async def _asked(self, trip: Trip) -> Any:
        request, house = trip.request, self._house
        invocation = Invocation(
            request.capability,
            trip.payload,
            request.request_id,
            request.trace_id,
            request.caller,
            trip.deadline - house.clock.monotonic(),
            self.adapter.limits.max_output_bytes,
            partial(self._heard, trip),
        )
        trip.target = self.way.target(invocation)
        await asyncio.to_thread(self._announce, trip)
        trip.sent = True
        begun = house.clock.monotonic()
        try:
            async with asyncio.timeout(max(0.0, trip.deadline - begun)):
                result = await self.way.invoke(invocation)
        except NotSent:
            trip.sent = False
            raise
        except TimeoutError:
            spent_ms = round((house.clock.monotonic() - trip.started) * 1000)
            message = f"{self.adapter.id} has not answered within {spent_ms} ms"
            raise failure(ErrorKind.TIMEOUT, message, retryable=True) from None
        except CallFailed:
            raise
        except Exception as error:
            message = f"{self.adapter.id} failed in the kernel ({type(error).__name__})"
            raise failure(ErrorKind.HOST_ERROR, message) from error
        finally:
            trip.spent_us = int((house.clock.monotonic() - begun) * 1_000_000)
        await asyncio.to_thread(self._check, request.capability, result)
        return result

    def _heard(self, trip: Trip, progress: Progress) -> None:
        trip.progress = progress
        self._house.on_change()

    # -- checks, each in a thread -------------------------------------------------------------

    def _admitted(self, request: CallRequest) -> tuple[Any, bytes]:
        payload, limit = request.payload, self.adapter.limits.max_input_bytes
        try:
            data = canonical(payload)
        except (TypeError, RecursionError) as error:
            raise NotSent(ErrorKind.INVALID_INPUT, f"the payload is not JSON: {error}", retryable=False) from None
        if len(data) > limit:
            message = f"the payload has {len(data)} bytes, {limit} are allowed"
            raise NotSent(ErrorKind.INPUT_TOO_LARGE, message, retryable=False)
        contract = self.adapter.contracts.get(request.capability)
        if contract is None:
            return payload, data
        if request.caller.type is CallerType.CAPABILITY:
            payload = resolved(payload, contract.takes.empty_is_array)
        violations = contract.takes.check(payload)
        if violations:
            message = f"the payload does not fit the input schema of {request.capability}: {violations[0].text}"
            raise NotSent(ErrorKind.INVALID_INPUT, message, retryable=False, violations=_told(violations))
        return payload, canonical(payload)

    def _check(self, capability: str, result: Any) -> None:
        limit = self.adapter.limits.max_output_bytes
        try:
            size = len(canonical(result))
        except (TypeError, RecursionError):
            raise failure(ErrorKind.INVALID_RESPONSE, f"the answer of {self.adapter.id} is not JSON") from None
        if size > limit:
            message = f"the answer of {self.adapter.id} has {size} bytes, {limit} are allowed"
            raise failure(ErrorKind.OUTPUT_TOO_LARGE, message)
        contract = self.adapter.contracts.get(capability)
        violations = contract.gives.check(result) if contract else ()
        if violations:
            message = f"the answer of {self.adapter.id} does not fit its output schema: {violations[0].text}"
            raise failure(ErrorKind.INVALID_OUTPUT, message, violations=_told(violations))

    # -- records ------------------------------------------------------------------------------

    def _announce(self, trip: Trip) -> None:
        assert trip.reservation is not None  # a call without one has ended
        self._house.audit.intent(trip.reservation, trip.intent())

    def _record(self, trip: Trip, response: Response) -> Mapping[str, Any]:
        took_us = int((self._house.clock.monotonic() - trip.started) * 1_000_000)
        return trip.record(response, self._house.levels(), took_us)

    async def _recorded(self, trip: Trip, response: Response) -> Response:
        """The answer, once it is on record; what cannot be written down does not leave."""
        trip.recorded = True
        reservation = trip.reservation
        if reservation is None:
            return response  # there was nothing to write to
        try:
            await asyncio.to_thread(lambda: self._house.audit.final(reservation, self._record(trip, response)).wait())
        except CallFailed as failed:
            return Response(False, error=failed.error.on(trip.answer_from))
        return replace(response, error=response.error.on(trip.answer_from)) if response.error else response

    def _recorded_later(self, trip: Trip) -> None:
        trip.recorded = True
        reservation = trip.reservation
        if reservation is None:
            return
        error = CallError(ErrorKind.CANCELLED, "nobody waits for the answer any more")
        record = self._record(trip, Response(False, error=error))

        def write() -> None:
            with contextlib.suppress(CallFailed):
                self._house.audit.final(reservation, record).wait()

        self._house.later(write)


def _told(violations: Any) -> list[dict[str, str]]:
    return [{"pointer": one.pointer, "message": one.message} for one in violations]
