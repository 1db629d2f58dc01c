"""Undo: the inverse of the last thing that was ordered of a capability, while nothing else has happened since."""

from __future__ import annotations

from collections.abc import Awaitable
from dataclasses import dataclass, replace

from evatui.kernel.model.call import Actor
from evatui.kernel.model.errors import ErrorKind, failure
from evatui.kernel.model.text import clean_line
from evatui.kernel.registry.capability import Capability
from evatui.kernel.registry.generation import GenerationId
from evatui.kernel.registry.operations import Operations
from evatui.kernel.registry.receipt import Receipt, guard
from evatui.kernel.registry.registry import Registry
from evatui.kernel.registry.rollout.orders import Rollouts

__all__ = ["Undoing"]


@dataclass(frozen=True, slots=True)
class _Done:
    """An order, and what served and was tried out right after it."""

    receipt: Receipt
    after: tuple[GenerationId, ...]


class Undoing:
    """Of this runtime only. What was undone is not undone again: undoing twice does not toggle."""

    def __init__(self, registry: Registry, operations: Operations, rollouts: Rollouts) -> None:
        self._registry = registry
        self._operations = operations
        self._rollouts = rollouts
        self._done: dict[str, _Done] = {}

    def note(self, receipt: Receipt) -> None:
        """It was ordered just now."""
        self._done[receipt.id] = _Done(receipt, _names(self._registry.capabilities[receipt.id]))

    async def undo(self, capability_id: str, actor: Actor, if_generation: str | None = None) -> Receipt:
        """Raises `CallFailed` ``NotFound`` for an unknown id, ``Conflict`` where there is nothing to undo, or where
        another version came since."""
        capability, done = self._registry.capabilities.get(capability_id), self._done.get(capability_id)
        if capability is None:
            raise failure(ErrorKind.NOT_FOUND, f"no capability with the id {clean_line(capability_id, 128)}")
        guard(capability, if_generation)
        if done is None:
            raise failure(ErrorKind.CONFLICT, f"nothing was ordered of {capability_id} that could be undone")
        if _names(capability) != done.after:
            raise failure(
                ErrorKind.CONFLICT, f"something else happened to {capability_id} since its {done.receipt.action}"
            )
        receipt = await self._inverse(done.receipt, capability, actor)
        self._done.pop(capability_id, None)
        note = f"undid the {done.receipt.action} of {done.receipt.at}"
        return replace(receipt, action="undo", note=f"{note}; {receipt.note}" if receipt.note else note)

    def _inverse(self, did: Receipt, capability: Capability, actor: Actor) -> Awaitable[Receipt]:
        """Calls that are not to be undone themselves: they do not go through `note`."""
        operations, rollouts, key = self._operations, self._rollouts, capability.id
        match did.action:
            case "drain" | "disable":
                return operations.enable(key, actor)
            case "enable":
                return operations.disable(key, actor)
            case "pause":
                return rollouts.resume(key, actor)
            case "resume":
                return rollouts.pause(key, actor)
            case "abort":
                return operations.retry(key, actor)
            case "retry" if capability.rollout is not None:
                return rollouts.abort(key, actor)
        if did.source is None or did.source == did.target:
            raise failure(ErrorKind.CONFLICT, f"the {did.action} of {key} cannot be undone: nothing served before it")
        if all(kept.name != did.source for kept in capability.kept):  # it was a canary, and served nobody alone
            return operations.retry(key, actor)
        return operations.rollback(key, actor, did.source.id)


def _names(capability: Capability) -> tuple[GenerationId, ...]:
    return tuple(generation.name for generation in capability.serving)
