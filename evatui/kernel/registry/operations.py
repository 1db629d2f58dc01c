"""What an operator does to one capability: drain, disable, enable, roll back."""

from __future__ import annotations

import asyncio

from evatui.kernel.model.call import KERNEL, Actor
from evatui.kernel.model.clock import Clock
from evatui.kernel.model.diagnostic import Diagnostic, Reason
from evatui.kernel.model.errors import CallFailed, ErrorKind, failure
from evatui.kernel.model.lifecycle import State
from evatui.kernel.model.manifest import Isolation
from evatui.kernel.model.text import clean_line
from evatui.kernel.records.codes import Code, Outcome
from evatui.kernel.registry.capability import Capability
from evatui.kernel.registry.cut import sum_of
from evatui.kernel.registry.generation import GenerationId
from evatui.kernel.registry.keeping import Keeping
from evatui.kernel.registry.migrations import Migrations
from evatui.kernel.registry.plan import Change
from evatui.kernel.registry.receipt import Receipt, Receipts, guard
from evatui.kernel.registry.registry import Registry
from evatui.kernel.registry.reload import Plan, Reloader
from evatui.kernel.registry.restoring import Restoring, chosen, last_known_good
from evatui.kernel.registry.retention import Kept
from evatui.kernel.registry.rollout.canaries import Canaries
from evatui.kernel.registry.warden import Warden
from evatui.kernel.storage.history import ABSENT, History, Hold

__all__ = ["Operations"]


class Operations:
    """Every method takes ``if_generation``: refused with ``Conflict`` where another one serves by now."""

    def __init__(
        self,
        registry: Registry,
        reloader: Reloader,
        restoring: Restoring,
        warden: Warden,
        history: History,
        keeping: Keeping,
        canaries: Canaries,
        migrations: Migrations,
        clock: Clock,
    ) -> None:
        self._registry = registry
        self._reloader = reloader
        self._restoring = restoring
        self._warden = warden
        self._history = history
        self._keeping = keeping
        self._canaries = canaries
        self._migrations = migrations
        self._clock = clock
        self._receipt = Receipts(registry.journal, clock).made

    async def drain(
        self, capability_id: str, actor: Actor, if_generation: str | None = None, *, force: bool = False
    ) -> Receipt:
        """No new calls until ``enable``; returns when the running ones have ended or were cut.

        With ``force`` they are cut at once, also those of versions that drain already.
        """
        started = self._clock.monotonic()
        leaves = force and bool(self._known(capability_id).draining)
        capability = self._known(capability_id) if leaves else self._serving(capability_id, if_generation)
        await self._hold(capability, Hold.DRAINED, actor, if_generation)
        source = _name(capability)
        task = self._registry.withdraw(capability, State.DISABLED, actor, Hold.DRAINED)
        tasks = self._registry.leaving.hurry(capability) if force else [task] if task is not None else []
        drained = sum_of([await asyncio.shield(one) for one in tasks])
        return self._receipt(capability, "drain", source, None, actor, started, drained)

    async def disable(self, capability_id: str, actor: Actor, if_generation: str | None = None) -> Receipt:
        """No new calls until ``enable``; returns at once, the running ones drain."""
        started = self._clock.monotonic()
        capability = self._known(capability_id)
        guard(capability, if_generation)
        await self._hold(capability, Hold.DISABLED, actor, if_generation)
        source = _name(capability)
        self._registry.withdraw(capability, State.DISABLED, actor, Hold.DISABLED)
        self._write(Code.CAPABILITY_DISABLED, capability, source, actor)
        return self._receipt(capability, "disable", source, None, actor, started)

    async def enable(self, capability_id: str, actor: Actor, if_generation: str | None = None) -> Receipt:
        """Lifts a drain, a disable or a demotion: what the disk holds serves, where it belongs.

        Where that is refused, or was rolled back, the version that served last does, and the receipt says so.
        Raises `CallFailed`: ``Conflict`` where there is none, or it is refused by now as well; ``PolicyDenied`` where
        it would reach further than it did.
        """
        started = self._clock.monotonic()
        capability = self._known(capability_id)
        sound = capability.candidate
        if capability.hold is None and sound is not None and not sound.manifest.enabled:
            message = f"{capability.id} is disabled by its manifest: set `enabled: true` in {capability.path}"
            raise failure(ErrorKind.CONFLICT, message)
        await self._hold(capability, None, actor, if_generation)
        conduct, before = self._warden.pardon(capability), _name(capability)
        try:
            plan = await self._reloader.run(actor=actor, explicit=True, ids=(capability.id,))
            refused = _refused(plan)
            note = await self._serve_last_good(capability, refused.diagnostics[0] if refused else None, actor)
            note = await self._taken_back(capability, actor) or note
        except CallFailed:
            capability.conduct = conduct
            raise
        serves = _name(capability)
        self._write(Code.CAPABILITY_ENABLED, capability, serves, actor)
        source = before if before != serves else None
        return self._receipt(capability, "enable", source, serves, actor, started, note=note)

    async def rollback(
        self,
        capability_id: str,
        actor: Actor,
        to: str | None = None,
        if_generation: str | None = None,
        cause: str = "",
        lose_state: bool = False,
        blame: bool = True,
        own_state: bool = False,
    ) -> Receipt:
        """Serves an earlier version again, as a new generation; the one it replaces is quarantined, where it is to
        ``blame``.

        Also where its files are gone, and after a restart. Without ``to`` it is the latest that was never rolled back;
        while a canary is tried out, that is what serves beside it. Raises ``Conflict`` with ``details.lost_keys``
        where it would not see what was stored since, but for ``lose_state``; ``PolicyDenied`` where it would reach
        further than it did. With ``own_state`` it finds what it stored itself, and nothing is carried over to it.
        What a person goes back to is kept from then on, however many versions follow.
        """
        started = self._clock.monotonic()
        capability = self._remembered(capability_id)
        guard(capability, if_generation)
        if capability.rollout is not None and capability.active is not None and to in (None, *_names(capability)):
            tried = await self._canaries.abort(capability, actor)
            note = "its canary was aborted; what served beside it serves everybody"
            return self._receipt(capability, "rollback", tried, _name(capability), actor, started, note=note)
        kept = chosen(capability, to, await self._keeping.named(capability, to) if to is not None else None)
        source, gone = _name(capability), capability.gone
        bad = capability.active.digest if capability.active else ABSENT if gone else capability.disk_digest
        candidate = await self._restoring.admitted(capability, kept)
        loss = await self._migrations.loss(capability, candidate, kept.name, meant=lose_state)
        guard(capability, if_generation)
        before, held, pinned = frozenset(capability.quarantined), capability.hold, capability.pinned
        # Before it is loaded, as a look at the disk may come in between; and never what comes back itself.
        tried_out = {capability.canary.digest} if capability.canary else set()
        bad_ones = ({bad, *before, *tried_out} if blame else before) - {candidate.digest}
        await self._keeping.quarantine(capability, bad_ones, source, actor)
        if actor != KERNEL:
            await self._keeping.pin(capability, candidate.digest)
        self._registry.capability(capability.id, candidate.path if gone else capability.path)
        try:
            name = await self._restoring.serve(
                capability, kept, candidate, actor, own_state=own_state, if_generation=if_generation
            )
        except CallFailed:
            capability.gone = gone
            await self._keeping.pin(capability, pinned)
            await self._keeping.quarantine(capability, before, source, actor)
            if not gone:  # what did not load says nothing of the disk
                await self._reloader.run(actor=actor, ids=(capability.id,))
            raise
        if capability.hold is held:
            await self._hold(capability, None, actor)
        else:  # somebody switched it off while the old version was loading: that order is the later one
            self._registry.withdraw(capability, State.DISABLED, actor, str(capability.hold))
        self._registry.journal.tell(
            "rolled_back",
            capability.id,
            State.ACTIVE,
            generation=name.id,
            from_generation=source.id if source else None,
            reason=Reason.ROLLED_BACK.value,
            actor=actor,
            cause=cause or None,
        )
        self._registry.journal.write(
            Code.CAPABILITY_ROLLED_BACK,
            Outcome.OK,
            actor,
            capability_id=capability.id,
            generation=name.id,
            rolled_back_from=source.id if source else None,
            restores=kept.name.id,
            cause=cause or None,
        )
        return self._receipt(capability, "rollback", source, name, actor, started, note=loss)

    async def retry(self, capability_id: str, actor: Actor, if_generation: str | None = None) -> Receipt:
        """Lifts the quarantine of what the disk holds, and tries it again, refused or not."""
        started = self._clock.monotonic()
        capability = self._known(capability_id)
        guard(capability, if_generation)
        source = _name(capability)
        await self._keeping.quarantine(
            capability, capability.quarantined - {capability.disk_digest, ABSENT}, source, actor
        )
        plan = await self._reloader.run(actor=actor, explicit=True, ids=(capability.id,))
        refused = _refused(plan)
        note = f"refused: {refused.diagnostics[0].code} {refused.diagnostics[0].message}" if refused else ""
        serves = _name(capability)
        self._write(Code.CAPABILITY_RETRIED, capability, serves, actor)
        return self._receipt(capability, "retry", source, serves, actor, started, note=note)

    async def _serve_last_good(self, capability: Capability, refusal: Diagnostic | None, actor: Actor) -> str:
        """Where the disk holds nothing that may serve; returns what to say about it."""
        quarantined = capability.disk_digest in capability.quarantined
        if capability.active is not None or (refusal is None and not quarantined):
            return ""
        why = f"refused: {refusal.code} {refusal.message}" if refusal else "quarantined"
        kept = last_known_good(capability)
        if kept is None:
            raise failure(ErrorKind.CONFLICT, f"{capability.id} is on again, but {why}")
        await self._restoring.serve(capability, kept, await self._restoring.admitted(capability, kept), actor)
        if refusal is not None:  # told again, as it is in force beside what serves now
            await self._reloader.run(actor=actor, ids=(capability.id,))
        return f"the version on disk is {why}; {kept.name.short}, which served before, serves again"

    async def _taken_back(self, capability: Capability, actor: Actor) -> str:
        """What was moved to a process of its own serves in the runtime's again, as a new generation; says so."""
        active = capability.active
        if active is None or active.program.isolation is Isolation.IN_PROCESS:
            return ""
        kept = Kept(active.name, active.manifest.version, active.digest, active.since)
        candidate = await self._restoring.admitted(capability, kept)
        if candidate.isolation is Isolation.PROCESS:
            return ""
        name = await self._restoring.serve(capability, kept, candidate, actor)
        return f"it runs in the process of the runtime again, as {name.short}"

    # -- guards -----------------------------------------------------------------------------

    def _known(self, capability_id: str) -> Capability:
        capability = self._registry.capabilities.get(capability_id)
        if capability is None or capability.gone:
            raise failure(ErrorKind.NOT_FOUND, f"no capability with the id {clean_line(capability_id, 128)}")
        return capability

    def _remembered(self, capability_id: str) -> Capability:
        """Also one whose manifest is gone, as long as a version of it is kept."""
        known = self._registry.remembered.get(capability_id)
        if capability_id not in self._registry.capabilities and known is not None and known.kept:
            self._registry.capability(capability_id, "").gone = True
        found = self._registry.capabilities.get(capability_id)
        return found if found is not None and found.kept else self._known(capability_id)

    def _serving(self, capability_id: str, if_generation: str | None) -> Capability:
        capability = self._known(capability_id)
        guard(capability, if_generation)
        if capability.active is None:
            raise failure(ErrorKind.CONFLICT, f"{capability.id} serves nothing: it is {capability.state}")
        return capability

    async def _hold(
        self, capability: Capability, hold: Hold | None, actor: Actor, if_generation: str | None = None
    ) -> None:
        """Writes the order down, then gives it: whatever was on its way from the disk is not wanted any more.

        Raises `CallFailed` ``Conflict``, with the former order in force, where the target moved meanwhile.
        """
        before = capability.hold
        await asyncio.to_thread(self._history.set_hold, capability.id, hold)
        try:
            guard(capability, if_generation)
        except CallFailed:
            await asyncio.to_thread(self._history.set_hold, capability.id, before)
            raise
        capability.hold = hold
        capability.wanted += 1
        if hold is not None and capability.held is not None and capability.candidate is not None:
            # What waited for a person rests with the others.
            self._registry.attempts.begin(capability, actor, capability.disk_digest)
            self._registry.attempts.park(capability, capability.candidate, actor, hold)

    def _write(self, code: Code, capability: Capability, name: GenerationId | None, actor: Actor) -> None:
        generation = name.id if name else None
        self._registry.journal.write(code, Outcome.OK, actor, capability_id=capability.id, generation=generation)


def _refused(plan: Plan) -> Change | None:
    """The change that is refused, or waits for a person; not one that only quarantine keeps from serving."""
    return next((change for change in plan.changes if change.diagnostics and not change.causes), None)


def _name(capability: Capability) -> GenerationId | None:
    return capability.active.name if capability.active else None


def _names(capability: Capability) -> tuple[str, ...]:
    return (capability.active.name.id, capability.active.name.short) if capability.active else ()
