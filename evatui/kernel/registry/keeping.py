"""What a restart must know: the versions that served everybody, and those that must not serve again."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Set

from evatui.kernel.admission.verdict import Candidate
from evatui.kernel.model.call import Actor
from evatui.kernel.model.clock import Clock, rfc3339
from evatui.kernel.model.diagnostic import Reason
from evatui.kernel.registry.capability import KEPT_FOR_ROLLBACK, Capability
from evatui.kernel.registry.generation import GenerationId
from evatui.kernel.storage.content_store import ContentStore
from evatui.kernel.storage.history import History, Quarantine
from evatui.kernel.storage.state_store import StateStore

__all__ = ["Keeping"]

_RETAIN_EVERY = 100


class Keeping:
    """Every method may raise `StorageError`."""

    def __init__(self, history: History, store: ContentStore, state: StateStore, clock: Clock) -> None:
        self._history = history
        self._state = state
        self._store = store
        self._clock = clock
        self._keeping = threading.Lock()
        self._kept = 0

    def keep(self, candidate: Candidate, name: GenerationId) -> None:
        """Blocking. So that it can be brought back."""
        with self._keeping:  # what is just being saved is not in the history yet, and must not be let go of
            self._store.save(candidate.snapshot)
            self._history.serves(candidate.id, name.number, self._clock.now(), candidate.manifest.state_schema)
            if self._kept % _RETAIN_EVERY == 0:
                served = self._history.served(KEPT_FOR_ROLLBACK)
                self._store.retain({one.digest for versions in served.values() for one in versions})
            self._kept += 1
            if len(self._state.schemas(candidate.id)) > 1:
                self._prune(candidate.id)

    def _prune(self, capability_id: str) -> None:
        """State of a schema goes with the last version of it that can be brought back."""
        kept = self._history.served(KEPT_FOR_ROLLBACK)[capability_id]
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
