"""Versions that served, served again from what was kept of them: the disk is not asked."""

from __future__ import annotations

import asyncio

from evatui.kernel.admission.admit import admit
from evatui.kernel.admission.policy import Policy
from evatui.kernel.admission.verdict import Candidate, Rejection
from evatui.kernel.model.call import KERNEL, Actor
from evatui.kernel.model.diagnostic import Reason
from evatui.kernel.model.errors import CallFailed, ErrorKind, failure
from evatui.kernel.model.sandbox import SandboxFacts
from evatui.kernel.model.text import clean_line
from evatui.kernel.records.codes import Code, Outcome
from evatui.kernel.registry.capability import Capability, Remembered
from evatui.kernel.registry.gate import Gate
from evatui.kernel.registry.generation import GenerationId
from evatui.kernel.registry.publisher import Publisher
from evatui.kernel.registry.receipt import guard
from evatui.kernel.registry.registry import Registry
from evatui.kernel.registry.reload import Reloader
from evatui.kernel.registry.retention import Kept, retained
from evatui.kernel.registry.shadow import Shadow
from evatui.kernel.storage.content_store import ContentLost, ContentStore
from evatui.kernel.storage.history import ABSENT, History, Served
from evatui.kernel.workspace.layout import Layout

__all__ = ["Restoring", "chosen", "last_known_good", "remembered"]


class Restoring:
    """Every version is admitted anew: what the policy forbids by now does not come back, nor what would reach further
    by now than when it served."""

    def __init__(
        self,
        registry: Registry,
        reloader: Reloader,
        publisher: Publisher,
        shadow: Shadow,
        gate: Gate,
        store: ContentStore,
        layout: Layout,
        sandbox: SandboxFacts,
    ) -> None:
        self._registry = registry
        self._reloader = reloader
        self._publisher = publisher
        self._shadow = shadow
        self._gate = gate
        self._store = store
        self._layout = layout
        self._sandbox = sandbox

    async def admitted(self, capability: Capability, kept: Kept) -> Candidate:
        """The kept version, judged by the policy of now.

        Raises `CallFailed`: ``Conflict`` where it is refused, ``PolicyDenied`` where it would reach further now.
        """
        verdict = await asyncio.to_thread(self._admit, capability, kept)
        if isinstance(verdict, Rejection):
            first = verdict.diagnostics[0]
            raise failure(ErrorKind.CONFLICT, f"{kept.name.short} would be refused now: {first.code} {first.message}")
        return verdict

    async def rehearse(self, capability: Capability, kept: Kept) -> None:
        """Could it serve now? It is loaded in the shadow and asked for its health, and nothing is changed.

        Raises `CallFailed` as `admitted` does, and ``Conflict`` where it does not load any more.
        """
        candidate = await self.admitted(capability, kept)
        loaded = await self._shadow.load(candidate)
        if isinstance(loaded, Rejection):
            raise _lame(capability, kept, loaded)
        try:
            unwell = await self._shadow.health(candidate, loaded, kept.name.id, loaded.load_s)
        finally:
            loaded.close()
        if unwell is not None:
            raise _lame(capability, kept, unwell)

    def _admit(self, capability: Capability, kept: Kept) -> Candidate | Rejection:
        try:
            snapshot = self._store.load(kept.digest)
        except ContentLost as lost:
            raise failure(
                ErrorKind.CONFLICT, f"{kept.name.short} of {capability.id} cannot be brought back: {lost}"
            ) from None
        verdict = admit(snapshot, layout=self._layout, policy=self._policy(), sandbox=self._sandbox)
        return self._gate.within(verdict, kept.name) if isinstance(verdict, Candidate) else verdict

    async def serve(
        self,
        capability: Capability,
        kept: Kept,
        candidate: Candidate,
        actor: Actor,
        *,
        fresh: bool = True,
        own_state: bool = False,
        if_generation: str | None = None,
    ) -> GenerationId:
        """What serves now: a new generation where ``fresh``, else the one that it was.

        With ``own_state`` it finds what it stored itself, also where what serves has state of another schema.

        Raises `CallFailed` ``Conflict`` where the kept version could not be loaded, or ``if_generation`` serves no more
        at the switch.
        """
        ended = await self._publisher.bring_back(
            capability,
            candidate,
            self._policy(),
            actor,
            fresh=fresh,
            own_state=own_state,
            instead_of=if_generation,
        )
        if ended.name is None:
            guard(capability, if_generation)
            if ended.rejected is not None:
                raise _lame(capability, kept, ended.rejected)
            raise failure(ErrorKind.CONFLICT, f"{kept.name.short} of {capability.id} was not wanted any more")
        return ended.name

    async def fall_back(self) -> None:
        """At the start, after the first look: what the disk holds comes first, and where that cannot serve, the last
        version that did. A refusal on disk is thus no trap for the next start.
        """
        await self._recall()
        frozen = self._reloader.frozen
        idle = [one for one in self._registry.capabilities.values() if _wants_its_last(one, frozen)]
        came = await asyncio.gather(*(self._fall_back(capability) for capability in idle))
        if any(came):  # what is wrong with the disk still is: told beside what serves
            await self._reloader.run(explicit=not frozen)

    async def beside(self, capability: Capability, candidate: Candidate) -> None:
        """A version that is to be tried out needs one beside it: where nothing serves, the last known good comes back.

        Where there is none, or it served everybody before, it serves everybody at once.
        """
        tried = candidate.manifest.reload.canary is not None and candidate.manifest.enabled
        off = capability.active is not None or capability.hold is not None or capability.denied
        if tried and not off and all(kept.digest != candidate.digest for kept in capability.kept):
            await self._fall_back(capability)
            self._registry.capability(capability.id, candidate.path)

    async def _recall(self) -> None:
        """Ids that the disk does not name any more, but should: an unreadable file may have been one of them, and one
        that was brought back after its file was deleted is to stay."""
        absent = {
            key: known
            for key, known in self._registry.remembered.items()
            if known.kept and key not in self._registry.capabilities
        }
        if not absent:
            return
        paths = await asyncio.to_thread(self._store.paths)
        for key, known in absent.items():
            path = paths.get(known.kept[0].digest, "")
            if path in self._registry.strays:
                self._registry.capability(key, path)
            elif ABSENT in known.quarantined:
                self._registry.capability(key, path).gone = True

    async def _fall_back(self, capability: Capability) -> bool:
        """Whether it serves."""
        kept = last_known_good(capability)
        if kept is None:
            return False
        try:
            candidate = await self.admitted(capability, kept)
            ruling = await asyncio.to_thread(self._gate.rule, candidate, self._policy(), ())
            if ruling.held:  # what it may do was taken back meanwhile, and here is nobody to decide
                return False
            self._registry.capability(capability.id, candidate.path)
            await self.serve(capability, kept, candidate, KERNEL, fresh=False)
        except CallFailed as failed:
            self._tell(capability, Outcome.ERROR, kept, failed.error.message)
            return False
        self._tell(capability, Outcome.OK, kept, "")
        return True

    def _tell(self, capability: Capability, outcome: Outcome, kept: Kept, cause: str) -> None:
        self._registry.journal.write(
            Code.CAPABILITY_FELL_BACK,
            outcome,
            KERNEL,
            capability_id=capability.id,
            generation=kept.name.id,
            cause=cause,
        )

    def _policy(self) -> Policy:
        policy = self._reloader.policy
        assert policy is not None  # set by the first run, which precedes every command
        return policy


def _lame(capability: Capability, kept: Kept, refused: Rejection) -> CallFailed:
    why = refused.diagnostics[0].message
    return failure(ErrorKind.CONFLICT, f"{kept.name.short} of {capability.id} does not load any more: {why}")


def last_known_good(capability: Capability) -> Kept | None:
    return next((kept for kept in capability.kept if kept.digest not in capability.quarantined), None)


def chosen(capability: Capability, to: str | None, named: Kept | None) -> Kept:
    """The version to go back to: what is kept of the generation ``to``, else the latest that was never rolled back.

    Raises `CallFailed`: ``NotFound`` where there is none, ``Conflict`` where it serves already.
    """
    serving = capability.active.digest if capability.active else None
    candidates = [kept for kept in capability.kept if kept.digest != serving]
    if to is None:
        named = next((kept for kept in candidates if kept.digest not in capability.quarantined), None)
    if named is not None and named.digest != serving:
        return named
    if named is not None:
        message = f"the version of {clean_line(str(to), 160)} is what {capability.id} serves now"
        raise failure(ErrorKind.CONFLICT, message)
    known = ", ".join(kept.name.short for kept in candidates) or "none"
    told = f"has no such generation to go back to; kept: {known}"
    if to is None and candidates:
        told = f"has no other version that was not rolled back; --to goes back to one all the same: {known}"
    raise failure(ErrorKind.NOT_FOUND, f"{capability.id} {told}")


def _wants_its_last(capability: Capability, frozen: bool) -> bool:
    """Does nothing serve, and that by nobody's order? Where it is ``frozen``, what the disk holds waits."""
    if capability.active is not None or capability.hold is not None or capability.denied:
        return False
    if frozen or capability.rejection is not None or capability.held is not None:
        return True
    unnamed = not capability.gone and not capability.disk_digest
    return unnamed or (ABSENT if capability.gone else capability.disk_digest) in capability.quarantined


def remembered(history: History) -> dict[str, Remembered]:
    """Blocking. What earlier runs left behind, by id."""
    holds, served, quarantines, pins = history.holds(), history.served(), history.quarantines(), history.pins()
    return {
        key: Remembered(
            hold=holds.get(key),
            kept=tuple(retained(map(_kept, served.get(key, ())), quarantines.get(key, ()), pins.get(key, ""))),
            pinned=pins.get(key, ""),
            quarantined=frozenset(quarantines.get(key, ())),
            deadly=frozenset(
                digest for digest, row in quarantines.get(key, {}).items() if row.reason == Reason.QUARANTINED
            ),
        )
        for key in {*holds, *served, *quarantines}
    }


def _kept(one: Served) -> Kept:
    return Kept(GenerationId(one.generation_id, one.number), one.version, one.digest, one.at, one.state_schema)
