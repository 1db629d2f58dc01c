"""Calls in flight that an operator ends: one, or all of a generation."""

from __future__ import annotations

from typing import Any

from evatui.kernel.model.call import Actor
from evatui.kernel.model.clock import Clock
from evatui.kernel.model.errors import ErrorKind, failure
from evatui.kernel.model.text import clean_line
from evatui.kernel.records.codes import Code, Outcome
from evatui.kernel.registry.cut import caller_of
from evatui.kernel.registry.journal import Journal
from evatui.kernel.registry.providers.dispatch import Dispatch
from evatui.kernel.registry.under_way import UnderWay

__all__ = ["Cancelling"]


class Cancelling:
    """On the kernel's loop only. Who ended which call is on record, beside the end of the call itself."""

    def __init__(self, dispatch: Dispatch, journal: Journal, clock: Clock) -> None:
        self._dispatch = dispatch
        self._journal = journal
        self._clock = clock

    def cancel(self, what: str, actor: Actor) -> dict[str, Any]:
        """``{what, cancelled: [{request_id, capability_id, generation, caller, elapsed_ms}]}``, the oldest first.

        ``what`` is the request id of a call, or a generation by its id or number, or an adapter as ``id@version``. What
        was done by now stays done. Raises `CallFailed` ``NotFound`` where nothing of that is in flight (any more).
        """
        found = [flight for flight in self._dispatch.under_way if _is(flight, what)]
        by = clean_line(actor.id or actor.type.value, 64)
        ended = [flight for flight in found if flight.cancel(by)]
        if not ended:
            raise failure(ErrorKind.NOT_FOUND, f"no call of {clean_line(what, 160)} is in flight")
        for flight in ended:
            self._note(flight, actor)
        return {"what": what, "cancelled": [self._told(flight) for flight in ended]}

    def _note(self, flight: UnderWay, actor: Actor) -> None:
        self._journal.write(
            Code.CALL_CANCELLED,
            Outcome.OK,
            actor,
            capability_id=flight.answered_by or None,
            generation=flight.runs_on,
            cancelled=flight.request.request_id,
            caller=caller_of(flight.request),
        )

    def _told(self, flight: UnderWay) -> dict[str, Any]:
        return {
            "request_id": flight.request.request_id,
            "capability_id": flight.answered_by or None,
            "generation": flight.runs_on,
            "caller": caller_of(flight.request),
            "elapsed_ms": round((self._clock.monotonic() - flight.started) * 1000, 1),
        }


def _is(flight: UnderWay, what: str) -> bool:
    return what in (flight.request.request_id, flight.runs_on, flight.number)
