"""A version that has shown that it works goes into service: its state first, then on record, then the switch."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace

from evatui.kernel.lua.engine import LoadedProgram
from evatui.kernel.model.clock import Clock
from evatui.kernel.registry.gate import Gate, Given
from evatui.kernel.registry.generation import GenerationId
from evatui.kernel.registry.keeping import Keeping
from evatui.kernel.registry.migrations import Migrations
from evatui.kernel.registry.move import Move
from evatui.kernel.registry.order import Ended, Order
from evatui.kernel.registry.registry import Registry
from evatui.kernel.registry.rollout.canaries import Canaries
from evatui.kernel.registry.rollout.probation import Probations
from evatui.kernel.registry.rollout.trial import trial_of
from evatui.kernel.registry.ruling import Ruling
from evatui.kernel.registry.shadow import Shadow
from evatui.kernel.registry.together import alone
from evatui.kernel.storage.history import ABSENT, History

__all__ = ["Entering"]


@dataclass(frozen=True, slots=True)
class _Entry:
    """What was recorded of a version before it serves: the grant, and the row of its service."""

    given: Given | None = None
    serving: int | None = None


class Entering:
    def __init__(
        self,
        registry: Registry,
        shadow: Shadow,
        gate: Gate,
        history: History,
        keeping: Keeping,
        canaries: Canaries,
        migrations: Migrations,
        probations: Probations,
        clock: Clock,
    ) -> None:
        self._registry = registry
        self._shadow = shadow
        self._gate = gate
        self._history = history
        self._keeping = keeping
        self._canaries = canaries
        self._migrations = migrations
        self._probations = probations
        self._clock = clock

    async def enter(self, order: Order, program: LoadedProgram, name: GenerationId) -> Ended:
        """Its state first: what waits for a person must not hold up any call for that."""
        capability, candidate = order.capability, order.candidate
        source = await self._migrations.in_force(capability, candidate)
        if source == candidate.manifest.state_schema or order.own_state:
            return await self._switch(order, program, name)
        if not order.by_hand:
            now = await asyncio.to_thread(self._gate.rule_again, candidate, order.ruling)
            if now.held and order.stands:
                self._registry.attempts.hold(capability, candidate, now, order.actor)
                return Ended(held=now)
        carried = self._migrations.carried(
            capability, candidate, program, name, order.actor, source=source, ordered=order.by_hand
        )
        async with carried as refusal:
            if refusal is not None:
                self._registry.attempts.refuse(capability, refusal, order.actor)
                return Ended(rejected=refusal)
            # Calls wait meanwhile, so it does not wait for the others of its set.
            return await self._switch(replace(order, slot=alone(self._registry.commit)), program, name)

    async def _switch(self, order: Order, program: LoadedProgram, name: GenerationId) -> Ended:
        capability, candidate = order.capability, order.candidate
        beside = not order.by_hand and self._canaries.wanted(capability, candidate)
        if not order.stands:
            self._registry.attempts.forget(capability, order.actor)
            return Ended()
        now, entry = await asyncio.to_thread(self._pass, order, name, beside)
        if now.held and not order.by_hand and order.stands:
            self._registry.attempts.hold(capability, candidate, now, order.actor)
            return Ended(held=now)
        took_effect = False
        try:
            took_effect = await order.slot.take_effect(self._move(order, program, name, now, beside))
        finally:
            if not took_effect:
                await asyncio.to_thread(self._withdraw, capability.id, entry)
        if not took_effect:
            self._registry.attempts.forget(capability, order.actor)
            return Ended()
        if not order.by_hand:
            capability.quarantined.discard(ABSENT)
        await self._keeping.let_go(capability)
        return Ended(name)

    def _move(self, order: Order, program: LoadedProgram, name: GenerationId, now: Ruling, beside: bool) -> Move:
        capability, candidate = order.capability, order.candidate
        self._shadow.settle(candidate, program)
        if beside:
            return self._canaries.coming(capability, candidate, program, name, order.actor, lambda: order.stands)
        new = not order.by_hand and not (capability.kept and capability.kept[0].digest == candidate.digest)
        rules, began = now.policy.settings["rollback"], self._clock.monotonic()
        trial = trial_of(candidate.manifest, rules, began) if new else None
        return self._registry.publication(
            capability, candidate, program, name, order.actor, trial, stands=lambda: order.stands
        )

    def _pass(self, order: Order, name: GenerationId, beside: bool) -> tuple[Ruling, _Entry]:
        """Blocking. The ruling of now; where it lets the version into service, that is recorded, and it kept, first.

        And what was recorded, to be withdrawn where it is overtaken at the last moment.
        """
        capability, candidate, entry = order.capability, order.candidate, _Entry()
        now = self._gate.rule_again(candidate, order.ruling)
        if order.by_hand or not now.held:
            given = self._gate.serves(candidate, now.policy, name, in_place=order.by_hand and not order.fresh)
            entry = _Entry(given, None if beside else self._keeping.keep(candidate, name))
            window_s = now.policy.settings["rollback"]["window_s"]
            new = _is_new(order, self._gate.starting)
            self._probations.enters(capability.id, candidate.digest, name.number, window_s, new=new)
        if not order.by_hand and not now.held and ABSENT in capability.quarantined:
            self._history.quarantine(capability.id, [], [ABSENT])
        return now, entry

    def _withdraw(self, capability_id: str, entry: _Entry) -> None:
        """Blocking."""
        if entry.given is not None:
            self._gate.withdraw(capability_id, entry.given)
        if entry.serving is not None:
            self._keeping.withdraw(entry.serving)


def _is_new(order: Order, starting: bool) -> bool:
    """Is it put on probation: in the place of another one, that could serve again, or among others that serve already?

    What comes with all others at a start, and has none before it, would only leave nobody to serve.
    """
    kept, digest = order.capability.kept, order.candidate.digest
    if order.by_hand or not order.candidate.manifest.reload.rollback_on_failure:
        return False
    others = (one.digest for one in kept if one.digest != digest)
    replaces = any(other not in order.capability.quarantined for other in others)
    return (not kept or kept[0].digest != digest) and (replaces or not starting)
