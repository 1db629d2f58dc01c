"""Where else there is something about a thing: by its capability, its generation and its request."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evatui.console.view.action import VIEWS, View
from evatui.console.view.numbers import number_of
from evatui.console.view.timeline import Reload
from evatui.control.snapshot import AuditRow, CallRow, CapabilityRow, ConsoleSnapshot

if TYPE_CHECKING:
    from evatui.console.view.enabled import Subject

__all__ = ["Jump", "jumps"]


@dataclass(frozen=True, slots=True)
class Jump:
    """To a view, there to the row of ``thing``, or to those that pass the filter ``words``."""

    view: View
    what: str
    words: str = ""
    thing: str = ""

    @property
    def label(self) -> str:
        return f"{self.what} in {VIEWS[self.view][1]}"


def jumps(subject: Subject, snapshot: ConsoleSnapshot, numbers: Mapping[str, str], here: View) -> list[Jump]:
    """The narrowest first; those that would only show what one is looking at already are left out."""
    capability, generation, request = _names(subject, numbers)
    found = [*_of_request(request, snapshot), *_of_generation(generation, snapshot), *_of(capability, snapshot)]
    return [jump for jump in found if not (jump.view is here and jump.thing)]


def _names(subject: Subject, numbers: Mapping[str, str]) -> tuple[str, str, str]:
    """Its capability, the number of its generation, and its request; empty where it has none."""
    if isinstance(subject, CapabilityRow):
        return subject.id, subject.number or "", ""
    if isinstance(subject, Reload):
        return subject.id, number_of(subject.generation, numbers), subject.cause
    if isinstance(subject, CallRow):
        return subject.capability_id, subject.number, subject.request_id
    if isinstance(subject, AuditRow):
        return subject.capability_id, number_of(subject.generation, numbers), subject.request_id
    return str(getattr(subject, "id", None) or ""), "", ""


def _of_request(request: str, snapshot: ConsoleSnapshot) -> Iterator[Jump]:
    if not request:
        return
    yield Jump(View.AUDIT, "the request", f"req:{request}")
    if any(call.request_id == request for call in snapshot.calls):
        yield Jump(View.IN_FLIGHT, "the call", thing=request)


def _of_generation(number: str, snapshot: ConsoleSnapshot) -> Iterator[Jump]:
    if not number:
        return
    yield Jump(View.RELOADS, f"how {number} came", f"gen:{number}")
    if any(call.number == number for call in snapshot.calls):
        yield Jump(View.IN_FLIGHT, f"the calls on {number}", f"gen:{number}")
    yield Jump(View.AUDIT, f"the records of {number}", f"gen:{number}")


def _of(capability_id: str, snapshot: ConsoleSnapshot) -> Iterator[Jump]:
    if not capability_id:
        return
    if any(row.id == capability_id for row in snapshot.capabilities):
        yield Jump(View.REGISTRY, capability_id, thing=capability_id)
    unserved = {*(row.id for row in snapshot.rejections), *(row.id for row in snapshot.held)}
    if capability_id in unserved:
        yield Jump(View.REJECTED, f"why {capability_id} is not served", thing=capability_id)
    yield Jump(View.RELOADS, f"the reloads of {capability_id}", f"cap:{capability_id}")
    if any(call.capability_id == capability_id for call in snapshot.calls):
        yield Jump(View.IN_FLIGHT, f"the calls of {capability_id}", f"cap:{capability_id}")
    yield Jump(View.AUDIT, f"the records of {capability_id}", f"cap:{capability_id}")
