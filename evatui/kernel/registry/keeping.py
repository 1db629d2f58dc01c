"""What a restart must know: the versions that served everybody, and those that must not serve again."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Collection, Mapping, Set

from evatui.kernel.admission.verdict import Candidate
from evatui.kernel.model.call import Actor
from evatui.kernel.model.clock import Clock, rfc3339
from evatui.kernel.model.diagnostic import Reason
from evatui.kernel.model.errors import CallFailed
from evatui.kernel.registry.capability import Capability, Remembered
from evatui.kernel.registry.generation import GenerationId
from evatui.kernel.registry.retention import Kept
from evatui.kernel.storage.content_store import ContentStore
from evatui.kernel.storage.database import StorageError
from evatui.kernel.storage.history import History, Quarantine
from evatui.kernel.storage.state_store import StateStore
from evatui.kernel.workspace.snapshot import Snapshot

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
        return self._history.serves(candidate.id, name.number, self._clock.now(), candidate.manifest.state_schema)

    async def named(self, capability: Capability, name: str) -> Kept | None:
        """What is kept of the generation with this id or number: several may have been of the same bytes."""
        for kept in capability.kept:
            if name in (kept.name.id, kept.name.short):
                return kept
        found = await asyncio.to_thread(self._history.named, name)
        digest = found[1].digest if found is not None and found[0] == capability.id else None
        return next((kept for kept in capability.kept if kept.digest == digest), None)

    def load(self, kept: Kept) -> Snapshot:
        """Blocking. Raises `ContentLost`."""
        return self._store.load(kept.digest)

    def withdraw(self, serving: int) -> None:
        """Blocking. It never served: a restart must not take it for what did."""
        self._history.withdraw(serving)

    async def let_go(self, capability: Capability) -> None:
        """Of what the version that serves now has outlived; where that fails, the next start does it."""
        if capability.outlived:
            outlived, capability.outlived = [one.digest for one in capability.outlived], []
            with contextlib.suppress(StorageError, CallFailed):
                await asyncio.to_thread(self._let_go, capability.id, outlived, capability.kept)

    def _let_go(self, capability_id: str, outlived: Collection[str], kept: Collection[Kept]) -> None:
        """State of a schema goes with the last version of it that can be brought back."""
        self._history.let_go(capability_id, outlived)
        self._store.let_go(outlived)
        schemas = [one.state_schema for one in kept if one.state_schema is not None]
        if len(schemas) == len(kept):
            self._state.prune(capability_id, schemas)

    def tidy(self, remembered: Mapping[str, Remembered]) -> None:
        """Blocking, at a start: lets go of what the last runtime had saved, and is not ``remembered``."""
        for key, versions in self._history.served().items():
            outlived = {one.digest for one in versions}.difference(one.digest for one in remembered[key].kept)
            if outlived:
                self._history.let_go(key, outlived)
        self._store.retain({one.digest for known in remembered.values() for one in known.kept})

    async def pin(self, capability: Capability, digest: str) -> None:
        """A person goes back to this one: it is kept until somebody goes back to another."""
        await asyncio.to_thread(self._history.pin, capability.id, digest)
        capability.pinned = digest

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
