"""Reload: look at the disk, judge, load in the shadow, publish what is sound."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from evatui.kernel.admission.policy import Policy
from evatui.kernel.admission.verdict import Rejection
from evatui.kernel.model.call import KERNEL, Actor
from evatui.kernel.model.diagnostic import Diagnostic, Reason
from evatui.kernel.model.errors import ErrorKind, failure
from evatui.kernel.model.text import clean_line
from evatui.kernel.records.codes import Code, Outcome
from evatui.kernel.registry.applying import Applying
from evatui.kernel.registry.examples import Examples
from evatui.kernel.registry.looking import Looking
from evatui.kernel.registry.plan import BY_HAND, FROZEN, Change, plan_digest
from evatui.kernel.registry.publisher import Publisher
from evatui.kernel.registry.receipt import guard
from evatui.kernel.registry.registry import Registry
from evatui.kernel.registry.scan import Scan
from evatui.kernel.registry.trying import Trying
from evatui.kernel.registry.warden import Warden

__all__ = ["REST_SECONDS", "Plan", "Reloader"]

REST_SECONDS: Final = 1.0
"""After a change of some files, and so long without another one, the rest of the disk is compared too."""


@dataclass(frozen=True, slots=True)
class Plan:
    digest: str
    changes: tuple[Change, ...]
    applied: bool


class Reloader:
    """``policy`` is the one in force; ``problems`` what was wrong beyond single manifests at ``looked_at``, and
    ``idle`` the files that no manifest named then. Without ``hot`` only what someone asked for is applied.
    """

    def __init__(
        self,
        registry: Registry,
        looking: Looking,
        trying: Trying,
        examples: Examples,
        publisher: Publisher,
        applying: Applying,
        warden: Warden,
        hot: bool,
    ) -> None:
        self.policy: Policy | None = None
        self.problems: tuple[Diagnostic, ...] = ()
        self.idle: tuple[str, ...] = ()
        self.looked_at = ""
        self.frozen = False
        """What changes on disk is judged, and waits; an explicit reload is done."""
        self.before_look: Callable[[], Awaitable[object]] = _nothing
        """Awaited before all of the disk is read by order, for what is looked at beside it."""
        self.on_scan: Callable[[Scan, Actor], None] = lambda scan, actor: None
        """Called with each look at the whole disk, once its policy is in force; must be cheap, must not raise."""
        self._hot = hot
        self._registry = registry
        self._looking = looking
        self._trying = trying
        self._examples = examples
        self._publisher = publisher
        self._applying = applying
        self._warden = warden
        self._turn = asyncio.Lock()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._rest: asyncio.Task[None] | None = None
        self._reading: asyncio.Task[None] | None = None

    async def plan(self, ids: Sequence[str] = ()) -> Plan:
        """Everything up to the switch, shadow load and health included; nothing is changed."""
        async with self._turn:
            look = await self._looking.at_all(None, explicit=True, still=self._still, settle=False)
        changes = _wanted(look.changes, ids)
        tried = await asyncio.gather(*(self._trying.tried(change) for change in changes))
        return Plan(plan_digest(changes, look.scan.policy.epoch), tuple(tried), False)

    async def run(
        self,
        *,
        actor: Actor = KERNEL,
        explicit: bool = False,
        ids: Sequence[str] = (),
        expected: str | None = None,
        if_generation: str | None = None,
    ) -> Plan:
        """Applies what the disk holds, all of it read again. Waits for every publish, not for the drains that follow.

        What is sound takes effect together. ``expected`` is the digest of a plan: raises `CallFailed` ``Conflict``
        where the disk has moved since, or where ``if_generation`` is none of what serves as ``ids`` by now. A defect of
        the kernel itself is raised once all others have ended.
        """
        await self.before_look()
        digest, changes, work = await self._look(None, actor, explicit, ids, expected, if_generation)
        ended = dict(zip(work, await _all(work.values()), strict=True))
        return Plan(digest, tuple(ended.get(change.key, change) for change in changes), True)

    async def follow(self, changed: frozenset[str]) -> None:
        """Applies what has changed on disk, and waits for nothing of it: a slow load holds up no other one.

        ``changed`` names files that must be read again. Where nothing but those can have to do with it, the rest of
        the disk is compared later. An empty set says to look at everything: by signatures now, by the bytes at leisure.
        """
        for path in changed:
            owner = self._registry.capabilities.get(self._examples.owner(path) or "")
            if owner is not None and owner.rejection is not None:
                owner.again |= owner.rejection.diagnostics[0].reason is Reason.EXAMPLES_FAILED
        work = await self._look_at(changed)
        if work is None:
            _, _, work = await self._look(changed, KERNEL, False, (), None)
        for task in work.values():
            task.add_done_callback(self._report)
        if not changed and (self._reading is None or self._reading.done()):
            self._reading = asyncio.get_running_loop().create_task(self._read_again())

    async def _read_again(self) -> None:
        """What changed without moving a signature."""
        try:
            async for unlike in self._looking.unlike():
                await self.follow(unlike)
        except Exception as error:  # the next one may succeed
            self._registry.journal.defect("reload", error)

    @property
    def _still(self) -> str:
        """Why only what somebody asks for is applied, empty where all is."""
        return FROZEN if self.frozen else "" if self._hot else BY_HAND

    async def _look_at(self, changed: frozenset[str]) -> dict[str, asyncio.Task[Change]] | None:
        if not changed or self.policy is None:
            return None
        async with self._turn:
            changes = await self._looking.at(changed, self.policy, self._still)
            if changes is None:
                return None
            self.looked_at = self._registry.journal.at()
            work = self._apply(changes, self.policy, KERNEL)
        if self._rest is not None:
            self._rest.cancel()
        self._rest = asyncio.get_running_loop().create_task(self._look_at_rest(changed))
        return work

    async def _look_at_rest(self, changed: frozenset[str]) -> None:
        """What changed without a notice."""
        await asyncio.sleep(REST_SECONDS)
        try:
            if await self._looking.moved():
                _, _, work = await self._look(changed, KERNEL, False, (), None)
                for task in work.values():
                    task.add_done_callback(self._report)
        except Exception as error:  # the next look may succeed
            self._registry.journal.defect("reload", error)

    async def _look(
        self,
        changed: frozenset[str] | None,
        actor: Actor,
        explicit: bool,
        ids: Sequence[str],
        expected: str | None,
        if_generation: str | None = None,
    ) -> tuple[str, list[Change], dict[str, asyncio.Task[Change]]]:
        async with self._turn:
            look = await self._looking.at_all(changed, explicit=explicit, still=self._still)
            scan, changes = look.scan, _wanted(look.changes, ids)
            digest = plan_digest(changes, scan.policy.epoch)
            if expected is not None and expected != digest:
                raise failure(ErrorKind.CONFLICT, "the disk or the registry moved since the plan was made")
            for change in changes if if_generation is not None else ():
                if (capability := self._registry.capabilities.get(change.key)) is not None:
                    guard(capability, if_generation)
            self._tell_policy(scan, actor)
            self._warden.follow(scan.policy)
            self.policy, self.problems, self.idle = scan.policy, scan.problems, scan.idle
            self._registry.adapters = scan.adapters
            self.on_scan(scan, actor)
            self.looked_at = self._registry.journal.at()
            if not ids:
                self._set_strays(look.strays)
            return digest, changes, self._apply(changes, scan.policy, actor)

    def _apply(self, changes: Sequence[Change], policy: Policy, actor: Actor) -> dict[str, asyncio.Task[Change]]:
        """The work that there is, by id."""
        work = self._applying.together(changes, policy, actor)
        return {key: self._spawn(one) for key, one in work.items()}

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

    def _set_strays(self, strays: Mapping[str, Rejection]) -> None:
        known = self._registry.strays
        at = self._registry.journal.at()
        for path, rejection in strays.items():
            if path not in known or known[path][0] != rejection:
                self._registry.refusals.note(rejection, rejection.id, None, at)
        self._registry.strays = {
            path: known[path] if path in known and known[path][0] == rejection else (rejection, at)
            for path, rejection in strays.items()
        }
        if self._registry.strays != known:
            self._registry.on_change()

    def _spawn(self, work: Coroutine[Any, Any, Change]) -> asyncio.Task[Change]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def close(self) -> None:
        """Ends what is loading; nothing of it has been published."""
        await _given_up(self._reading)
        await _given_up(self._rest)  # the last: reading again may have asked for one more look at the rest
        tasks = (*self._tasks,)
        for task in tasks:
            task.cancel()
        await self._publisher.close()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _nothing() -> None:
    """There is nothing beside the disk of the workspace."""


async def _given_up(looking: asyncio.Task[None] | None) -> None:
    if looking is not None:
        looking.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await looking


async def _all(work: Iterable[asyncio.Task[Change]]) -> list[Change]:
    """What came of each; raises what the first one raised once all have ended."""
    tasks = list(work)
    ended = await asyncio.gather(*tasks, return_exceptions=True)
    for one in ended:
        if isinstance(one, BaseException):
            raise one
    return [task.result() for task in tasks]


def _wanted(changes: Sequence[Change], ids: Sequence[str]) -> list[Change]:
    """The changes of ``ids`` (or manifest paths), or all. Raises `CallFailed` ``NotFound`` for one that is unknown."""
    known = {name for change in changes for name in (change.key, change.path)}
    for name in ids:
        if name not in known:
            raise failure(ErrorKind.NOT_FOUND, f"no capability with the id {clean_line(name, 128)}")
    return [change for change in changes if not ids or change.key in ids or change.path in ids]
