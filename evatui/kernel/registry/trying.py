"""A change tried out for a plan: everything up to the switch, and nothing is changed."""

from __future__ import annotations

from dataclasses import replace

from evatui.kernel.admission.verdict import Candidate, Rejection
from evatui.kernel.registry.examples import Examples
from evatui.kernel.registry.migrations import Migrations
from evatui.kernel.registry.plan import Action, Change
from evatui.kernel.registry.registry import Registry
from evatui.kernel.registry.rollout.beginning import Beginnings
from evatui.kernel.registry.shadow import Shadow

__all__ = ["Trying"]


class Trying:
    def __init__(
        self, registry: Registry, shadow: Shadow, examples: Examples, migrations: Migrations, beginnings: Beginnings
    ) -> None:
        self._registry = registry
        self._shadow = shadow
        self._examples = examples
        self._migrations = migrations
        self._beginnings = beginnings

    async def tried(self, change: Change) -> Change:
        """The change as it would end: loaded in the shadow, asked for its health, its examples and state rehearsed."""
        if change.action not in (Action.ADD, Action.UPDATE) or not isinstance(change.verdict, Candidate):
            return change
        candidate = change.verdict
        loaded = await self._shadow.load(candidate)
        if isinstance(loaded, Rejection):
            return replace(change, action=Action.REJECT, verdict=loaded)
        try:
            refusal = await self._shadow.health(candidate, loaded, "plan", loaded.load_s)
            serving = self._registry.capabilities.get(change.key)
            if refusal is None:
                tried = await self._examples.tried(candidate, loaded, serving.active if serving else None)
                change, refusal = replace(change, tried=tried), tried.refusal(candidate)
            if refusal is None:
                refusal = await self._migrations.rehearsed(serving, candidate, loaded)
        finally:
            loaded.close()
        if refusal is not None:
            return replace(change, action=Action.REJECT, verdict=refusal)
        if change.ruling is not None and change.ruling.held:
            return change.waiting(change.ruling)
        return replace(change, begins=await self._beginnings.of(serving, candidate))
