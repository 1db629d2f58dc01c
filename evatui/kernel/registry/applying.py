"""Applying a change: what the disk holds of one capability takes effect, or is refused, or waits."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import replace
from typing import Any

from evatui.kernel.admission.policy import Policy
from evatui.kernel.admission.verdict import Candidate, Rejection
from evatui.kernel.model.call import Actor
from evatui.kernel.model.diagnostic import Reason
from evatui.kernel.model.lifecycle import State
from evatui.kernel.registry.accounts import Accounts
from evatui.kernel.registry.capability import Capability
from evatui.kernel.registry.plan import BY_HAND, FROZEN, KNOWN, Action, Change
from evatui.kernel.registry.publisher import Publisher
from evatui.kernel.registry.registry import SUPERSEDED, Registry
from evatui.kernel.registry.rollout.beginning import Beginnings
from evatui.kernel.registry.together import Slot, Together
from evatui.kernel.storage.history import ABSENT

__all__ = ["Applying"]


class Applying:
    """At most ``at_once`` capabilities are worked on at a time, in the order of their ids: with 1, the numbers of new
    generations depend on nothing but the disk.
    """

    def __init__(self, registry: Registry, publisher: Publisher, beginnings: Beginnings, at_once: int) -> None:
        self.before: Callable[[Capability, Candidate], Awaitable[None]] = _nothing
        """Awaited before a version is brought up."""
        self._registry = registry
        self._publisher = publisher
        self._beginnings = beginnings
        self._places = asyncio.Semaphore(at_once)
        self.accounts = Accounts()

    def together(
        self, changes: Sequence[Change], policy: Policy, actor: Actor
    ) -> dict[str, Coroutine[Any, Any, Change]]:
        """The work of a set of changes, by id, that takes effect together; of most there is none."""
        together = Together(self._registry.commit, self._places)
        due = [change for change in changes if not self._noted(change, policy, actor)]
        return {change.key: self._apply(change, policy, actor, together.slot()) for change in due}

    def _noted(self, change: Change, policy: Policy, actor: Actor) -> bool:
        """What the disk holds is on record, where that is all there is to do."""
        verdict = change.verdict
        if change.action in (Action.ADD, Action.UPDATE, Action.REMOVE):
            return False
        if verdict is None:
            self._registry.capabilities[change.key].unapplied = "missing"
            self._registry.on_change()
            return True
        capability = self._registry.capability(change.key, change.path)
        capability.disk_digest = verdict.digest
        if isinstance(verdict, Rejection):
            active = capability.active
            return change.reason == KNOWN and not (active and policy.denies(capability.id, active.manifest))
        capability.candidate = verdict
        capability.unapplied = "changed" if change.reason in (BY_HAND, FROZEN) else ""
        refused = capability.rejection
        if refused is not None and not capability.turn.locked():
            quarantined = change.reason == Reason.QUARANTINED
            if quarantined or (change.reason and refused.digest != verdict.digest):  # that was another version
                self._registry.attempts.forget(capability, actor)
                self._registry.on_change()
        return bool(change.reason) or self._at_rest(capability)

    def _at_rest(self, capability: Capability) -> bool:
        """Is nothing on its way in, refused, waiting, or tried out?"""
        on_its_way = capability.turn.locked() or self._publisher.brings(capability)
        return not on_its_way and capability.attempt is None and capability.rejection is None and not capability.rollout

    async def _apply(self, change: Change, policy: Policy, actor: Actor, slot: Slot) -> Change:
        async with slot:
            return await self._applied(change, policy, actor, slot)

    async def _applied(self, change: Change, policy: Policy, actor: Actor, slot: Slot) -> Change:
        if change.action is Action.REMOVE:
            await self._remove(self._registry.capabilities[change.key], actor, slot)
        if change.verdict is None:
            return change
        capability = self._registry.capability(change.key, change.path)
        capability.disk_digest = change.verdict.digest
        if isinstance(change.verdict, Rejection):
            await self._refuse(capability, change.verdict, policy, actor)
            return change
        capability.candidate = change.verdict
        capability.unapplied = ""
        if change.action is Action.UNCHANGED:
            await self._settle(capability, actor)
            return change
        ruling, held = change.ruling, capability.held
        assert ruling is not None  # whatever may go into service was ruled on
        if held is not None and held.digest == change.verdict.terms and ruling.held and capability.hold is None:
            held.ruling = ruling  # it waits already; the policy may have changed what for
            return change.waiting(ruling)
        await self.before(capability, change.verdict)
        begins = await self._beginnings.of(capability, change.verdict)
        ended = await self._publisher.bring_up(capability, change.verdict, ruling, actor, slot)
        change = replace(change, tried=ended.tried)
        if ended.rejected is not None:
            return replace(change, action=Action.REJECT, verdict=ended.rejected)
        if ended.held is not None:
            return self._waits(capability, change.waiting(ended.held))
        if ended.name is None:
            return change
        self.accounts.note(change, ended.name.id)
        return replace(change, target=ended.name.id, begins=begins)

    def _waits(self, capability: Capability, change: Change) -> Change:
        if capability.held is not None and capability.held.name is not None:
            self.accounts.note(change, capability.held.name.id)
        return change

    async def _remove(self, capability: Capability, actor: Actor, slot: Slot) -> None:
        """Routing stops first; a version that is just loading is let go of."""
        capability.wanted += 1
        capability.gone, capability.disk_digest = True, ABSENT
        leaves = bool(capability.active or capability.draining)
        gone = self._registry.withdrawal(
            capability, State.UNREGISTERED, actor, "removed", stands=lambda: capability.gone
        )
        if await slot.take_effect(gone):
            async with capability.turn:
                self._registry.forget(capability, actor, leaves=leaves)

    async def _settle(self, capability: Capability, actor: Actor) -> None:
        """The disk holds what serves: whatever was on its way in, refused, or tried out beside it, is history."""
        capability.wanted += 1
        async with capability.turn:
            canary, wanted = capability.canary, capability.candidate
            if canary is not None and wanted is not None and canary.candidate.terms != wanted.terms:
                self._registry.end_canary(capability, actor, SUPERSEDED)
            self._registry.attempts.forget(capability, actor)

    async def _refuse(self, capability: Capability, rejection: Rejection, policy: Policy, actor: Actor) -> None:
        capability.wanted += 1
        async with capability.turn:
            was = capability.state
            self._registry.attempts.begin(capability, actor, rejection.digest)
            if _denied(capability, rejection, policy) and was in (State.ACTIVE, State.DRAINING, State.DISABLED):
                self._registry.deny(capability, rejection, actor)
            else:
                self._registry.attempts.refuse(capability, rejection, actor)


def _denied(capability: Capability, rejection: Rejection, policy: Policy) -> bool:
    """What serves keeps its names and its kind, whatever the file on disk says by now."""
    active = capability.active
    return policy.denies(capability.id, active.manifest if active is not None else rejection.manifest)


async def _nothing(capability: Capability, candidate: Candidate) -> None:
    """Nothing has to happen first."""
