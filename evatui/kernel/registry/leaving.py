"""How a generation leaves: no new calls, time for the running ones, then its states are freed, and it is told."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Any
from weakref import WeakKeyDictionary

from evatui.kernel.model.call import Actor
from evatui.kernel.model.clock import Clock
from evatui.kernel.model.errors import ErrorKind
from evatui.kernel.model.lifecycle import State
from evatui.kernel.records.codes import Code, Outcome
from evatui.kernel.registry.capability import Attempt, Capability, Past
from evatui.kernel.registry.cut import MOST_NAMED, Cut, Drained
from evatui.kernel.registry.edges import Edges
from evatui.kernel.registry.generation import Generation, may_call
from evatui.kernel.registry.journal import Journal
from evatui.kernel.registry.rollout.telling import tell_canary

__all__ = ["Leaving"]


class Leaving:
    """For generations that the table no longer has."""

    def __init__(self, edges: Edges, journal: Journal, clock: Clock) -> None:
        self._edges = edges
        self._journal = journal
        self._clock = clock
        self._tasks: set[asyncio.Task[Any]] = set()
        self._leaves: WeakKeyDictionary[Generation, asyncio.Task[Drained]] = WeakKeyDictionary()
        self.cut = 0
        """How many calls were cut so far."""
        self.calls: Callable[[Generation], Sequence[Cut]] = lambda generation: ()
        """The calls that run on a generation now."""

    def drain(
        self,
        capability: Capability,
        generation: Generation,
        end: State,
        actor: Actor,
        *,
        successor: Generation | None = None,
        reason: str = "",
        timeout_ms: int | None = None,
        beside: bool = False,
    ) -> asyncio.Task[Drained]:
        """Its calls end or are cut at the deadline; the task's result says which were cut.

        ``successor`` took its place; ``beside``: it was a canary, whose end is not that of its capability.
        """
        self._edges.move_generation(capability, generation, State.DRAINING, actor, reason)
        capability.draining.append(generation)
        seconds = (generation.manifest.reload.drain_timeout_ms if timeout_ms is None else timeout_ms) / 1000
        generation.drain_deadline = self._clock.monotonic() + seconds
        self._journal.tell(
            "draining", capability.id, State.DRAINING, generation=generation.name.id, reason=reason or None, actor=actor
        )
        published = (successor.name.id, successor.since) if successor else None
        leaves = self._spawn(self._drained(capability, generation, end, actor, seconds, published, reason, beside))
        self._leaves[generation] = leaves
        return leaves

    def hurry(self, capability: Capability) -> list[asyncio.Task[Drained]]:
        """Ends the time of all that drains of it: what still runs is cut at once."""
        for generation in capability.draining:
            generation.inside.hurry()
        return [self._leaves[generation] for generation in capability.draining]

    def canary(self, capability: Capability, actor: Actor, why: str, timeout_ms: int | None = None) -> None:
        """The canary that there may be drains, and that it ends is told."""
        if capability.rollout is None:
            return
        generation, capability.rollout = capability.rollout.generation, None
        tell_canary(self._journal, "aborted", capability, generation, capability.active, actor, why)
        self.drain(capability, generation, State.UNREGISTERED, actor, reason=why, timeout_ms=timeout_ms, beside=True)

    async def _drained(
        self,
        capability: Capability,
        generation: Generation,
        end: State,
        actor: Actor,
        seconds: float,
        published: tuple[str, str] | None,
        reason: str,
        beside: bool,
    ) -> Drained:
        drained = Drained()
        if not await generation.inside.empty(seconds):
            who = tuple(self.calls(generation)[:MOST_NAMED])
            drained = Drained(generation.program.kill(ErrorKind.CANCELLED), who)
            self.cut += drained.cut
            await generation.inside.empty()
        while capability.gone and (callers := self._callers(generation)):
            await callers[0].inside.empty()
        await generation.inside.empty()
        generation.program.close()
        self._edges.move_generation(capability, generation, end, actor, reason)
        capability.draining.remove(generation)
        capability.past.append(
            Past(generation.name, generation.manifest.version, generation.digest, self._journal.at())
        )
        capability.room.set()
        if end is State.DISABLED:
            self._edges.drop_parked(capability, actor)
            capability.parked = Attempt(State.DISABLED, self._journal.at(), generation.name)
            capability.parked_digest = generation.digest
            capability.since = self._journal.at()
        self._tell_ended(capability, generation.name.id, actor, drained, published, beside)
        return drained

    def _callers(self, generation: Generation) -> list[Generation]:
        """What drains too, and has calls that may still come to this one: what left together is not torn apart."""
        leaving = [one for one, task in self._leaves.items() if one is not generation and not task.done()]
        found, reached = [generation], 0
        while reached < len(found):
            called = found[reached]
            found += [one for one in leaving if one not in found and may_call(one, called)]
            reached += 1
        return [one for one in found[1:] if one.in_flight]

    def _tell_ended(
        self,
        capability: Capability,
        ended: str,
        actor: Actor,
        drained: Drained,
        published: tuple[str, str] | None,
        beside: bool,
    ) -> None:
        self._journal.write(
            Code.CAPABILITY_DRAINED,
            Outcome.ERROR if drained.cut else Outcome.OK,
            actor,
            capability_id=capability.id,
            generation=ended,
            **drained.to_json(),
        )
        if published is not None:
            self._journal.tell(
                "reloaded",
                capability.id,
                capability.state,
                generation=published[0],
                from_generation=ended,
                actor=actor,
                published_at=published[1],
                **drained.to_json(),
            )
        elif capability.gone and not beside:
            self.unregistered(capability, ended, actor)

    def unregistered(self, capability: Capability, ended: str | None, actor: Actor) -> None:
        capability.since = self._journal.at()
        self._journal.tell("unregistered", capability.id, State.UNREGISTERED, generation=ended, actor=actor)
        self._journal.write(
            Code.CAPABILITY_UNREGISTERED, Outcome.OK, actor, capability_id=capability.id, generation=ended
        )

    async def ended(self) -> None:
        """Waits for all that drains."""
        while self._tasks:
            await asyncio.gather(*self._tasks, return_exceptions=True)

    def _spawn(self, work: Coroutine[Any, Any, Drained]) -> asyncio.Task[Drained]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task
