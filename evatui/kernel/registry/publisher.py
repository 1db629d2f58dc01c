"""The way of one version to service: loaded in the shadow, asked for its health, tried, and then entered."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace

from evatui.kernel.admission.policy import Policy
from evatui.kernel.admission.verdict import Candidate, Rejection
from evatui.kernel.lua.engine import LoadedProgram
from evatui.kernel.model.call import Actor
from evatui.kernel.model.clock import Clock
from evatui.kernel.model.diagnostic import Reason
from evatui.kernel.model.errors import ErrorKind, failure
from evatui.kernel.model.lifecycle import State
from evatui.kernel.registry.capability import Capability
from evatui.kernel.registry.entering import Entering
from evatui.kernel.registry.examples import Examples, Tried
from evatui.kernel.registry.gate import Gate
from evatui.kernel.registry.generation import GenerationId
from evatui.kernel.registry.order import Ended, Order
from evatui.kernel.registry.registry import SUPERSEDED, Registry
from evatui.kernel.registry.ruling import Ruling
from evatui.kernel.registry.shadow import Shadow, broken
from evatui.kernel.registry.together import Slot, alone
from evatui.kernel.storage.database import StorageError
from evatui.kernel.storage.history import History

__all__ = ["Publisher"]


@dataclass(frozen=True, slots=True)
class _Coming:
    """A version on its way in; ``ticket`` is the capability's ``wanted`` as long as nothing overtook it."""

    digest: str
    ticket: int
    task: asyncio.Task[Ended]


class Publisher:
    """At most ``max_live`` generations of a capability hold Lua states: further ones wait."""

    def __init__(
        self,
        registry: Registry,
        shadow: Shadow,
        gate: Gate,
        history: History,
        examples: Examples,
        entering: Entering,
        clock: Clock,
        max_live: int,
    ) -> None:
        self._registry = registry
        self._shadow = shadow
        self._gate = gate
        self._history = history
        self._examples = examples
        self._entering = entering
        self._clock = clock
        self._max_live = max_live
        self._coming: dict[str, _Coming] = {}

    async def bring_up(
        self, capability: Capability, candidate: Candidate, ruling: Ruling, actor: Actor, slot: Slot
    ) -> Ended:
        """Serves what the disk holds: shadow load, health, the gate's ruling, publish; only the latest version wanted.

        The same bytes that are on their way already are not loaded twice: without that, a busy disk could overtake
        every load for ever.
        """
        coming = self._coming.get(capability.id)
        if coming is None or (coming.digest, coming.ticket) != (candidate.terms, capability.wanted):
            capability.wanted += 1
            order = Order(capability, candidate, ruling, actor, capability.wanted, False, slot)
            task = asyncio.get_running_loop().create_task(self._bring_up(order))
            coming = self._coming[capability.id] = _Coming(candidate.terms, capability.wanted, task)
        try:
            return await asyncio.shield(coming.task)
        finally:
            if coming.task.done() and self._coming.get(capability.id) is coming:
                del self._coming[capability.id]

    async def bring_back(
        self,
        capability: Capability,
        candidate: Candidate,
        policy: Policy,
        actor: Actor,
        *,
        fresh: bool,
        own_state: bool,
        instead_of: str | None,
    ) -> Ended:
        """Serves an earlier version, as a new generation where ``fresh``. What the disk holds does not overtake it, but
        comes before it where it is to serve ``instead_of`` a certain generation.

        It served before, so what it may do was somebody's decision already: it waits for no other. But trust that
        was revoked is not given back by the way: raises `CallFailed` ``PolicyDenied`` where it is missing.
        """
        ruling = await asyncio.to_thread(self._gate.rule, candidate, policy, ())
        if ruling.untrusted:
            message = f"the workspace is not trusted with what that version of {capability.id} may do: eva trust"
            raise failure(ErrorKind.POLICY_DENIED, message)
        capability.wanted += 1
        slot = alone(self._registry.commit)
        order = Order(capability, candidate, ruling, actor, None, fresh, slot, own_state, instead_of)
        return await self._bring_up(order)

    def brings(self, capability: Capability) -> bool:
        """Is a version of it on its way in?"""
        return capability.id in self._coming

    async def _bring_up(self, order: Order) -> Ended:
        capability, candidate = order.capability, order.candidate
        async with capability.turn:
            while capability.live >= self._max_live and order.stands:
                if not capability.draining:  # the place that is needed is the canary's
                    self._registry.end_canary(capability, order.actor, SUPERSEDED)
                capability.room.clear()
                await capability.room.wait()
            serving = [generation.candidate for generation in capability.serving]
            same = candidate.terms in [one.terms for one in serving]
            known = not order.by_hand and (same or candidate.digest in capability.quarantined)
            # Two generations may be of the same bytes, where the policy changed: each has a name of its own.
            order = replace(order, fresh=order.fresh or candidate.digest in [one.digest for one in serving])
            if known or not order.stands:
                return Ended()
            try:
                return await self._brought_up(order)
            except Exception as error:
                self._registry.attempts.refuse(capability, broken(candidate, error), order.actor)
                capability.again = isinstance(error, StorageError)
                raise

    async def _brought_up(self, order: Order) -> Ended:
        capability, attempts = order.capability, self._registry.attempts
        rests = not order.candidate.manifest.enabled or (not order.by_hand and capability.hold is not None)
        attempts.begin(capability, order.actor, order.candidate.digest, resumes="" if rests else order.candidate.terms)
        if rests:
            await self._rest(order)
            return Ended()
        loaded = await self._shadow.load(order.candidate)
        if isinstance(loaded, Rejection):
            attempts.refuse(capability, loaded, order.actor)
            return Ended(rejected=loaded)
        ended = Ended()
        try:
            ended = await self._tested(order, loaded)
            return ended
        finally:
            if ended.name is None:
                loaded.close()

    async def _rest(self, order: Order) -> None:
        """Rests together with the end of what serves; overtaken, the next look finds it as new as before."""
        capability, actor, attempts = order.capability, order.actor, self._registry.attempts
        reason = capability.hold or Reason.DISABLED_BY_MANIFEST.value
        leaves = self._registry.withdrawal(capability, State.UNREGISTERED, actor, reason, stands=lambda: order.stands)

        def rests() -> None:
            attempts.park(capability, order.candidate, actor, reason)
            leaves.follow()

        if not await order.slot.take_effect(replace(leaves, follow=rests)):
            attempts.park(capability, order.candidate, actor, reason)
            if capability.active is not None:
                self._registry.edges.drop_parked(capability, actor)
                capability.parked_digest = ""

    async def _tested(self, order: Order, loaded: LoadedProgram) -> Ended:
        capability, candidate, attempts = order.capability, order.candidate, self._registry.attempts
        name = await self._name(order)
        attempts.shadow_loaded(capability, name, order.actor)
        unhealthy = await self._shadow.health(candidate, loaded, name.id, loaded.load_s)
        if unhealthy is not None:
            attempts.refuse(capability, unhealthy, order.actor)
            return Ended(rejected=unhealthy)
        tried = await self._tried(order, loaded)
        refusal = tried.refusal(candidate)
        if refusal is not None:
            attempts.refuse(capability, refusal, order.actor)
            return Ended(rejected=refusal, tried=tried)
        return replace(await self._entering.enter(order, loaded, name), tried=tried)

    async def _tried(self, order: Order, loaded: LoadedProgram) -> Tried:
        """A version that served in an earlier run, or comes back, has shown what it does."""
        capability, digest = order.capability, order.candidate.digest
        served = self._gate.starting and any(kept.digest == digest for kept in capability.kept)
        if order.by_hand or served:
            return Tried()
        return await self._examples.tried(order.candidate, loaded, capability.active)

    async def _name(self, order: Order) -> GenerationId:
        record = await asyncio.to_thread(
            self._history.record_generation,
            order.capability.id,
            order.candidate.manifest.version,
            order.candidate.snapshot.digest,
            self._clock.now(),
            fresh=order.fresh,
        )
        return GenerationId(record.generation_id, record.number)

    async def close(self) -> None:
        """Ends what is loading; nothing of it has been published."""
        tasks = [coming.task for coming in self._coming.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
