"""Undo: the inverse of the last thing that was ordered of a capability, while nothing else has happened since."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from evatui.kernel.model.call import Actor
from evatui.kernel.model.errors import ErrorKind, failure
from evatui.kernel.model.text import clean_line
from evatui.kernel.registry.capability import Capability
from evatui.kernel.registry.generation import GenerationId
from evatui.kernel.registry.operations import Operations
from evatui.kernel.registry.receipt import Receipt, guard
from evatui.kernel.registry.registry import Registry
from evatui.kernel.registry.restoring import Restoring
from evatui.kernel.registry.retention import Kept
from evatui.kernel.registry.rollout.orders import Rollouts
from evatui.kernel.storage.history import ABSENT, Hold
from evatui.kernel.storage.state_store import StateStore

__all__ = ["Undoing"]

_SWITCHES: Final = frozenset({"drain", "disable", "enable"})
_SHOWN: Final = 20
"""Keys that a message names."""


@dataclass(frozen=True, slots=True)
class _Done:
    """An order; the operator's hold that was in force before it; what served and was tried out right after it, and what
    was stored under its schema then, by key and version."""

    receipt: Receipt
    hold: Hold | None
    after: tuple[GenerationId, ...]
    stored: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class _Inverse:
    """``words`` say what would be done; ``kept`` is the version that would come back by it."""

    words: str
    work: Callable[[], Awaitable[Receipt]]
    kept: Kept | None = None


class Undoing:
    """Of this runtime only. What was undone is not undone again: undoing twice does not toggle."""

    def __init__(
        self,
        registry: Registry,
        operations: Operations,
        rollouts: Rollouts,
        restoring: Restoring,
        state: StateStore,
    ) -> None:
        self._registry = registry
        self._operations = operations
        self._rollouts = rollouts
        self._restoring = restoring
        self._state = state
        self._done: dict[str, _Done] = {}

    def hold_of(self, capability_id: str) -> Hold | None:
        """For `note`: what is in force before an order."""
        capability = self._registry.capabilities.get(capability_id)
        return capability.hold if capability is not None else None

    async def note(self, receipt: Receipt, hold: Hold | None) -> None:
        """It was ordered just now; ``hold`` was in force before."""
        capability = self._registry.capabilities[receipt.id]
        if receipt.action in _SWITCHES and capability.hold is hold:
            return  # it was so before: what can be undone is still the order before it
        after = _names(capability)
        stored = await self._stored(capability) if receipt.action == "rollback" else {}
        self._done[receipt.id] = _Done(receipt, hold, after, stored)

    async def undo(self, capability_id: str, actor: Actor, if_generation: str | None = None) -> Receipt:
        """Raises `CallFailed` ``NotFound`` for an unknown id, ``Conflict`` where there is nothing to undo, or where
        another version came since."""
        did, inverse = self._last(capability_id, actor, if_generation)
        done = self._done.pop(capability_id)  # at once: whoever undoes it meanwhile as well finds nothing
        try:
            await self._refuse_loss(capability_id, done, inverse)
            receipt = await inverse.work()
        except BaseException:
            self._done.setdefault(capability_id, done)
            raise
        note = f"undid the {did.action} of {did.at}"
        return replace(receipt, action="undo", note=f"{note}; {receipt.note}" if receipt.note else note)

    async def plan(self, capability_id: str, actor: Actor, if_generation: str | None = None) -> dict[str, Any]:
        """What `undo` would do: ``{id, undoes: {action, at, actor}, by, to}``. Raises as it does, and ``Conflict``
        or ``PolicyDenied`` where the version that would come back cannot by now."""
        did, inverse = self._last(capability_id, actor, if_generation)
        if inverse.kept is not None:
            await self._restoring.rehearse(self._registry.capabilities[capability_id], inverse.kept)
        await self._refuse_loss(capability_id, self._done[capability_id], inverse)
        return {
            "id": capability_id,
            "undoes": {"action": did.action, "at": did.at, "actor": did.actor},
            "by": inverse.words,
            "to": inverse.kept.name.id if inverse.kept is not None else None,
        }

    async def _refuse_loss(self, capability_id: str, done: _Done, inverse: _Inverse) -> None:
        """A version that was rolled back finds its state as it left it: what was stored since must not be lost."""
        capability = self._registry.capabilities[capability_id]
        if done.receipt.action != "rollback" or inverse.kept is None or capability.active is None:
            return
        candidate = await self._restoring.admitted(capability, inverse.kept)
        if candidate.manifest.state_schema <= capability.active.manifest.state_schema:
            return
        stored = await self._stored(capability)
        if changed := sorted(key for key in {*stored, *done.stored} if stored.get(key) != done.stored.get(key)):
            message = f"what was stored since the rollback would be lost: {', '.join(changed[:_SHOWN])}"
            hint = f"eva capability retry {capability_id} carries it over"
            raise failure(ErrorKind.CONFLICT, f"{message}; {hint}", lost_keys=changed)

    async def _stored(self, capability: Capability) -> dict[str, int]:
        if capability.active is None:
            return {}
        schema = capability.active.manifest.state_schema
        rows = await asyncio.to_thread(self._state.rows, capability.id, schema)
        return {row.key: row.version for row in rows}

    def _last(self, capability_id: str, actor: Actor, if_generation: str | None) -> tuple[Receipt, _Inverse]:
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
        return done.receipt, self._inverse(done, capability, actor)

    def _inverse(self, done: _Done, capability: Capability, actor: Actor) -> _Inverse:
        """Calls that are not to be undone themselves: they do not go through `note`."""
        operations, rollouts, key, did = self._operations, self._rollouts, capability.id, done.receipt
        if did.action in _SWITCHES:
            return self._held_as_before(done, capability, actor)
        match did.action:
            case "pause":
                return _Inverse("resuming its canary", lambda: rollouts.resume(key, actor))
            case "resume":
                return _Inverse("pausing its canary", lambda: rollouts.pause(key, actor))
            case "abort":
                return _Inverse("trying its canary again, from the beginning", lambda: operations.retry(key, actor))
            case "retry" if capability.rollout is not None:
                return _Inverse("aborting its canary", lambda: rollouts.abort(key, actor))
        if did.source == did.target:
            raise failure(ErrorKind.CONFLICT, f"the {did.action} of {key} changed nothing")
        if did.source is None and done.hold is not None and capability.hold is None:
            return self._held_as_before(done, capability, actor)
        if did.source is None and ABSENT in capability.quarantined:
            return _Inverse("leaving it deleted, as the disk has it", lambda: operations.retry(key, actor))
        if did.source is None:
            raise failure(ErrorKind.CONFLICT, f"the {did.action} of {key} cannot be undone: nothing served before it")
        source = did.source
        kept = next((one for one in capability.kept if one.name == source), None)
        if kept is None:  # it was a canary, and served nobody alone
            return _Inverse("trying its canary again, from the beginning", lambda: operations.retry(key, actor))
        # A version that was only gone back to is nobody's fault; one that was retried or promoted is taken back.
        back = did.action == "rollback"
        return _Inverse(
            f"going back to {source.short}",
            lambda: operations.rollback(key, actor, source.id, blame=not back, own_state=back),
            kept,
        )

    def _held_as_before(self, done: _Done, capability: Capability, actor: Actor) -> _Inverse:
        operations, key = self._operations, capability.id
        if (done.hold is None) is (capability.hold is None):
            raise failure(ErrorKind.CONFLICT, f"the {done.receipt.action} of {key} switched nothing on or off")
        match done.hold:
            case Hold.DRAINED:
                return _Inverse("draining it", lambda: operations.drain(key, actor))
            case Hold.DISABLED:
                return _Inverse("switching it off", lambda: operations.disable(key, actor))
            case None:
                return _Inverse("switching it on", lambda: operations.enable(key, actor))


def _names(capability: Capability) -> tuple[GenerationId, ...]:
    return tuple(generation.name for generation in capability.serving)
