"""Reload: look at the disk, judge, load in the shadow, publish what is sound."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass, replace
from typing import Any

from evatui.kernel.admission.dependencies import linked
from evatui.kernel.admission.policy import Policy
from evatui.kernel.admission.verdict import Candidate, Rejection
from evatui.kernel.model.call import KERNEL, Actor
from evatui.kernel.model.diagnostic import Diagnostic, Reason
from evatui.kernel.model.errors import ErrorKind, failure
from evatui.kernel.model.ids import fold
from evatui.kernel.model.text import clean_line
from evatui.kernel.records.codes import Code, Outcome
from evatui.kernel.registry.applying import Applying
from evatui.kernel.registry.examples import Examples
from evatui.kernel.registry.gate import Gate
from evatui.kernel.registry.migrations import Migrations
from evatui.kernel.registry.plan import BY_HAND, FROZEN, Action, Change, compare, main_verdicts, plan_digest
from evatui.kernel.registry.publisher import Publisher
from evatui.kernel.registry.registry import Registry
from evatui.kernel.registry.scan import Scan, Scanner
from evatui.kernel.registry.shadow import Shadow
from evatui.kernel.registry.warden import Warden
from evatui.kernel.workspace.settings import RuntimeSettings

__all__ = ["SETTLE_SECONDS", "Plan", "Reloader"]

SETTLE_SECONDS = 0.05
"""A file that is gone counts as gone only when it still is after this long: editors replace by unlink and create."""


@dataclass(frozen=True, slots=True)
class Plan:
    digest: str
    changes: tuple[Change, ...]
    applied: bool


class Reloader:
    """``policy`` is the one in force; ``problems`` what was wrong beyond single manifests at ``looked_at``, and
    ``idle`` the files that no manifest named then.
    """

    def __init__(
        self,
        registry: Registry,
        scanner: Scanner,
        shadow: Shadow,
        examples: Examples,
        migrations: Migrations,
        publisher: Publisher,
        warden: Warden,
        gate: Gate,
        settings: RuntimeSettings,
        at_once: int,
    ) -> None:
        self.policy: Policy | None = None
        self.problems: tuple[Diagnostic, ...] = ()
        self.idle: tuple[str, ...] = ()
        self.looked_at = ""
        self._registry = registry
        self._scanner = scanner
        self._shadow = shadow
        self._examples = examples
        self._migrations = migrations
        self._publisher = publisher
        self._warden = warden
        self._gate = gate
        self.frozen = False
        """What changes on disk is judged, and waits; an explicit reload is done."""
        self._hot = settings.hot_reload
        self._looking = asyncio.Lock()
        self.applying = Applying(registry, publisher, at_once)
        self._tasks: set[asyncio.Task[Any]] = set()

    # -- looking ----------------------------------------------------------------------------

    async def plan(self, ids: Sequence[str] = ()) -> Plan:
        """Everything up to the switch, shadow load and health included; nothing is changed."""
        async with self._looking:
            scan = await self._scan(frozenset())
            changes = _wanted(await self._changes(scan, explicit=True), ids)
        tried = await asyncio.gather(*(self._try(change) for change in changes))
        return Plan(plan_digest(changes, scan.policy.epoch), tuple(tried), False)

    async def run(
        self,
        *,
        actor: Actor = KERNEL,
        explicit: bool = False,
        ids: Sequence[str] = (),
        expected: str | None = None,
    ) -> Plan:
        """Applies what the disk holds, all of it read again. Waits for every publish, not for the drains that follow.

        ``expected`` is the digest of a plan: raises `CallFailed` ``Conflict`` where the disk has
        moved since.
        """
        digest, work = await self._look(frozenset(), actor, explicit, ids, expected)
        return Plan(digest, tuple(await asyncio.gather(*work)), True)

    async def follow(self, changed: frozenset[str]) -> None:
        """Applies what has changed on disk, and waits for nothing of it: a slow load holds up no other one.

        ``changed`` names files that must be read again, none of them: all.
        """
        for path in changed:
            owner = self._registry.capabilities.get(self._examples.owner(path) or "")
            if owner is not None and owner.rejection is not None:
                owner.again |= owner.rejection.diagnostics[0].reason is Reason.EXAMPLES_FAILED
        _, work = await self._look(changed, KERNEL, False, (), None)
        for task in work:
            task.add_done_callback(self._report)

    async def _look(
        self, changed: frozenset[str], actor: Actor, explicit: bool, ids: Sequence[str], expected: str | None
    ) -> tuple[str, list[asyncio.Task[Change]]]:
        async with self._looking:
            scan = await self._scan(changed, settle=True)
            changes = _wanted(await self._changes(scan, explicit=explicit), ids)
            digest = plan_digest(changes, scan.policy.epoch)
            if expected is not None and expected != digest:
                raise failure(ErrorKind.CONFLICT, "the disk or the registry moved since the plan was made")
            self._tell_policy(scan, actor)
            self._warden.follow(scan.policy)
            self.policy, self.problems, self.idle = scan.policy, scan.problems, scan.idle
            self._registry.adapters = scan.adapters
            self.looked_at = self._registry.journal.at()
            if not ids:
                self._set_strays(scan)
            return digest, [self._spawn(self.applying.apply(change, scan.policy, actor)) for change in changes]

    def _tell_policy(self, scan: Scan, actor: Actor) -> None:
        journal = self._registry.journal
        if self.policy is not None and self.policy.epoch != scan.policy.epoch:
            journal.write(Code.POLICY_CHANGED, Outcome.OK, actor, epoch=scan.policy.epoch)
        broken = [problem for problem in scan.problems if problem.reason is Reason.POLICY_DENIED]
        if broken and broken != [problem for problem in self.problems if problem.reason is Reason.POLICY_DENIED]:
            journal.write(Code.POLICY_REJECTED, Outcome.DENIED, actor, reason=f"{broken[0].code} {broken[0].message}")

    def _report(self, task: asyncio.Task[Change]) -> None:
        """A defect in the background is told; whatever it hit was refused and the old version serves."""
        if not task.cancelled() and task.exception() is not None:
            self._registry.journal.defect("reload", task.exception())

    async def _changes(self, scan: Scan, *, explicit: bool) -> list[Change]:
        named, _ = main_verdicts(scan.verdicts, self._registry.capabilities)
        named = linked(named, self._serving(), {name for one in scan.adapters for name in one.capabilities})
        changes = compare(named, self._registry.capabilities, explicit=explicit, still=self._still)
        if all(change.action is Action.UNCHANGED for change in changes):
            return changes
        return await asyncio.to_thread(self._ruled, changes, scan.policy, frozenset(named))

    def _ruled(self, changes: list[Change], policy: Policy, present: frozenset[str]) -> list[Change]:
        """Blocking. Each change with what the gate says of it."""
        providers = self._gate.providers(present)
        return [
            replace(change, ruling=self._gate.rule(change.verdict, policy, providers))
            if isinstance(change.verdict, Candidate) and change.action is not Action.UNCHANGED
            else change
            for change in changes
        ]

    @property
    def _still(self) -> str:
        return FROZEN if self.frozen else "" if self._hot else BY_HAND

    async def _scan(self, changed: frozenset[str], *, settle: bool = False) -> Scan:
        scan = await asyncio.to_thread(self._scanner.scan, changed, self._owners())
        if settle and self._lost(scan):
            await asyncio.sleep(SETTLE_SECONDS)
            scan = await asyncio.to_thread(self._scanner.scan, frozenset(), self._owners())
        return scan

    def _owners(self) -> dict[str, str]:
        serving = (c for c in self._registry.capabilities.values() if c.active is not None)
        return {fold(capability.id): capability.path for capability in serving}

    def _serving(self) -> dict[str, str]:
        return {key: generation.digest for key, generation in self._registry.table.active.items()}

    def _lost(self, scan: Scan) -> bool:
        """Is a file gone that was there: a manifest, or one that a serving version was made of?"""
        for capability in self._registry.capabilities.values():
            if capability.gone:
                continue
            verdict = scan.verdicts.get(capability.path)
            if verdict is None or (isinstance(verdict, Rejection) and verdict.missing and capability.active):
                return True
        return False

    def _set_strays(self, scan: Scan) -> None:
        _, strays = main_verdicts(scan.verdicts, self._registry.capabilities)
        known = self._registry.strays
        at = self._registry.journal.at()
        for path, rejection in strays.items():
            if path not in known or known[path][0] != rejection:
                self._registry.refusals.note(rejection, rejection.id, None)
        self._registry.strays = {
            path: known[path] if path in known and known[path][0] == rejection else (rejection, at)
            for path, rejection in strays.items()
        }
        if self._registry.strays != known:
            self._registry.on_change()

    async def _try(self, change: Change) -> Change:
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
        return change.waiting(change.ruling) if change.ruling is not None and change.ruling.held else change

    def _spawn(self, work: Coroutine[Any, Any, Change]) -> asyncio.Task[Change]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def close(self) -> None:
        """Ends what is loading; nothing of it has been published."""
        tasks = (*self._tasks,)
        for task in tasks:
            task.cancel()
        await self._publisher.close()
        await asyncio.gather(*tasks, return_exceptions=True)


def _wanted(changes: Sequence[Change], ids: Sequence[str]) -> list[Change]:
    """The changes of ``ids`` (or manifest paths), or all. Raises `CallFailed` ``NotFound`` for one that is unknown."""
    known = {name for change in changes for name in (change.key, change.path)}
    for name in ids:
        if name not in known:
            raise failure(ErrorKind.NOT_FOUND, f"no capability with the id {clean_line(name, 128)}")
    return [change for change in changes if not ids or change.key in ids or change.path in ids]
