"""New versions that serve everybody: one that fails too often makes room for the version before it, by itself."""

from __future__ import annotations

import asyncio
import datetime as dt
from collections.abc import Mapping
from typing import Final

from evatui.kernel.model.call import KERNEL
from evatui.kernel.model.clock import Clock
from evatui.kernel.model.diagnostic import Reason
from evatui.kernel.model.errors import CallFailed
from evatui.kernel.records.codes import Code, Outcome
from evatui.kernel.registry.capability import Capability
from evatui.kernel.registry.generation import Generation
from evatui.kernel.registry.operations import Operations
from evatui.kernel.registry.registry import Registry
from evatui.kernel.registry.restoring import Restoring
from evatui.kernel.registry.retention import Kept
from evatui.kernel.registry.rollout.judge import Counts
from evatui.kernel.registry.rollout.tally import Sample
from evatui.kernel.registry.rollout.trial import Trial
from evatui.kernel.storage.database import StorageError
from evatui.kernel.storage.history import Quarantine
from evatui.kernel.storage.state_store import StateStore

__all__ = ["Trials"]

_BOUND: Final = "it has written state of schema {schema}, which {target} would not see"


class Trials:
    def __init__(
        self, registry: Registry, operations: Operations, restoring: Restoring, state: StateStore, clock: Clock
    ) -> None:
        self._registry = registry
        self._operations = operations
        self._restoring = restoring
        self._state = state
        self._clock = clock
        self._began: dict[str, float] = {}
        """When the last rollback of each began, on the monotonic clock."""
        self._tasks: set[asyncio.Task[None]] = set()

    def remember(self, quarantines: Mapping[str, Mapping[str, Quarantine]]) -> None:
        """At a start: what was taken back before goes on to cool down. A wall clock that was set back makes that begin
        anew."""
        by_itself = KERNEL.type.value
        for key, rows in quarantines.items():
            told = [row.at for row in rows.values() if (row.reason, row.actor) == (Reason.ROLLED_BACK, by_itself)]
            if told:
                ago = (self._clock.now() - dt.datetime.fromisoformat(max(told))).total_seconds()
                self._began[key] = self._clock.monotonic() - max(ago, 0.0)

    def observe(self, capability: Capability, generation: Generation, sample: Sample) -> None:
        """A call has ended."""
        trial = capability.trial
        if trial is None or generation is not capability.active:
            return
        now, window = self._clock.monotonic(), trial.window
        window.add(sample, now)
        if window.faults and (counts := trial.failed(now)) is not None:
            self._failed(capability, generation, trial, counts, now)
        elif trial.passed(now):
            capability.trial = None

    def _failed(self, capability: Capability, generation: Generation, trial: Trial, counts: Counts, now: float) -> None:
        target = _before(capability, generation)
        began = self._began.get(capability.id)
        if target is None or (began is not None and now < began + trial.rules.cooldown_s):
            return
        self._began[capability.id] = now
        seconds = trial.rules.window_s
        cause = f"{counts.faults} of {counts.samples} calls failed within {seconds} s"
        task = asyncio.get_running_loop().create_task(self._roll_back(capability, generation, target, cause))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _roll_back(self, capability: Capability, generation: Generation, target: Kept, cause: str) -> None:
        """It serves until the other one does. What cannot be done is told, and tried again after the cool-down."""
        name = generation.name.id
        try:
            if await self._bound(capability, generation, target):
                schema = generation.manifest.state_schema
                self._tell(capability, name, cause, _BOUND.format(schema=schema, target=target.name.short))
                capability.trial = None
                return
            await self._operations.rollback(capability.id, KERNEL, target.name.id, name, cause)
        except CallFailed as failed:
            self._tell(capability, name, cause, failed.error.message)
        except StorageError as error:
            self._tell(capability, name, cause, str(error))

    async def _bound(self, capability: Capability, generation: Generation, target: Kept) -> bool:
        """Has it written state that the version before it cannot see?"""
        schema = generation.manifest.state_schema
        if (await self._restoring.admitted(capability, target)).manifest.state_schema == schema:
            return False
        return bool(await asyncio.to_thread(self._state.written, capability.id, schema))

    def _tell(self, capability: Capability, name: str, cause: str, problem: str) -> None:
        journal = self._registry.journal
        journal.tell("rollback_failed", capability.id, capability.state, generation=name, reason=problem, cause=cause)
        journal.write(
            Code.CAPABILITY_ROLLBACK_FAILED,
            Outcome.ERROR,
            KERNEL,
            capability_id=capability.id,
            generation=name,
            reason=problem,
            cause=cause,
        )

    async def close(self) -> None:
        await asyncio.gather(*self._tasks, return_exceptions=True)


def _before(capability: Capability, generation: Generation) -> Kept | None:
    """The latest that served before and was never taken back."""
    others = (kept for kept in capability.kept if kept.digest != generation.digest)
    return next((kept for kept in others if kept.digest not in capability.quarantined), None)
