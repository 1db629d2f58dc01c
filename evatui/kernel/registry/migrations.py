"""State across versions: a new schema is reached by hold, drain, migrate; then the version is published."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Final

from evatui.kernel.admission.admit import lua_rejection
from evatui.kernel.admission.verdict import Candidate, Rejection
from evatui.kernel.lua.engine import LoadedProgram
from evatui.kernel.model.call import Actor
from evatui.kernel.model.clock import Clock
from evatui.kernel.model.diagnostic import Reason
from evatui.kernel.model.errors import CallFailed, ErrorKind, failure
from evatui.kernel.model.manifest import Migration
from evatui.kernel.records.codes import Code, Outcome
from evatui.kernel.registry.capability import Capability
from evatui.kernel.registry.generation import GenerationId
from evatui.kernel.registry.journal import Journal
from evatui.kernel.registry.shadow import Shadow
from evatui.kernel.storage.carried_state import CarriedState
from evatui.kernel.storage.history import History
from evatui.kernel.storage.state_store import StateRow, StateStore

__all__ = ["Migrations", "chain"]

_SHOWN: Final = 20
"""Keys that a message names."""


class Migrations:
    """The schema in force is that of what serves, or served last: what lies under others is as old as its version."""

    def __init__(self, shadow: Shadow, state: StateStore, history: History, journal: Journal, clock: Clock) -> None:
        self._shadow = shadow
        self._state = state
        self._history = history
        self._journal = journal
        self._clock = clock

    async def in_force(self, capability: Capability | None, candidate: Candidate) -> int:
        """The schema of the state that the candidate finds."""
        if capability is not None and capability.active is not None:
            return capability.active.manifest.state_schema
        return await asyncio.to_thread(self._recorded, candidate.id, candidate.manifest.state_schema)

    @asynccontextmanager
    async def carried(
        self,
        capability: Capability,
        candidate: Candidate,
        program: LoadedProgram,
        name: GenerationId,
        actor: Actor,
        *,
        source: int,
        ordered: bool,
    ) -> AsyncIterator[Rejection | None]:
        """Inside, the candidate finds its state, made of that of ``source``; or why not, and no byte has changed.

        Where the state had to be carried over, no call of the capability runs meanwhile: those that come wait.
        What ran too long for that was cut. ``ordered``: an operator asked for it, and knows what is lost.
        """
        target = candidate.manifest.state_schema
        if source >= target:
            yield None if ordered else await self._loss(candidate, source)
            return
        with capability.limiter.hold():
            started = self._clock.monotonic()
            cut = await _drained(capability, candidate)
            made = await self._made(candidate, program, name.id, source)
            if isinstance(made, Rejection):
                yield made
                return
            try:
                await asyncio.to_thread(self._state.replace, candidate.id, target, made)
            except CallFailed as failed:
                yield _refused(candidate, failed.error.message)
                return
            self._journal.write(
                Code.STATE_MIGRATED,
                Outcome.OK,
                actor,
                capability_id=candidate.id,
                generation=name.id,
                from_schema=source,
                to_schema=target,
                keys=len(made),
                cut=cut,
                duration_us=int((self._clock.monotonic() - started) * 1_000_000),
            )
            yield None

    async def rehearsed(
        self, capability: Capability | None, candidate: Candidate, program: LoadedProgram
    ) -> Rejection | None:
        """Would its state be refused? Calls go on meanwhile, and nothing is stored."""
        source = await self.in_force(capability, candidate)
        if source >= candidate.manifest.state_schema:
            return await self._loss(candidate, source)
        made = await self._made(candidate, program, "plan", source)
        return made if isinstance(made, Rejection) else None

    async def loss(self, capability: Capability, candidate: Candidate, name: GenerationId, *, meant: bool) -> str:
        """What going back to ``candidate`` loses of what was stored since, in words; empty where that is nothing.

        Raises `CallFailed` ``Conflict`` where it is not ``meant``.
        """
        source = await self.in_force(capability, candidate)
        if source <= candidate.manifest.state_schema:
            return ""
        keys = await asyncio.to_thread(self._state.written, candidate.id, source)
        if not keys:
            return ""
        if meant:
            return f"it does not see what was stored since under schema {source}: {_counted(keys)}"
        guard = capability.active.name.short if capability.active is not None else None
        how = "--lose-state" + (f" or --if-generation {guard}" if guard else "")
        message = (
            f"{name.short} reads state of schema {candidate.manifest.state_schema}, as it was before schema {source}: "
            f"{_counted(keys)} stored since would be lost; {how} if that is meant"
        )
        raise failure(ErrorKind.CONFLICT, message, lost_keys=keys, from_schema=source)

    def _recorded(self, capability_id: str, wanted: int) -> int:
        """Blocking. Where no version has put its schema on record: the newest that ``wanted`` can be made of."""
        known = self._history.state_schema(capability_id)
        if known is not None:
            return known
        stored = [schema for schema in self._state.schemas(capability_id) if schema <= wanted]
        return stored[-1] if stored else wanted

    async def _loss(self, candidate: Candidate, source: int) -> Rejection | None:
        """A file that goes back to an older schema is no order to lose what was stored since."""
        target = candidate.manifest.state_schema
        if source == target:
            return None
        keys = await asyncio.to_thread(self._state.written, candidate.id, source)
        if not keys:
            return None
        message = f"the state is of schema {source} by now, this version reads {target}: {_counted(keys)} would be lost"
        return _refused(candidate, message, "state.schema_version")

    async def _made(
        self, candidate: Candidate, program: LoadedProgram, generation: str, source: int
    ) -> list[StateRow] | Rejection:
        """The rows of the new schema, nothing of them stored yet."""
        target = candidate.manifest.state_schema
        try:
            rows = await asyncio.to_thread(self._state.rows, candidate.id, source)
        except CallFailed as failed:
            return _refused(candidate, failed.error.message)
        if not rows:
            return []
        steps = chain(candidate.manifest.migrations, source, target)
        if steps is None:
            keys = [row.key for row in rows]
            message = f"no migration leads from schema {source} to {target}: {_counted(keys)} would be lost"
            return _refused(candidate, message, "state.schema_version")
        spent = 0.0
        for step in steps:
            carried = CarriedState(rows, candidate.manifest.limits.state_bytes)
            refusal, spent = await self._shadow.migrate(candidate, program, generation, step.entry, carried, spent)
            if refusal is not None:
                return refusal
            rows = sorted(carried.new.values(), key=lambda row: row.key)
        return rows


def chain(migrations: Sequence[Migration], source: int, target: int) -> tuple[Migration, ...] | None:
    """The fewest steps from one schema to another; None where none lead there."""
    ways: deque[tuple[Migration, ...]] = deque([()])
    seen = {source}
    while ways:
        way = ways.popleft()
        here = way[-1].target if way else source
        if here == target:
            return way
        for step in migrations:
            if step.source == here and step.target <= target and step.target not in seen:
                seen.add(step.target)
                ways.append((*way, step))
    return None


async def _drained(capability: Capability, candidate: Candidate) -> int:
    """Until the running calls have ended, or were cut at the deadline of what serves; how many were cut."""
    serving = capability.active.manifest if capability.active is not None else candidate.manifest
    try:
        await asyncio.wait_for(capability.limiter.idle(), serving.reload.drain_timeout_ms / 1000)
        return 0
    except TimeoutError:
        cut = sum(generation.program.kill(ErrorKind.CANCELLED) for generation in capability.generations)
        await capability.limiter.idle()
        return cut


def _counted(keys: Sequence[str]) -> str:
    named = ", ".join(keys[:_SHOWN]) + (", …" if len(keys) > _SHOWN else "")
    return f"{len(keys)} key{'s' if len(keys) != 1 else ''} ({named})"


def _refused(candidate: Candidate, message: str, at: str = "state.migrations") -> Rejection:
    return lua_rejection(candidate, reason=Reason.MIGRATION_FAILED, message=message, file=None, line=None, at=at)
