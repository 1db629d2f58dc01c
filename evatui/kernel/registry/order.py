"""A version that is wanted in service, and what became of it."""

from __future__ import annotations

from dataclasses import dataclass

from evatui.kernel.admission.verdict import Candidate, Rejection
from evatui.kernel.model.call import Actor
from evatui.kernel.registry.capability import Capability
from evatui.kernel.registry.examples import Tried
from evatui.kernel.registry.generation import GenerationId
from evatui.kernel.registry.ruling import Ruling
from evatui.kernel.registry.together import Slot

__all__ = ["Ended", "Order"]


@dataclass(frozen=True, slots=True)
class Ended:
    """What became of a version: ``name`` of what serves now, or why it was refused, or what it waits for;
    nothing of it where it is switched off, or where a newer one overtook it."""

    name: GenerationId | None = None
    rejected: Rejection | None = None
    held: Ruling | None = None
    tried: Tried = Tried()


@dataclass(frozen=True, slots=True)
class Order:
    """``ticket`` is the capability's ``wanted`` as long as nothing overtook it, None where an operator ordered it;
    ``fresh``: as a new generation, also where the same bytes had one; ``slot`` is its part of a set of changes;
    ``own_state``: it finds what it stored itself, and nothing is carried over to it; ``instead_of`` is the name of what
    it may take the place of, None where that may be anything."""

    capability: Capability
    candidate: Candidate
    ruling: Ruling
    actor: Actor
    ticket: int | None
    fresh: bool
    slot: Slot
    own_state: bool = False
    instead_of: str | None = None

    @property
    def by_hand(self) -> bool:
        """Did an operator order this very version?"""
        return self.ticket is None

    @property
    def stands(self) -> bool:
        """Is it wanted still? What an operator ordered is, while the capability is there and serves what was meant."""
        if self.capability.gone or not (self.by_hand or self.ticket == self.capability.wanted):
            return False
        return self.instead_of is None or self.capability.serves_as(self.instead_of)
