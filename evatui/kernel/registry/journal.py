"""What the registry tells the world: an event for those who watch, an audit record for later.

Events go out at once, on the loop; records are written by one thread, in order, so that a slow
disk never holds the loop.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, TypeVar

from evatui.kernel.model.call import KERNEL, Actor
from evatui.kernel.model.clock import Clock, rfc3339
from evatui.kernel.model.diagnostic import Diagnostic
from evatui.kernel.model.errors import ErrorKind, failure
from evatui.kernel.model.lifecycle import State
from evatui.kernel.records.audit import AuditLog
from evatui.kernel.records.causes import begins, cause_of, request
from evatui.kernel.records.codes import Code, Outcome
from evatui.kernel.records.events import EventBus

__all__ = ["Journal"]

_log = logging.getLogger(__name__)

T = TypeVar("T")


class Journal:
    def __init__(self, bus: EventBus, audit: AuditLog, clock: Clock) -> None:
        self._bus = bus
        self._audit = audit
        self._clock = clock
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="eva-journal")

    def at(self) -> str:
        return rfc3339(self._clock.now())

    def tell(
        self,
        what: str,
        capability_id: str,
        state: State,
        *,
        generation: str | None = None,
        from_generation: str | None = None,
        reason: str | None = None,
        diagnostics: Sequence[Diagnostic] = (),
        actor: Actor = KERNEL,
        **extra: Any,
    ) -> None:
        """Emits ``/capability/<what>``, caused by the request that ordered it, else by the event that it began with:
        the ``loading`` of an update, the ``draining`` of a deletion."""
        payload = {
            "id": capability_id,
            "generation": generation,
            "from_generation": from_generation,
            "state": state.value,
            "reason": reason,
            "diagnostics": [diagnostic.to_json() for diagnostic in diagnostics],
            **extra,
        }
        cause = request() if what == "loading" else cause_of(capability_id)
        try:
            event = self._bus.emit(f"/capability/{what}", payload, actor=actor, cause=cause)
        except Exception as error:  # what is told has happened, and whoever listens cannot take it back
            self.defect("events", error)
            return
        if what == "loading" or (what == "draining" and cause is None):
            begins(capability_id, event.event_id)

    def runtime(self, what: str, actor: Actor) -> None:
        """Emits ``/runtime/<what>``."""
        self._bus.emit(f"/runtime/{what}", {}, actor=actor)

    def write(self, code: Code, outcome: Outcome, actor: Actor, **fields: Any) -> None:
        """Appends a record in the background, with the request that ordered it; a sink that fails shows in its own
        health."""
        if ordered := request():
            fields.setdefault("request_id", ordered)
        self.later(partial(self._audit.note, code, outcome, actor, **fields))

    def defect(self, where: str, error: BaseException | None) -> None:
        """A defect of the kernel itself, by the name of its exception: what it says may hold anything, and so goes to
        the log of the process, which nobody sees who does not ask for it."""
        _log.debug("a defect: %s", where, exc_info=error)
        with contextlib.suppress(Exception):  # where even that cannot be told, there is nobody to tell
            self._bus.emit("/runtime/defect", {"where": where, "error": type(error).__name__})

    def later(self, work: Callable[..., object], *given: Any) -> None:
        """Runs ``work`` in the same thread, after all that came before; it must not raise.

        Once the journal is closed, which is as the audit log closes, there is nobody left to do it.
        """
        with contextlib.suppress(RuntimeError):
            self._writer.submit(work, *given)

    async def written(self, write: Callable[[], T]) -> T:
        """Runs ``write`` in the same thread, after all that came before, and waits for it.

        Raises ``Unavailable`` once the journal is closed.
        """
        try:
            writing = self._writer.submit(write)
        except RuntimeError:
            raise failure(ErrorKind.UNAVAILABLE, "the runtime has ended") from None
        return await asyncio.wrap_future(writing)

    def close(self) -> None:
        """Waits for what was submitted. Called off the loop."""
        self._writer.shutdown(wait=True)
