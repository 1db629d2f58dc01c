"""What is under way and an operator ends: one call, all of a generation, or a tool in the background."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from evatui.kernel.model.call import Actor
from evatui.kernel.model.clock import Clock
from evatui.kernel.model.errors import ErrorKind, failure
from evatui.kernel.model.text import clean_line
from evatui.kernel.records.codes import Code, Outcome
from evatui.kernel.registry.cut import caller_of
from evatui.kernel.registry.journal import Journal
from evatui.kernel.registry.providers.dispatch import Dispatch
from evatui.kernel.registry.under_way import UnderWay

__all__ = ["Background", "Cancelling", "EndedTask"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EndedTask:
    """What ran in the background. ``provider`` is an adapter, ``runs_on`` that with its version; ``request_id`` is that
    of the call that began it."""

    handle: str
    provider: str
    runs_on: str
    request_id: str
    caller: str
    elapsed_ms: float


class Background(Protocol):
    def cancel(self, what: str, by: str) -> Sequence[EndedTask]:
        """Ends what ``what`` names, by order of ``by``; nothing where nothing of that runs."""


class Cancelling:
    """On the kernel's loop only. Who ended what is on record, beside the end of the call or the task itself."""

    def __init__(self, dispatch: Dispatch, background: Background, journal: Journal, clock: Clock) -> None:
        self._dispatch = dispatch
        self._background = background
        self._journal = journal
        self._clock = clock

    def cancel(self, what: str, actor: Actor) -> dict[str, Any]:
        """``{what, cancelled: [{request_id, capability_id, generation, caller, elapsed_ms, task}]}``, the oldest first,
        what runs in the background last; ``task`` is the handle of that, else null.

        ``what`` is the request id of a call, or a generation by its id or number, or an adapter as ``id@version``, or
        the handle of a task. What was done by now stays done. Raises `CallFailed` ``NotFound`` where nothing of that is
        in flight (any more).
        """
        found = [flight for flight in self._dispatch.under_way if _is(flight, what)]
        by = clean_line(actor.id or actor.type.value, 64)
        ended = [flight for flight in found if flight.cancel(by)]
        tasks = self._background.cancel(what, by)
        if not ended and not tasks:
            raise failure(ErrorKind.NOT_FOUND, f"no call of {clean_line(what, 160)} is in flight")
        for flight in ended:
            self._note(flight, actor)
        for task in tasks:
            self._note_task(task, actor)
        return {"what": what, "cancelled": [*map(self._told, ended), *map(_told_task, tasks)]}

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

    def _note_task(self, task: EndedTask, actor: Actor) -> None:
        self._journal.write(
            Code.CALL_CANCELLED,
            Outcome.OK,
            actor,
            capability_id=task.provider,
            generation=task.runs_on,
            cancelled=task.request_id,
            caller=task.caller,
            task=task.handle,
        )

    def _told(self, flight: UnderWay) -> dict[str, Any]:
        return {
            "request_id": flight.request.request_id,
            "capability_id": flight.answered_by or None,
            "generation": flight.runs_on,
            "caller": caller_of(flight.request),
            "elapsed_ms": round((self._clock.monotonic() - flight.started) * 1000, 1),
            "task": None,
        }


def _told_task(task: EndedTask) -> dict[str, Any]:
    return {
        "request_id": task.request_id,
        "capability_id": task.provider,
        "generation": task.runs_on,
        "caller": task.caller,
        "elapsed_ms": round(task.elapsed_ms, 1),
        "task": task.handle,
    }


def _is(flight: UnderWay, what: str) -> bool:
    return what in (flight.request.request_id, flight.runs_on, flight.number)
