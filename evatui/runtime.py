"""The composition root: builds the kernel's rooms for one workspace. The only file that knows them all."""

from __future__ import annotations

import asyncio
import contextlib
import datetime as dt
import os
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from evatui.adapters.http import Http
from evatui.adapters.process import Processes
from evatui.kernel.admission.policy import Policy
from evatui.kernel.host.credentials import Credentials
from evatui.kernel.host.host import Host
from evatui.kernel.host.ports import Outside
from evatui.kernel.lua.engine import Engine
from evatui.kernel.lua.worker.facts import sandbox_facts
from evatui.kernel.lua.worker.workers import Workers
from evatui.kernel.model.call import KERNEL, CallReport, CallRequest
from evatui.kernel.model.clock import SYSTEM_CLOCK, Clock, rfc3339
from evatui.kernel.model.diagnostic import Diagnostic
from evatui.kernel.model.event import Event
from evatui.kernel.records.codes import Code, Outcome
from evatui.kernel.records.events import EventBus
from evatui.kernel.records.metrics import Metrics
from evatui.kernel.registry.approvals import Approvals
from evatui.kernel.registry.calls import Calls
from evatui.kernel.registry.examples import Examples
from evatui.kernel.registry.gate import Gate
from evatui.kernel.registry.gauges import gauges
from evatui.kernel.registry.in_force import InForce
from evatui.kernel.registry.journal import Journal
from evatui.kernel.registry.keeper import LOOK_EVERY_S, Keeper
from evatui.kernel.registry.keeping import Keeping
from evatui.kernel.registry.migrations import Migrations
from evatui.kernel.registry.operations import Operations
from evatui.kernel.registry.publisher import Publisher
from evatui.kernel.registry.pulse import Pulse
from evatui.kernel.registry.refusals import Refusals
from evatui.kernel.registry.registry import Registry
from evatui.kernel.registry.reload import Reloader
from evatui.kernel.registry.restoring import Restoring, remembered
from evatui.kernel.registry.rollout.canaries import Canaries
from evatui.kernel.registry.rollout.orders import Rollouts
from evatui.kernel.registry.rollout.trials import Trials
from evatui.kernel.registry.scan import Scanner
from evatui.kernel.registry.shadow import Shadow
from evatui.kernel.registry.state_folder import AUDIT_DIR, StateFolder
from evatui.kernel.registry.table import Table
from evatui.kernel.registry.trust import Trust
from evatui.kernel.registry.undoing import Undoing
from evatui.kernel.registry.warden import Warden
from evatui.kernel.storage.grant_book import GrantBook
from evatui.kernel.storage.history import History
from evatui.kernel.storage.rejection_book import RejectionBook
from evatui.kernel.storage.state_store import StateStore
from evatui.kernel.workspace.files import Tree
from evatui.kernel.workspace.home import OperatorHome
from evatui.kernel.workspace.layout import Layout, open_layout
from evatui.kernel.workspace.lock import WorkspaceHeld, WorkspaceLock
from evatui.kernel.workspace.watch import Watch

__all__ = ["AUDIT_DIR", "Runtime"]

_LOADS_AT_ONCE = 64


class Runtime:
    """A workspace that serves. Every method is for the loop that opened it.

    ``writes`` False is a runtime for the moment: it serves from memory, writes nothing and watches
    nothing, so that a reading command leaves the workspace as it was; and it loads in order, so that
    the same workspace always gives the same picture.
    """

    def __init__(
        self,
        layout: Layout,
        tree: Tree,
        folder: StateFolder,
        clock: Clock,
        *,
        writes: bool,
        lock: WorkspaceLock | None = None,
        home: OperatorHome | None = None,
        bus: EventBus | None = None,
    ) -> None:
        self.layout = layout
        self.clock = clock
        self.since: dt.datetime = clock.now()
        self.audit = folder.audit
        self.seal = folder.seal
        self.bus = EventBus(clock) if bus is None else bus
        database, store, audit = folder.state, folder.store, folder.audit
        self.history = History(database)
        self.store = store
        self.watch: Watch | None = None
        self.lost = ""
        """Why the workspace is not this runtime's any more, empty while it is."""
        self.on_lost: Callable[[], None] = lambda: None
        """Called on the loop, once, when ``lost`` was set: whoever opened the runtime is to close it."""
        self.on_look: Callable[[], Awaitable[None]] = _nothing
        """Awaited after each look at the state folder, once a second."""
        self._folder = folder
        self._tree = tree
        self.sandbox = sandbox_facts()
        self.workers = Workers()
        self.engine = Engine(workers=self.workers)
        self._journal = Journal(self.bus, audit, clock)
        self.refusals = Refusals(RejectionBook(database), self._journal)
        self.registry = Registry(self._journal, self.refusals, clock)
        in_force = InForce(lambda: self.reloader.policy)
        self.state = state = StateStore(database)
        host = Host(
            layout=layout,
            tree=tree,
            state=state,
            events=self.bus,
            invoke=self.call,
            clock=clock,
            outside=Outside(Http(), Processes(), Credentials(os.environ)),
        )
        self.trust = Trust(home, layout.root, writes=writes)
        self.gate = Gate(GrantBook(database), self.trust, clock)
        self.warden = Warden(self.registry, self.workers)
        shadow = Shadow(self.engine, host, clock, in_force.permissions, self.warden)
        self.pulse = Pulse(self.registry, shadow, layout.runtime.health_interval_s)
        self.pulse.on_defect = partial(self._journal.defect, "pulse")
        self.examples = Examples(shadow, tree, layout, clock)
        keeping = Keeping(self.history, store, state, clock)
        migrations = Migrations(shadow, state, self.history, self._journal, clock)
        self.canaries = Canaries(self.registry, keeping, self.gate, lambda: self.reloader.policy, clock)
        publisher = Publisher(
            self.registry,
            shadow,
            self.gate,
            self.history,
            keeping,
            self.examples,
            self.canaries,
            migrations,
            clock,
            layout.runtime.max_live_generations,
        )
        self.reloader = Reloader(
            self.registry,
            Scanner(layout, tree, self.sandbox, home),
            shadow,
            self.examples,
            migrations,
            publisher,
            self.warden,
            self.gate,
            layout.runtime,
            at_once=_LOADS_AT_ONCE if writes else 1,
        )
        self._restoring = Restoring(self.registry, self.reloader, publisher, self.gate, store, layout, self.sandbox)
        self.reloader.before = self._restoring.beside
        self.operations = Operations(
            self.registry,
            self.reloader,
            self._restoring,
            self.warden,
            self.history,
            keeping,
            self.canaries,
            migrations,
            clock,
        )
        self.rollouts = Rollouts(self.registry, self.canaries, clock)
        self.undoing = Undoing(self.registry, self.operations, self.rollouts)
        self.trials = Trials(self.registry, self.operations, self._restoring, state, clock)
        self.approvals = Approvals(self.registry, self.reloader, self.gate, clock)
        self.calls = Calls(self.registry, host, audit, clock, in_force, layout.name)
        self.calls.observers += [self.canaries.observe, self.trials.observe]
        self.shadow = shadow
        self._keeper = Keeper(layout.state_dir, lock, audit, folder.databases)
        self._keeping: asyncio.Task[None] | None = None
        self._watching: asyncio.Task[None] | None = None
        self._beating: asyncio.Task[None] | None = None
        self._closed = False
        self._listeners: list[Callable[[], None]] = []
        self.metrics = Metrics(partial(gauges, self.registry))
        self.bus.on_emit = self._told
        audit.on_append = self._recorded
        self.calls.on_flight = self._changed
        self.registry.on_change = self._changed
        self.refusals.on_kept = self._changed

    @classmethod
    async def open(
        cls,
        root: Path,
        *,
        state_dir: Path | None = None,
        writes: bool = True,
        clock: Clock = SYSTEM_CLOCK,
        home: OperatorHome | None = None,
    ) -> Runtime:
        """The workspace at ``root``, as `serve` does; raises `WorkspaceError` for a folder that is none."""
        layout = await asyncio.to_thread(open_layout, root, state_dir)
        return await cls.serve(layout, writes=writes, clock=clock, home=home)

    @classmethod
    async def serve(
        cls,
        layout: Layout,
        *,
        writes: bool = True,
        clock: Clock = SYSTEM_CLOCK,
        lock: WorkspaceLock | None = None,
        home: OperatorHome | None = None,
        audit_fd: int | None = None,
        bus: EventBus | None = None,
    ) -> Runtime:
        """Loads all that is sound and serves it. ``lock`` is the caller's, and stays it: it is only looked after.

        ``home`` holds the operator's own policy and whom they trust; without one there is no such policy, and
        whoever opens the runtime vouches for the workspace, and nobody signs its audit log. ``audit_fd`` is a
        descriptor that gets each audit record as well, and without which no call runs. ``bus`` is that of the runtime
        before it, whose events its listeners have and whose numbers go on.

        Raises `StorageError` for a state database that cannot be used, `CallFailed` ``AuditUnavailable``
        for an audit log that cannot.
        """
        runtime = await asyncio.to_thread(_build, cls, layout, writes, clock, lock, home, audit_fd, bus)
        try:
            await runtime._start(writes)
        except BaseException:
            await runtime.close()
            raise
        return runtime

    async def _start(self, writes: bool) -> None:
        self.registry.remembered = await asyncio.to_thread(remembered, self.history)
        if writes:
            self._journal.write(Code.RUNTIME_STARTED, Outcome.OK, KERNEL)
            self.watch = Watch(self.layout)
            self._keeping = asyncio.create_task(self._keep())
        await asyncio.to_thread(self.gate.load)
        await self.reloader.run(explicit=True)
        await self._restoring.fall_back()
        if not writes:
            await self.refusals.settled()  # the same workspace always gives the same picture
        self.gate.starting = False
        self.bus.emit("/runtime/started", {"workspace": self.layout.name, "mode": self.layout.runtime.mode})
        if self.watch is not None:
            self._watching = asyncio.create_task(self._follow(self.watch))
            self._beating = asyncio.create_task(self.pulse.run())

    @property
    def table(self) -> Table:
        return self.registry.table

    @property
    def problems(self) -> tuple[Diagnostic, ...]:
        """What is wrong beyond single manifests: on disk, and with what the runtime itself holds there."""
        return (*self._keeper.problems, *self.reloader.problems)

    @property
    def policy(self) -> Policy | None:
        return self.reloader.policy

    async def call(self, request: CallRequest) -> CallReport:
        return await self.calls.call(request)

    def on_change(self, notify: Callable[[], None]) -> None:
        """``notify`` is called, from any thread and often, when something happened; it must be cheap."""
        self._listeners.append(notify)

    def _told(self, event: Event) -> None:
        self.metrics.told(event)
        self._changed()

    def _recorded(self, record: Mapping[str, Any]) -> None:
        self.metrics.recorded(record)
        self._changed()

    def _changed(self) -> None:
        for notify in self._listeners:
            notify()

    async def _follow(self, watch: Watch) -> None:
        async for changed in watch:
            try:
                await self.reloader.follow(changed)
            except Exception as error:  # the next look may succeed; a watch that dies would be silence
                self._journal.defect("reload", error)

    async def _keep(self) -> None:
        """Once a second: what was deleted under the runtime is made again, and who lost the workspace ends.

        A second runtime can start within that second, where the whole state folder went away. Then it is the one
        that holds the lock on disk, and this one writes nothing any more: calls under way end as ``AuditUnavailable``.
        """
        while True:
            await asyncio.sleep(LOOK_EVERY_S)
            try:
                for noticed in await asyncio.to_thread(self._keeper.look):
                    self._journal.write(Code.RUNTIME_DAMAGED, Outcome.ERROR, KERNEL, cause=noticed)
                    self.bus.emit("/runtime/damaged", {"cause": noticed})
                await self.on_look()
            except WorkspaceHeld as held:
                self.lost = str(held)
                self.bus.emit("/runtime/lost", {"cause": self.lost})
                self.on_lost()
                return
            except Exception as error:  # the next look may succeed
                self._journal.defect("keeper", error)

    def cut(self) -> int:
        """Ends every call in flight; returns how many."""
        return self.registry.cut()

    async def close(self, within_ms: int | None = None) -> int:
        """Stops watching and routing, drains, closes the audit log. Returns the number of calls cut. Idempotent.

        ``within_ms`` is how long calls are waited for, where that is not what the settings say.
        """
        if self._closed:
            return 0
        self._closed = True
        await _ended(self._keeping)
        if self.watch is not None:
            await self.watch.close()
        await _ended(self._watching)
        await _ended(self._beating)
        await self.reloader.close()
        await self.canaries.close()
        await self.trials.close()
        cut = await self.registry.close(self.layout.runtime.shutdown_timeout_ms if within_ms is None else within_ms)
        self.bus.emit("/runtime/stopped", {"cut": cut, "at": rfc3339(self.clock.now())})
        if self._watching is not None:
            self._journal.write(Code.RUNTIME_STOPPED, Outcome.OK, KERNEL, cut=cut)
        await asyncio.to_thread(self._shut)
        return cut

    def _shut(self) -> None:
        """All of it, also where a part fails to close."""
        with contextlib.ExitStack() as closing:
            for close in (
                self._tree.close,
                self._folder.close,
                self.workers.close,
                self.engine.close,
                self._journal.close,
            ):
                closing.callback(close)  # the last one first


async def _nothing() -> None:
    """Nobody else has anything to look at."""


async def _ended(task: asyncio.Task[None] | None) -> None:
    if task is not None:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


def _build(
    cls: type[Runtime],
    layout: Layout,
    writes: bool,
    clock: Clock,
    lock: WorkspaceLock | None,
    home: OperatorHome | None,
    audit_fd: int | None,
    bus: EventBus | None,
) -> Runtime:
    """Opens files and databases: blocking, so in a thread. What was opened is closed where the rest fails."""
    with contextlib.ExitStack() as opened:
        folder = StateFolder.open(layout, clock, writes=writes, home=home, audit_fd=audit_fd)
        opened.callback(folder.close)
        tree = Tree(layout.root)
        opened.callback(tree.close)
        runtime = cls(layout, tree, folder, clock, writes=writes, lock=lock, home=home, bus=bus)
        opened.pop_all()
    return runtime
