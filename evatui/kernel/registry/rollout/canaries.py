"""The canaries of a runtime: they start, are watched, and end, by themselves or by order. On the kernel's loop only."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any, Final

from evatui.kernel.admission.policy import Policy
from evatui.kernel.admission.verdict import Candidate
from evatui.kernel.lua.engine import LoadedProgram
from evatui.kernel.model.call import KERNEL, Actor
from evatui.kernel.model.clock import Clock
from evatui.kernel.model.errors import CallFailed, ErrorKind, failure
from evatui.kernel.model.lifecycle import State
from evatui.kernel.records.codes import Outcome
from evatui.kernel.registry.capability import Capability
from evatui.kernel.registry.gate import Gate
from evatui.kernel.registry.generation import Generation, GenerationId
from evatui.kernel.registry.keeping import Keeping
from evatui.kernel.registry.move import Move
from evatui.kernel.registry.registry import SUPERSEDED, Registry
from evatui.kernel.registry.rollout.cohort import told
from evatui.kernel.registry.rollout.probation import Probations
from evatui.kernel.registry.rollout.rollout import Decision, Rollout
from evatui.kernel.registry.rollout.tally import Sample
from evatui.kernel.registry.rollout.telling import tell_canary
from evatui.kernel.registry.rollout.trial import trial_of

__all__ = ["Canaries"]

_AT_LEAST_S: Final = 0.05
"""Between two looks at a deadline that a clock in the hands of somebody else does not reach."""


class Canaries:
    """``policy`` gives the one in force. Deadlines are on the monotonic clock: the wall clock may jump."""

    def __init__(
        self,
        registry: Registry,
        keeping: Keeping,
        gate: Gate,
        probations: Probations,
        policy: Callable[[], Policy | None],
        clock: Clock,
    ) -> None:
        self._registry = registry
        self._keeping = keeping
        self._gate = gate
        self._probations = probations
        self._policy = policy
        self._clock = clock
        self.frozen = False
        """None is promoted by itself, and no deadline passes."""
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def wanted(self, capability: Capability, candidate: Candidate) -> bool:
        """Is it to be tried out first? With another state schema it cannot: the two would not share their state."""
        active = capability.active
        if candidate.manifest.reload.canary is None or active is None:
            return False
        return active.manifest.state_schema == candidate.manifest.state_schema

    def coming(
        self,
        capability: Capability,
        candidate: Candidate,
        program: LoadedProgram,
        name: GenerationId,
        actor: Actor,
        stands: Callable[[], bool],
    ) -> Move:
        """It takes its part of the calls; a canary before it drains."""
        generation = Generation(name, candidate, program, State.ACTIVE, self._registry.journal.at())
        return Move(
            partial(self._started, capability, generation, actor),
            canaries={capability.id: generation},
            stands=lambda: stands() and capability.active is not None,
        )

    def _started(self, capability: Capability, generation: Generation, actor: Actor) -> None:
        registry, serving, reload = self._registry, capability.active, generation.manifest.reload
        assert serving is not None  # or it would not have stood
        assert reload.canary is not None  # as `wanted` said
        registry.leaving.canary(capability, actor, SUPERSEDED)
        generation.since = registry.journal.at()
        capability.rollout = Rollout(
            generation, reload.canary, reload.analysis, generation.since, self._clock.monotonic()
        )
        registry.enter(capability, generation, actor, serving)
        tell_canary(registry.journal, "started", capability, generation, serving, actor, told(reload.canary))
        self._arm(capability)

    # -- by themselves ----------------------------------------------------------------------

    def observe(self, capability: Capability, generation: Generation, sample: Sample) -> None:
        """A call has ended, on one of the two versions."""
        rollout = capability.rollout
        if rollout is not None and generation in capability.serving:
            rollout.add(generation, sample, self._clock.monotonic())
            self.look(capability)

    def look(self, capability: Capability) -> None:
        """Does what is due: after every call, and when the deadline passes."""
        rollout = capability.rollout
        if rollout is None:
            return
        now = self._clock.monotonic()
        decision = rollout.decide(now)
        if decision is Decision.ABORT:
            why = rollout.why(now)
            self._take_back(capability, rollout, KERNEL, why)
            self._spawn(self._forgotten(capability, rollout, KERNEL))
        elif self.frozen:
            return
        elif decision is Decision.HOLD or (decision is Decision.PROMOTE and _refused_by_now(capability, rollout)):
            rollout.hold()
            self._tell("held", capability, rollout, KERNEL, rollout.why(now), Outcome.DENIED)
        elif decision is Decision.PROMOTE:
            rollout.ending = True  # no other call decides it again
            self._spawn(self._promote(capability, rollout, KERNEL, rollout.why(now)))

    def look_at_all(self) -> None:
        """Does what has become due while it was frozen."""
        for capability in self._registry.capabilities.values():
            self.look(capability)
            self._arm(capability)

    def _due(self, capability_id: str) -> None:
        del self._timers[capability_id]
        capability = self._registry.capabilities[capability_id]
        self.look(capability)
        self._arm(capability)

    def _arm(self, capability: Capability) -> None:
        """Looks again when the deadline passes; a timer names the capability only, and so keeps nothing alive."""
        timer = self._timers.pop(capability.id, None)
        if timer is not None:
            timer.cancel()
        rollout = capability.rollout
        if rollout is not None and rollout.waits and not self.frozen:
            left = rollout.deadline - self._clock.monotonic()
            loop = asyncio.get_running_loop()
            self._timers[capability.id] = loop.call_later(max(_AT_LEAST_S, left), self._due, capability.id)

    # -- by order ---------------------------------------------------------------------------

    async def promote(self, capability: Capability, actor: Actor) -> GenerationId:
        """The canary takes all calls now; returns what served until then.

        Raises `CallFailed` ``Conflict`` where there is none, or what it is made of would be refused by now.
        """
        rollout = self.rollout_of(capability)
        if _refused_by_now(capability, rollout):
            raise failure(ErrorKind.CONFLICT, f"{rollout.generation.name.short} would be refused by now: see the disk")
        before = capability.active
        assert before is not None  # there is a canary
        await self._promote(capability, rollout, actor, "promoted")
        return before.name

    async def abort(self, capability: Capability, actor: Actor) -> GenerationId:
        """All calls go to what served before, and the canary is quarantined; returns its name."""
        rollout = self.rollout_of(capability)
        self._take_back(capability, rollout, actor, "aborted")
        await self._forgotten(capability, rollout, actor)
        return rollout.generation.name

    def pause(self, capability: Capability, actor: Actor) -> GenerationId:
        """Its deadline stands still and it is not promoted by itself; one that fails is taken back all the same."""
        rollout = self.rollout_of(capability)
        if not rollout.waits:
            raise failure(ErrorKind.CONFLICT, f"the canary of {capability.id} is {rollout.phase} already")
        rollout.pause(self._clock.monotonic())
        self._arm(capability)
        self._tell("paused", capability, rollout, actor, "paused")
        return rollout.generation.name

    def resume(self, capability: Capability, actor: Actor) -> GenerationId:
        rollout = self.rollout_of(capability)
        if rollout.waits:
            raise failure(ErrorKind.CONFLICT, f"the canary of {capability.id} is running already")
        rollout.resume(self._clock.monotonic())
        self._tell("resumed", capability, rollout, actor, "resumed")
        self.look(capability)
        self._arm(capability)
        return rollout.generation.name

    def rollout_of(self, capability: Capability) -> Rollout:
        """Raises `CallFailed` ``Conflict`` where nothing is tried out."""
        if capability.rollout is None:
            raise failure(ErrorKind.CONFLICT, f"{capability.id} has no canary")
        return capability.rollout

    # -- both -------------------------------------------------------------------------------

    async def _promote(self, capability: Capability, rollout: Rollout, actor: Actor, why: str) -> None:
        """Written down first, so that a restart serves it too; then one assignment."""
        generation = rollout.generation
        rollout.ending = True
        try:
            serving = await asyncio.to_thread(self._keep, generation)
        finally:
            rollout.ending = False
        old, policy = capability.active, self._policy()
        if capability.rollout is not rollout or old is None or policy is None:
            await asyncio.to_thread(self._keeping.withdraw, serving)
            raise failure(ErrorKind.CONFLICT, f"{generation.name.short} is not the canary of {capability.id} any more")
        registry, now = self._registry, self._clock.monotonic()
        registry.table = registry.table.with_active(generation)
        capability.active, capability.rollout = generation, None
        capability.trial = trial_of(generation.manifest, policy.settings["rollback"], now)
        capability.limiter.resize(generation.manifest.limits.concurrency)
        capability.since = generation.since = registry.journal.at()
        capability.keep(generation)
        tell_canary(registry.journal, "promoted", capability, generation, old, actor, why)
        registry.leaving.drain(capability, old, State.UNREGISTERED, actor, successor=generation)

    def _keep(self, generation: Generation) -> int:
        """Blocking. From now on it is new to everybody; what is returned is for `Keeping.withdraw`."""
        serving = self._keeping.keep(generation.candidate, generation.name)
        policy, manifest = self._policy(), generation.manifest
        if policy is not None and manifest.reload.rollback_on_failure:
            window_s = policy.settings["rollback"]["window_s"]
            self._probations.enters(manifest.id, generation.digest, generation.name.number, window_s, new=True)
        return serving

    def _take_back(self, capability: Capability, rollout: Rollout, actor: Actor, why: str) -> None:
        """Off it at once, and before any look at the disk it is in quarantine."""
        capability.quarantined = {*capability.quarantined, rollout.generation.digest}
        self._registry.end_canary(capability, actor, why)

    async def _forgotten(self, capability: Capability, rollout: Rollout, actor: Actor) -> None:
        """Writes down that it was taken back; what it asked for is not what the next one is measured by."""
        generation, stays, policy = rollout.generation, capability.active, self._policy()
        await self._keeping.condemn(capability, generation.digest, generation.name, actor)
        if stays is not None and policy is not None:
            await asyncio.to_thread(self._gate.serves, stays.candidate, policy, stays.name, in_place=True)

    def _tell(
        self,
        what: str,
        capability: Capability,
        rollout: Rollout,
        actor: Actor,
        why: str,
        outcome: Outcome = Outcome.OK,
    ) -> None:
        journal, active = self._registry.journal, capability.active
        tell_canary(journal, what, capability, rollout.generation, active, actor, why, outcome)
        self._registry.on_change()

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        failed = None if task.cancelled() else task.exception()
        if failed is not None and not isinstance(failed, CallFailed):  # something else came first: that is no defect
            self._registry.journal.defect("canary", failed)

    async def close(self) -> None:
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()
        await asyncio.gather(*self._tasks, return_exceptions=True)


def _refused_by_now(capability: Capability, rollout: Rollout) -> bool:
    """Does the policy, or a second file with its id, refuse by now what it is made of?"""
    return capability.rejection is not None and capability.rejection.digest == rollout.generation.digest
