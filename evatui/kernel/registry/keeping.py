"""What a restart must know: the versions that served everybody, and those that must not serve again."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence, Set

from evatui.kernel.admission.verdict import Candidate
from evatui.kernel.model.call import Actor
from evatui.kernel.model.clock import Clock, rfc3339
from evatui.kernel.model.diagnostic import Reason
from evatui.kernel.registry.capability import KEPT_FOR_ROLLBACK, Capability
from evatui.kernel.registry.generation import GenerationId
from evatui.kernel.storage.content_store import ContentStore
from evatui.kernel.storage.history import History, Quarantine, Served
from evatui.kernel.storage.state_store import StateStore

__all__ = ["Keeping"]


class Keeping:
    """Every method may raise `StorageError`."""

    def __init__(self, history: History, store: ContentStore, state: StateStore, clock: Clock) -> None:
        self._history = history
        self._state = state
        self._store = store
        self._clock = clock

    def keep(self, candidate: Candidate, name: GenerationId) -> int:
        """Blocking. So that it can be brought back; what is returned is for `withdraw`."""
        self._store.save(candidate.snapshot)
        serving = self._history.serves(candidate.id, name.number, self._clock.now(), candidate.manifest.state_schema)
        served = self._history.latest(candidate.id, KEPT_FOR_ROLLBACK + 1)
        if outlived := served[KEPT_FOR_ROLLBACK:]:
            self._store.let_go(one.digest for one in outlived)
        if len(self._state.schemas(candidate.id)) > 1:
            self._prune(candidate.id, served[:KEPT_FOR_ROLLBACK])
        return serving

    def withdraw(self, serving: int) -> None:
        """Blocking. It never served: a restart must not take it for what did."""
        self._history.withdraw(serving)

    def tidy(self) -> None:
        """Blocking, at a start: lets go of what the last runtime had saved, and never brought into service."""
        served = self._history.served(KEPT_FOR_ROLLBACK)
        self._store.retain({one.digest for versions in served.values() for one in versions})

    def _prune(self, capability_id: str, kept: Sequence[Served]) -> None:
        """State of a schema goes with the last version of it that can be brought back."""
        schemas = [one.state_schema for one in kept if one.state_schema is not None]
        if len(schemas) == len(kept):
            self._state.prune(capability_id, schemas)

    async def quarantine(
        self, capability: Capability, digests: Set[str], source: GenerationId | None, actor: Actor
    ) -> None:
        """From now on these are in quarantine, and no others; written down first, so that a restart knows."""
        before = frozenset(capability.quarantined)
        await self._write(capability, frozenset(digests) - before, before - digests, source, actor)
        capability.quarantined = set(digests)

    async def condemn(self, capability: Capability, digest: str, source: GenerationId, actor: Actor) -> None:
        """This one too, at once: a look at the disk may come before it is written down."""
        capability.quarantined = {*capability.quarantined, digest}
        await self._write(capability, frozenset({digest}), frozenset(), source, actor)

    async def _write(
        self,
        capability: Capability,
        new: Set[str],
        lifted: Set[str],
        source: GenerationId | None,
        actor: Actor,
    ) -> None:
        number, who = source.number if source else None, actor.id or actor.type.value
        at = rfc3339(self._clock.now())
        rows = [Quarantine(capability.id, digest, number, Reason.ROLLED_BACK, who, at) for digest in new]
        await asyncio.to_thread(self._history.quarantine, capability.id, rows, lifted)
