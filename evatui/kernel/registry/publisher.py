"""The way of one version to service: loaded in the shadow, asked for its health, published."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from evatui.kernel.admission.policy import Policy
from evatui.kernel.admission.verdict import Candidate, Rejection
from evatui.kernel.lua.engine import LoadedProgram
from evatui.kernel.model.call import Actor
from evatui.kernel.model.clock import Clock
from evatui.kernel.model.diagnostic import Reason
from evatui.kernel.model.errors import ErrorKind, failure
from evatui.kernel.model.lifecycle import State
from evatui.kernel.registry.capability import Capability
from evatui.kernel.registry.examples import Examples, Tried
from evatui.kernel.registry.gate import Gate
from evatui.kernel.registry.generation import GenerationId
from evatui.kernel.registry.keeping import Keeping
from evatui.kernel.registry.migrations import Migrations
from evatui.kernel.registry.registry import SUPERSEDED, Registry
from evatui.kernel.registry.rollout.canaries import Canaries
from evatui.kernel.registry.rollout.trial import trial_of
from evatui.kernel.registry.ruling import Ruling
from evatui.kernel.registry.shadow import Shadow, broken
from evatui.kernel.storage.database import StorageError
from evatui.kernel.storage.history import ABSENT, History

__all__ = ["Ended", "Publisher"]


@dataclass(frozen=True, slots=True)
class Ended:
    """What became of a version: ``name`` of what serves now, or why it was refused, or what it waits for;
    nothing of it where it is switched off, or where a newer one overtook it."""

    name: GenerationId | None = None
    rejected: Rejection | None = None
    held: Ruling | None = None
    tried: Tried = Tried()


@dataclass(frozen=True, slots=True)
class _Coming:
    """A version on its way in; ``ticket`` is the capability's ``wanted`` as long as nothing overtook it."""

    digest: str
    ticket: int
    task: asyncio.Task[Ended]


@dataclass(frozen=True, slots=True)
class _Entering:
    """A version that has shown that it works; ``ticket`` is None where an operator ordered it."""

    candidate: Candidate
    program: LoadedProgram
    name: GenerationId
    tried: Tried
    ticket: int | None


class Publisher:
    """At most ``max_live`` generations of a capability hold Lua states: further ones wait."""

    def __init__(
        self,
        registry: Registry,
        shadow: Shadow,
        gate: Gate,
        history: History,
        keeping: Keeping,
        examples: Examples,
        canaries: Canaries,
        migrations: Migrations,
        clock: Clock,
        max_live: int,
    ) -> None:
        self._registry = registry
        self._shadow = shadow
        self._gate = gate
        self._history = history
        self._keeping = keeping
        self._examples = examples
        self._canaries = canaries
        self._migrations = migrations
        self._clock = clock
        self._max_live = max_live
        self._coming: dict[str, _Coming] = {}

    async def bring_up(self, capability: Capability, candidate: Candidate, ruling: Ruling, actor: Actor) -> Ended:
        """Serves what the disk holds: shadow load, health, the gate's ruling, publish; only the latest version wanted.

        The same bytes that are on their way already are not loaded twice: without that, a busy disk could overtake
        every load for ever.
        """
        coming = self._coming.get(capability.id)
        if coming is None or (coming.digest, coming.ticket) != (candidate.terms, capability.wanted):
            capability.wanted += 1
            task = asyncio.get_running_loop().create_task(
                self._bring_up(capability, candidate, ruling, actor, capability.wanted)
            )
            coming = self._coming[capability.id] = _Coming(candidate.terms, capability.wanted, task)
        try:
            return await asyncio.shield(coming.task)
        finally:
            if coming.task.done() and self._coming.get(capability.id) is coming:
                del self._coming[capability.id]

    async def bring_back(
        self, capability: Capability, candidate: Candidate, policy: Policy, actor: Actor, *, fresh: bool
    ) -> Ended:
        """Serves an earlier version, as a new generation where ``fresh``. What the disk holds does not overtake it.

        It served before, so what it may do was somebody's decision already: it waits for no other. But trust that
        was revoked is not given back by the way: raises `CallFailed` ``PolicyDenied`` where it is missing.
        """
        ruling = await asyncio.to_thread(self._gate.rule, candidate, policy, {})
        if ruling.untrusted:
            message = f"the workspace is not trusted with what that version of {capability.id} may do: eva trust"
            raise failure(ErrorKind.POLICY_DENIED, message)
        capability.wanted += 1
        return await self._bring_up(capability, candidate, ruling, actor, None, fresh=fresh)

    async def _bring_up(
        self,
        capability: Capability,
        candidate: Candidate,
        ruling: Ruling,
        actor: Actor,
        ticket: int | None,
        *,
        fresh: bool = False,
    ) -> Ended:
        async with capability.turn:
            while capability.live >= self._max_live and not _overtaken(capability, ticket):
                if not capability.draining:  # the place that is needed is the canary's
                    self._registry.end_canary(capability, actor, SUPERSEDED)
                capability.room.clear()
                await capability.room.wait()
            serving = [generation.candidate for generation in capability.serving]
            same = candidate.terms in [one.terms for one in serving]
            known = ticket is not None and (same or candidate.digest in capability.quarantined)
            # Two generations may be of the same bytes, where the policy changed: each has a name of its own.
            fresh = fresh or candidate.digest in [one.digest for one in serving]
            if known or _overtaken(capability, ticket):
                return Ended()
            rests = not candidate.manifest.enabled or (ticket is not None and capability.hold is not None)
            self._registry.attempts.begin(capability, actor, candidate.digest, resumes="" if rests else candidate.terms)
            if rests:
                self._rest(capability, candidate, actor)
                return Ended()
            try:
                return await self._load(capability, candidate, ruling, actor, ticket, fresh)
            except Exception as error:
                self._registry.attempts.refuse(capability, broken(candidate, error), actor)
                capability.again = isinstance(error, StorageError)
                raise

    def _rest(self, capability: Capability, candidate: Candidate, actor: Actor) -> None:
        reason = capability.hold or Reason.DISABLED_BY_MANIFEST.value
        self._registry.attempts.park(capability, candidate, actor, reason)
        self._registry.withdraw(capability, State.UNREGISTERED, actor, reason)

    async def _load(
        self,
        capability: Capability,
        candidate: Candidate,
        ruling: Ruling,
        actor: Actor,
        ticket: int | None,
        fresh: bool,
    ) -> Ended:
        registry = self._registry
        loaded = await self._shadow.load(candidate)
        if isinstance(loaded, Rejection):
            registry.attempts.refuse(capability, loaded, actor)
            return Ended(rejected=loaded)
        ended = Ended()
        try:
            name = await self._name(capability, candidate, fresh=fresh)
            registry.attempts.shadow_loaded(capability, name, actor)
            unhealthy = await self._shadow.health(candidate, loaded, name.id, loaded.load_s)
            if unhealthy is not None:
                registry.attempts.refuse(capability, unhealthy, actor)
                return Ended(rejected=unhealthy)
            tried = await self._tried(capability, candidate, loaded, ticket)
            refusal = tried.refusal(candidate)
            if refusal is not None:
                registry.attempts.refuse(capability, refusal, actor)
                return Ended(rejected=refusal, tried=tried)
            entering = _Entering(candidate, loaded, name, tried, ticket)
            ended = await self._carry(capability, entering, ruling, actor, fresh)
            return ended
        finally:
            if ended.name is None:
                loaded.close()

    async def _carry(
        self, capability: Capability, entering: _Entering, ruling: Ruling, actor: Actor, fresh: bool
    ) -> Ended:
        """Its state first: what waits for a person must not hold up any call for that."""
        candidate, ordered = entering.candidate, entering.ticket is None
        source = await self._migrations.in_force(capability, candidate)
        if source == candidate.manifest.state_schema:
            return await self._switch(capability, entering, ruling, actor, fresh)
        if not ordered:
            now = await asyncio.to_thread(self._gate.rule_again, candidate, ruling)
            if now.held and not _overtaken(capability, entering.ticket):
                self._registry.attempts.hold(capability, candidate, now, actor)
                return Ended(held=now, tried=entering.tried)
        carried = self._migrations.carried(
            capability, candidate, entering.program, entering.name, actor, source=source, ordered=ordered
        )
        async with carried as refusal:
            if refusal is not None:
                self._registry.attempts.refuse(capability, refusal, actor)
                return Ended(rejected=refusal, tried=entering.tried)
            return await self._switch(capability, entering, ruling, actor, fresh)

    async def _switch(
        self, capability: Capability, entering: _Entering, ruling: Ruling, actor: Actor, fresh: bool
    ) -> Ended:
        registry, candidate, ticket = self._registry, entering.candidate, entering.ticket
        if _overtaken(capability, ticket):
            registry.attempts.forget(capability, actor)
            return Ended()
        beside = ticket is not None and self._canaries.wanted(capability, candidate)
        now = await asyncio.to_thread(self._pass, capability, candidate, ruling, entering.name, ticket, fresh, beside)
        if _overtaken(capability, ticket) or (beside and capability.active is None):
            registry.attempts.forget(capability, actor)
            return Ended()
        if now.held and ticket is not None:
            registry.attempts.hold(capability, candidate, now, actor)
            return Ended(held=now, tried=entering.tried)
        if ticket is not None:
            capability.quarantined.discard(ABSENT)
        self._shadow.settle(candidate, entering.program)
        if beside:
            self._canaries.start(capability, candidate, entering.program, entering.name, actor)
            return Ended(entering.name, tried=entering.tried)
        new = ticket is not None and not (capability.kept and capability.kept[0].digest == candidate.digest)
        registry.publish(capability, candidate, entering.program, entering.name, actor)
        settings, began = now.policy.settings["rollback"], self._clock.monotonic()
        capability.trial = trial_of(candidate.manifest, settings, began) if new else None
        return Ended(entering.name, tried=entering.tried)

    async def _tried(
        self, capability: Capability, candidate: Candidate, loaded: LoadedProgram, ticket: int | None
    ) -> Tried:
        """A version that served in an earlier run, or comes back, has shown what it does."""
        served = self._gate.starting and any(kept.digest == candidate.digest for kept in capability.kept)
        if ticket is None or served:
            return Tried()
        return await self._examples.tried(candidate, loaded, capability.active)

    def _pass(
        self,
        capability: Capability,
        candidate: Candidate,
        ruling: Ruling,
        name: GenerationId,
        ticket: int | None,
        fresh: bool,
        beside: bool,
    ) -> Ruling:
        """Blocking. The ruling of now; where it lets the version into service, that is recorded, and it kept, first."""
        now = self._gate.rule_again(candidate, ruling)
        ordered = ticket is None
        if ordered or not now.held:
            self._gate.serves(candidate, now.policy, name, in_place=ordered and not fresh)
            if not beside:
                self._keeping.keep(candidate, name)
        if not ordered and not now.held and ABSENT in capability.quarantined:
            self._history.quarantine(capability.id, [], [ABSENT])
        return now

    async def _name(self, capability: Capability, candidate: Candidate, *, fresh: bool) -> GenerationId:
        record = await asyncio.to_thread(
            self._history.record_generation,
            capability.id,
            candidate.manifest.version,
            candidate.snapshot.digest,
            self._clock.now(),
            fresh=fresh,
        )
        return GenerationId(record.generation_id, record.number)

    async def close(self) -> None:
        """Ends what is loading; nothing of it has been published."""
        tasks = [coming.task for coming in self._coming.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _overtaken(capability: Capability, ticket: int | None) -> bool:
    """Is the version not wanted any more? What an operator ordered (no ticket) is, while the capability is there."""
    return capability.gone or (ticket is not None and ticket != capability.wanted)
