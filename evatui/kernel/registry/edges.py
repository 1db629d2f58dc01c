"""Every edge that a version takes from one state to the next, and its mark in the trail."""

from __future__ import annotations

from collections.abc import Callable

from evatui.kernel.model.call import Actor
from evatui.kernel.model.lifecycle import State
from evatui.kernel.registry.capability import Attempt, Capability
from evatui.kernel.registry.generation import Generation, GenerationId
from evatui.kernel.registry.journal import Journal
from evatui.kernel.registry.trail import Trail

__all__ = ["Edges"]


class Edges:
    """``changed`` is called after each; it must be cheap."""

    def __init__(self, trail: Trail, journal: Journal, changed: Callable[[], None]) -> None:
        self._trail = trail
        self._journal = journal
        self._changed = changed

    def drop_parked(self, capability: Capability, actor: Actor) -> None:
        if capability.parked is not None:
            self.move(capability, capability.parked, State.UNREGISTERED, actor)
            capability.parked = None

    def move(self, capability: Capability, slot: Attempt, new: State, actor: Actor, reason: str = "") -> None:
        self.step(capability, slot.state, new, slot.name, actor, reason)
        slot.state = new
        slot.since = self._journal.at()
        if capability.active is None:
            capability.since = slot.since

    def move_generation(
        self, capability: Capability, generation: Generation, new: State, actor: Actor, reason: str
    ) -> None:
        self.step(capability, generation.state, new, generation.name, actor, reason)
        generation.state = new
        generation.since = self._journal.at()

    def step(
        self,
        capability: Capability,
        old: State | None,
        new: State,
        name: GenerationId | None,
        actor: Actor,
        reason: str = "",
    ) -> None:
        self._trail.step(
            capability.id,
            old,
            new,
            at=self._journal.at(),
            actor=actor.id or actor.type.value,
            generation=name.id if name else "",
            number=name.short if name else "",
            reason=reason,
        )
        self._changed()
