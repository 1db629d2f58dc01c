"""One adapter in service: the way of a call to it, from its limits to its record."""

from __future__ import annotations

import asyncio
import contextlib
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from evatui.kernel.host.ports import Invocation, NotSent, Way, WayState
from evatui.kernel.model.adapter import Adapter
from evatui.kernel.model.call import CallerType, CallReport, CallRequest, Response
from evatui.kernel.model.clock import Clock
from evatui.kernel.model.errors import CallError, CallFailed, ErrorKind, failure
from evatui.kernel.model.manifest import AuditLevels
from evatui.kernel.model.text import clean_line
from evatui.kernel.records.audit import AuditLog, Reservation
from evatui.kernel.records.codes import call_ending
from evatui.kernel.records.record import canonical, measured
from evatui.kernel.registry.limiter import Limiter
from evatui.kernel.registry.payload import resolved
from evatui.kernel.registry.providers.circuit import Circuit, Rate

__all__ = ["House", "Provider"]


class House(Protocol):
    """What a provider uses of the kernel."""

    audit: AuditLog
    clock: Clock

    def tell(self, what: str, adapter: Adapter, **more: Any) -> None: ...

    def levels(self) -> AuditLevels: ...

    def later(self, work: Callable[[], None]) -> None: ...


@dataclass(slots=True)
class _Flight:
    """A call on its way. ``sent``: something of it may have left."""

    request: CallRequest
    started: float
    deadline: float
    payload: Any = None
    data: bytes | None = None
    sent: bool = False
    target: str = ""
    spent_us: int = 0
    reservation: Reservation | None = field(default=None, repr=False)


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
        clock, limits = self._house.clock, self.adapter.limits
        started = clock.monotonic()
        asked_ms = min(limits.timeout_ms, request.timeout_ms or limits.timeout_ms)
        flight = _Flight(request, started, min(started + asked_ms / 1000, request.deadline or math.inf))
        try:
            flight.reservation = self._house.audit.begin()
            response = await self._answered(flight)
        except CallFailed as failed:
            response = Response(False, error=failed.error)
        except asyncio.CancelledError:
            self._recorded_later(flight)
            raise
        response = await self._recorded(flight, response)
        self.calls += 1
        self.errors += not response.ok
        return CallReport(
            response,
            request.request_id,
            request.trace_id,
            self.adapter.id,
            self.adapter.title if flight.sent else None,
            (clock.monotonic() - started) * 1000,
        )

    async def _answered(self, flight: _Flight) -> Response:
        adapter = self.adapter
        if self.leaving:
            raise NotSent(ErrorKind.UNAVAILABLE, f"{adapter.id} leaves service", reason="draining")
        flight.payload, flight.data = await asyncio.to_thread(self._admitted, flight.request)
        if not self._rate.take(adapter.limits.rate_per_s):
            message = f"{adapter.id} takes {adapter.limits.rate_per_s} calls a second"
            device = adapter.transport == "hardware"
            kind = ErrorKind.DEVICE_RATE_LIMITED if device else ErrorKind.CONCURRENCY_LIMITED
            raise NotSent(kind, message, reason="rate_limited")
        await self._limiter.acquire(flight.deadline, flight.request.ancestors)
        try:
            return await self._within_circuit(flight)
        finally:
            self._limiter.release()

    async def _within_circuit(self, flight: _Flight) -> Response:
        adapter = self.adapter
        if not self.circuit.enter(adapter.breaker):
            message = f"{adapter.id} is {self.state.word}: {self.state.detail}"
            raise NotSent(ErrorKind.UNAVAILABLE, message, reason="circuit_open")
        ended: ErrorKind | None = ErrorKind.CANCELLED
        try:
            result = await self._asked(flight)
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

    async def _asked(self, flight: _Flight) -> Any:
        request, house = flight.request, self._house
        invocation = Invocation(
            request.capability,
            flight.payload,
            request.request_id,
            request.trace_id,
            request.caller,
            flight.deadline - house.clock.monotonic(),
            self.adapter.limits.max_output_bytes,
        )
        flight.target = self.way.target(invocation)
        await asyncio.to_thread(self._announce, flight)
        flight.sent = True
        begun = house.clock.monotonic()
        try:
            async with asyncio.timeout(max(0.0, flight.deadline - begun)):
                result = await self.way.invoke(invocation)
        except NotSent:
            flight.sent = False
            raise
        except TimeoutError:
            spent_ms = round((house.clock.monotonic() - flight.started) * 1000)
            message = f"{self.adapter.id} has not answered within {spent_ms} ms"
            raise failure(ErrorKind.TIMEOUT, message, retryable=True) from None
        except CallFailed:
            raise
        except Exception as error:
            message = f"{self.adapter.id} failed in the kernel ({type(error).__name__})"
            raise failure(ErrorKind.HOST_ERROR, message) from error
        finally:
            flight.spent_us = int((house.clock.monotonic() - begun) * 1_000_000)
        await asyncio.to_thread(self._check, request.capability, result)
        return result

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

    def _announce(self, flight: _Flight) -> None:
        assert flight.reservation is not None  # a call without one has ended
        intent = [{"fn": self._fn, "target": flight.target, "duration_us": None, "outcome": "intent"}]
        fields = {"host_calls": intent, **self._identity(flight.request)}
        self._house.audit.intent(flight.reservation, {"actor": flight.request.caller.to_json(), **fields})

    @property
    def _fn(self) -> str:
        return f"adapter.{self.adapter.transport}"

    def _identity(self, request: CallRequest) -> dict[str, Any]:
        return {
            "capability_id": self.adapter.id,
            "capability": request.capability,
            "generation": self.adapter.title,
            "manifest_digest": self.adapter.digest or None,
            "request_id": request.request_id,
            "trace_id": request.trace_id,
        }

    def _record(self, flight: _Flight, response: Response) -> Mapping[str, Any]:
        code, outcome = call_ending(response.error)
        levels = self._house.levels()
        said = response.error.kind.value if response.error else "ok"
        asked = {"fn": self._fn, "target": flight.target, "duration_us": flight.spent_us, "outcome": said}
        return {
            "code": code,
            "outcome": outcome,
            "actor": flight.request.caller.to_json(),
            **self._identity(flight.request),
            "duration_us": int((self._house.clock.monotonic() - flight.started) * 1_000_000),
            "error_kind": response.error.kind.value if response.error else None,
            "input": measured(flight.request.payload, levels.log_input, flight.data),
            "output": measured(response.result, levels.log_output) if response.ok else None,
            "host_calls": [asked] if flight.sent else [],
        }

    async def _recorded(self, flight: _Flight, response: Response) -> Response:
        """The answer, once it is on record; what cannot be written down does not leave."""
        reservation = flight.reservation
        if reservation is None:
            return response  # there was nothing to write to
        title = self.adapter.title if flight.sent else None
        try:
            await asyncio.to_thread(lambda: self._house.audit.final(reservation, self._record(flight, response)).wait())
        except CallFailed as failed:
            return Response(False, error=failed.error.on(title))
        return replace(response, error=response.error.on(title)) if response.error else response

    def _recorded_later(self, flight: _Flight) -> None:
        reservation = flight.reservation
        if reservation is None:
            return
        error = CallError(ErrorKind.CANCELLED, "nobody waits for the answer any more")
        record = self._record(flight, Response(False, error=error))

        def write() -> None:
            with contextlib.suppress(CallFailed):
                self._house.audit.final(reservation, record).wait()

        self._house.later(write)


def _told(violations: Any) -> list[dict[str, str]]:
    return [{"pointer": one.pointer, "message": one.message} for one in violations]
