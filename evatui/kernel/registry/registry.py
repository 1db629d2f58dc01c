"""The registry: what serves, what drains, what was refused, and every edge between.

Used on the kernel's loop only. Publishing is one assignment of `Registry.table`; whatever fails
before it leaves the old table object in place.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final

from evatui.kernel.admission.verdict import Candidate, Rejection
from evatui.kernel.lua.engine import LoadedProgram
from evatui.kernel.model.adapter import Adapter
from evatui.kernel.model.call import KERNEL, Actor, CallRequest
from evatui.kernel.model.clock import Clock
from evatui.kernel.model.diagnostic import Reason
from evatui.kernel.model.errors import CallFailed, ErrorKind, failure
from evatui.kernel.model.lifecycle import State
from evatui.kernel.records.codes import Code, Outcome
from evatui.kernel.registry.attempts import Attempts
from evatui.kernel.registry.capability import Capability, Remembered
from evatui.kernel.registry.cut import Drained
from evatui.kernel.registry.departures import departures
from evatui.kernel.registry.edges import Edges
from evatui.kernel.registry.generation import Generation, GenerationId
from evatui.kernel.registry.journal import Journal
from evatui.kernel.registry.leaving import Leaving
from evatui.kernel.registry.limiter import Limiter
from evatui.kernel.registry.move import Move
from evatui.kernel.registry.refusals import Refusals
from evatui.kernel.registry.rollout.trial import Trial
from evatui.kernel.registry.router import absent, answers, route
from evatui.kernel.registry.table import EMPTY_TABLE, Table
from evatui.kernel.registry.trail import Trail

__all__ = ["SUPERSEDED", "Registry"]

SUPERSEDED: Final = "superseded"
"""Why a canary ends that nobody found fault with: another version came in its place."""


class Registry:
    def __init__(self, journal: Journal, refusals: Refusals, clock: Clock) -> None:
        self.table: Table = EMPTY_TABLE
        self.capabilities: dict[str, Capability] = {}
        self.strays: dict[str, tuple[Rejection, str]] = {}
        """Refused files that speak for no capability, by path, with the time of the refusal."""
        self.remembered: Mapping[str, Remembered] = {}
        self.adapters: tuple[Adapter, ...] = ()
        """Providers that are no capabilities: sound manifests, whether or not they serve."""
        self.why_not: Callable[[Adapter, str], CallFailed] = _not_served
        """Why an adapter that is to provide a name does not."""
        self.trail = Trail()
        self.journal = journal
        self.refusals = refusals
        self.on_change: Callable[[], None] = lambda: None
        """Called whenever an edge was taken or a refusal came or went; must be cheap."""
        self._clock = clock
        self.edges = Edges(self.trail, journal, lambda: self.on_change())
        self.attempts = Attempts(self.edges, journal, refusals, lambda: self.on_change())
        self.leaving = Leaving(self.edges, journal, clock)

    def answering(self, request: CallRequest) -> Generation | None:
        """Who answers by now: who serves, before its canary, or else who was deleted and drains, for a call of one that
        was in flight then."""
        found = route(self.table, request)
        if found is not None:
            return self.table.active[found]
        gone = (c for c in self.capabilities.values() if c.gone and c.draining) if request.ancestors else ()
        return next((one for capability in gone for one in capability.draining if answers(one, request)), None)

    def absent(self, request: CallRequest) -> CallFailed:
        """Why nothing answers."""
        return absent(self.capabilities.values(), self.adapters, request, self.why_not)

    def runs(self, capability_id: str, digest: str) -> bool:
        """Does the version with this digest serve, or end what it began?"""
        found = self.capabilities.get(capability_id)
        return found is not None and any(one.digest == digest for one in found.generations)

    def capability(self, capability_id: str, path: str) -> Capability:
        """The record of an id, made at first sight; a deleted one that comes back starts anew."""
        found = self.capabilities.get(capability_id)
        if found is None:
            limiter = Limiter(capability_id, 1, self._clock)
            known = self.remembered.get(capability_id, Remembered())
            found = Capability(
                capability_id,
                limiter,
                path,
                self.journal.at(),
                hold=known.hold,
                kept=known.kept,
                pinned=known.pinned,
                quarantined=set(known.quarantined),
                deadly=known.deadly,
            )
            self.capabilities[capability_id] = found
        found.path = path
        found.gone = False
        return found

    def deny(self, capability: Capability, rejection: Rejection, actor: Actor) -> None:
        """The policy refuses the id itself: what serves drains, and the capability rests in Disabled."""
        capability.denied = True
        self.attempts.rest(capability, rejection.digest, actor, Reason.POLICY_DENIED.value)
        self.withdraw(capability, State.DISABLED, actor, Reason.POLICY_DENIED.value)
        self.attempts.tell_refused(capability, rejection, State.DISABLED, actor)

    def found(self, capability: Capability, generation: Generation, ailment: Rejection | None) -> None:
        """What serves was asked for its health: unwell, it comes last among the providers of its names."""
        changed = (ailment is None) is not (generation.ailment is None)
        generation.ailment = ailment
        if not changed:
            return
        self.table = self.table.sorted_anew(capability.id)
        self.journal.tell(
            "health_changed",
            capability.id,
            capability.state,
            generation=generation.name.id,
            reason=Reason.HEALTH_FAILED.value if ailment else None,
            diagnostics=ailment.diagnostics if ailment else (),
        )
        self.journal.write(
            Code.CAPABILITY_UNWELL if ailment else Code.CAPABILITY_WELL,
            Outcome.ERROR if ailment else Outcome.OK,
            KERNEL,
            capability_id=capability.id,
            generation=generation.name.id,
        )
        self.on_change()

    # -- the one switch ---------------------------------------------------------------------

    def commit(self, moves: Sequence[Move]) -> tuple[bool, ...]:
        """One assignment of one immutable table, with all of ``moves`` that still stand; says which did.

        Raises with the old table in place, and then nothing has changed. What follows the assignment cannot take it
        back: what goes wrong there is told as a defect.
        """
        stand = tuple(move.stands() for move in moves)
        taking = [move for move, stands in zip(moves, stand, strict=True) if stands]
        if taking:
            active = {key: new for move in taking for key, new in move.active.items()}
            canaries = {key: new for move in taking for key, new in move.canaries.items()}
            self.table = self.table.changed(active, canaries)
        for move in taking:
            try:
                move.context.run(move.follow)
            except Exception as error:
                self.journal.defect("publish", error)
        return stand

    def publication(
        self,
        capability: Capability,
        candidate: Candidate,
        program: LoadedProgram,
        name: GenerationId,
        actor: Actor,
        trial: Trial | None,
        stands: Callable[[], bool],
    ) -> Move:
        """New serves, old drains, and so does a canary beside it."""
        generation = Generation(name, candidate, program, State.ACTIVE, self.journal.at())
        follow = partial(self._published, capability, generation, trial, actor)
        return Move(follow, {capability.id: generation}, {capability.id: None}, stands)

    def _published(self, capability: Capability, generation: Generation, trial: Trial | None, actor: Actor) -> None:
        old = capability.active
        capability.active, capability.trial = generation, trial
        capability.limiter.resize(generation.manifest.limits.concurrency)
        capability.since = generation.since = self.journal.at()
        capability.keep(generation)
        self.enter(capability, generation, actor, old)
        self.leaving.canary(capability, actor, SUPERSEDED)
        if old is not None:
            self.leaving.drain(capability, old, State.UNREGISTERED, actor, successor=generation)

    def enter(self, capability: Capability, generation: Generation, actor: Actor, old: Generation | None) -> None:
        """It serves: its attempt is over, and nothing rests or is refused beside it."""
        capability.rejection = None
        capability.denied = False
        if capability.attempt is not None:
            self.edges.move(capability, capability.attempt, State.ACTIVE, actor)
            capability.attempt = None
        self.edges.drop_parked(capability, actor)
        self.journal.tell(
            "loaded",
            capability.id,
            State.ACTIVE,
            generation=generation.name.id,
            from_generation=old.name.id if old else None,
            actor=actor,
        )
        self.journal.write(
            Code.CAPABILITY_PUBLISHED,
            Outcome.OK,
            actor,
            capability_id=capability.id,
            generation=generation.name.id,
            script_digest=generation.candidate.script_digest,
            manifest_digest=generation.candidate.snapshot.manifest.digest,
        )

    # -- leaving ----------------------------------------------------------------------------

    def withdraw(
        self, capability: Capability, end: State, actor: Actor, reason: str, timeout_ms: int | None = None
    ) -> asyncio.Task[Drained] | None:
        """No new calls at once; the running ones end or are cut at the deadline. A canary goes with it.

        The task's result says which calls were cut; None where nothing served.
        """
        self.table = self.table.without(capability.id)
        return self._leave(capability, end, actor, reason, timeout_ms)

    def withdrawal(
        self, capability: Capability, end: State, actor: Actor, reason: str, stands: Callable[[], bool]
    ) -> Move:
        """The same, as one of the changes that take effect together."""
        follow = partial(self._leave, capability, end, actor, reason)
        return Move(follow, {capability.id: None}, {capability.id: None}, stands)

    def _leave(
        self, capability: Capability, end: State, actor: Actor, reason: str, timeout_ms: int | None = None
    ) -> asyncio.Task[Drained] | None:
        old, capability.active = capability.active, None
        if old is None:
            return None
        self.leaving.canary(capability, actor, reason, timeout_ms)
        return self.leaving.drain(capability, old, end, actor, reason=reason, timeout_ms=timeout_ms)

    def end_canary(self, capability: Capability, actor: Actor, why: str) -> None:
        """What serves beside it takes all calls, from now on."""
        self.table = self.table.changed({}, {capability.id: None})
        self.leaving.canary(capability, actor, why)

    def forget(self, capability: Capability, actor: Actor, *, leaves: bool) -> None:
        """Lets go of what does not serve; where nothing ``leaves``, whose end would tell of it, it is unregistered."""
        self.attempts.forget(capability, actor)
        self.edges.drop_parked(capability, actor)
        if not leaves:
            self.leaving.unregistered(capability, None, actor)

    async def close(self, timeout_ms: int) -> int:
        """Drains everything within ``timeout_ms`` and returns the number of calls cut.

        Whoever calls others leaves before them, so that calls which run find what they call.
        """
        until, before = self._clock.monotonic() + timeout_ms / 1000, self.leaving.cut
        for group in departures(self.table):
            left = max(0, round((until - self._clock.monotonic()) * 1000))
            gone = (
                self.withdraw(self.capabilities[key], State.UNREGISTERED, KERNEL, "runtime stops", left)
                for key in group
            )
            await asyncio.gather(*(task for task in list(gone) if task is not None))
        await self.leaving.ended()
        return self.leaving.cut - before

    def cut(self) -> int:
        """Ends every call in flight now: an operator who does not want to wait any longer."""
        generations = (g for capability in self.capabilities.values() for g in capability.generations)
        return sum(generation.program.kill(ErrorKind.CANCELLED) for generation in generations)


def _not_served(adapter: Adapter, name: str) -> CallFailed:
    return failure(ErrorKind.NOT_FOUND, f"{adapter.id} provides {name}, and does not serve", reason="never_served")
