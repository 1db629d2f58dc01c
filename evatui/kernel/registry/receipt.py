"""What every command on a capability begins and ends with: is the target still the one meant, and what was done."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from evatui.kernel.model.call import Actor
from evatui.kernel.model.clock import Clock
from evatui.kernel.model.errors import ErrorKind, failure
from evatui.kernel.model.text import clean_line
from evatui.kernel.registry.capability import Capability
from evatui.kernel.registry.cut import Drained
from evatui.kernel.registry.generation import GenerationId
from evatui.kernel.registry.journal import Journal

__all__ = ["Receipt", "Receipts", "guard"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """What a command did; ``source`` and ``target`` name generations, ``note`` says what else there is to know."""

    id: str
    action: str
    source: GenerationId | None
    target: GenerationId | None
    at: str
    actor: str
    duration_ms: float
    drained: Drained = Drained()
    note: str = ""

    @property
    def cut(self) -> int:
        """How many calls were ended."""
        return self.drained.cut

    def to_json(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "action": self.action,
            "from": self.source.id if self.source else None,
            "to": self.target.id if self.target else None,
            "from_number": self.source.short if self.source else None,
            "to_number": self.target.short if self.target else None,
            "at": self.at,
            "actor": self.actor,
            "duration_ms": round(self.duration_ms, 3),
            **self.drained.to_json(),
            "note": self.note,
        }


class Receipts:
    """Makes them, with the time that has passed since ``started`` on the monotonic clock, in seconds."""

    def __init__(self, journal: Journal, clock: Clock) -> None:
        self._journal = journal
        self._clock = clock

    def made(
        self,
        capability: Capability,
        action: str,
        source: GenerationId | None,
        target: GenerationId | None,
        actor: Actor,
        started: float,
        drained: Drained = Drained(),  # noqa: B008  frozen
        note: str = "",
    ) -> Receipt:
        return Receipt(
            id=capability.id,
            action=action,
            source=source,
            target=target,
            at=self._journal.at(),
            actor=actor.id or actor.type.value,
            duration_ms=(self._clock.monotonic() - started) * 1000,
            drained=drained,
            note=note,
        )


def guard(capability: Capability, if_generation: str | None) -> None:
    """Raises `CallFailed` ``Conflict`` where ``if_generation`` neither serves any more nor is tried out."""
    if if_generation is not None and not capability.serves_as(if_generation):
        serving = " and ".join(serving.name.short for serving in capability.serving) or "nothing"
        raise failure(
            ErrorKind.CONFLICT,
            f"{capability.id} changed under you: {serving} serves now, not {clean_line(if_generation, 200)}",
            serving=[generation.name.id for generation in capability.serving],
        )
