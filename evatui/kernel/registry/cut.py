"""Who was cut: the calls that a drain could not wait for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from evatui.kernel.model.call import CallRequest
from evatui.kernel.model.clock import Clock
from evatui.kernel.model.text import clean_line
from evatui.kernel.registry.generation import Generation

__all__ = ["MOST_NAMED", "Cut", "Drained", "caller_of", "running", "sum_of"]

MOST_NAMED: Final = 50


@dataclass(frozen=True, slots=True)
class Cut:
    """``caller`` is a name or a type of caller; ``elapsed_ms`` since the call came."""

    request_id: str
    caller: str
    elapsed_ms: float

    def to_json(self) -> dict[str, Any]:
        return {"request_id": self.request_id, "caller": self.caller, "elapsed_ms": round(self.elapsed_ms, 1)}


@dataclass(frozen=True, slots=True)
class Drained:
    """How a generation left: how many calls were ended, and who they were, at most `MOST_NAMED` of them."""

    cut: int = 0
    who: tuple[Cut, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {"cut": self.cut, "cut_calls": [one.to_json() for one in self.who]}


def sum_of(ends: Sequence[Drained]) -> Drained:
    """Of several that left together."""
    who = tuple(one for end in ends for one in end.who)
    return Drained(sum(end.cut for end in ends), who[:MOST_NAMED])


class _Flight(Protocol):
    """A call on its way, since ``started`` on the monotonic clock."""

    request: CallRequest
    started: float
    generation: Generation | None


def running(flights: Iterable[_Flight], generation: Generation, clock: Clock) -> list[Cut]:
    """The calls that run on a generation now, the oldest first."""
    now = clock.monotonic()
    return [
        Cut(flight.request.request_id, caller_of(flight.request), (now - flight.started) * 1000)
        for flight in flights
        if flight.generation is generation
    ]


def caller_of(request: CallRequest) -> str:
    """A name, or a type of caller."""
    return clean_line(request.user or request.caller.id or request.caller.type.value, 128)
