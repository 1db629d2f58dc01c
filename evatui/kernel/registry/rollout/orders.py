"""What an operator may order of a canary, with a receipt."""

from __future__ import annotations

from evatui.kernel.model.call import Actor
from evatui.kernel.model.clock import Clock
from evatui.kernel.model.errors import ErrorKind, failure
from evatui.kernel.model.text import clean_line
from evatui.kernel.registry.capability import Capability
from evatui.kernel.registry.generation import GenerationId
from evatui.kernel.registry.receipt import Receipt, Receipts, guard
from evatui.kernel.registry.registry import Registry
from evatui.kernel.registry.rollout.canaries import Canaries

__all__ = ["Rollouts"]


class Rollouts:
    """Every method raises `CallFailed`: ``NotFound`` for an unknown id, ``Conflict`` where nothing is tried out, or
    where ``if_generation`` neither serves nor is tried out by now."""

    def __init__(self, registry: Registry, canaries: Canaries, clock: Clock) -> None:
        self._registry = registry
        self._canaries = canaries
        self._clock = clock
        self._receipt = Receipts(registry.journal, clock).made

    async def promote(self, capability_id: str, actor: Actor, if_generation: str | None = None) -> Receipt:
        """The canary serves everybody, whatever its verdict; returns at the switch, what served before drains."""
        started, capability = self._begin(capability_id, if_generation)
        before = await self._canaries.promote(capability, actor)
        return self._receipt(capability, "promote", before, _serving(capability), actor, started)

    async def abort(self, capability_id: str, actor: Actor, if_generation: str | None = None) -> Receipt:
        """What serves beside it serves everybody, and the canary does not come back until it changes, or `retry`."""
        started, capability = self._begin(capability_id, if_generation)
        tried = await self._canaries.abort(capability, actor)
        return self._receipt(capability, "abort", tried, _serving(capability), actor, started)

    async def pause(self, capability_id: str, actor: Actor, if_generation: str | None = None) -> Receipt:
        """It keeps its share, and its time stands still; one that fails is taken back all the same."""
        started, capability = self._begin(capability_id, if_generation)
        tried = self._canaries.pause(capability, actor)
        return self._receipt(capability, "pause", tried, tried, actor, started)

    async def resume(self, capability_id: str, actor: Actor, if_generation: str | None = None) -> Receipt:
        """Its time goes on; one whose time was over gets all of it again."""
        started, capability = self._begin(capability_id, if_generation)
        tried = self._canaries.resume(capability, actor)
        return self._receipt(capability, "resume", tried, tried, actor, started)

    def _begin(self, capability_id: str, if_generation: str | None) -> tuple[float, Capability]:
        capability = self._registry.capabilities.get(capability_id)
        if capability is None or capability.gone:
            raise failure(ErrorKind.NOT_FOUND, f"no capability with the id {clean_line(capability_id, 128)}")
        guard(capability, if_generation)
        self._canaries.rollout_of(capability)
        return self._clock.monotonic(), capability


def _serving(capability: Capability) -> GenerationId | None:
    return capability.active.name if capability.active else None
