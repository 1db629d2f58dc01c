"""The life of a runtime: it opens a workspace, serves it, follows the disk, and ends."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from pathlib import Path

from evatui.extensions.plugins.catalogue import PluginCatalogue
from evatui.extensions.skills.catalogue import Catalogue
from evatui.kernel.model.call import KERNEL
from evatui.kernel.model.clock import SYSTEM_CLOCK, Clock, rfc3339
from evatui.kernel.model.diagnostic import Reason
from evatui.kernel.records.codes import Code, Outcome
from evatui.kernel.records.events import EventBus
from evatui.kernel.registry.keeper import LOOK_EVERY_S
from evatui.kernel.registry.restoring import remembered
from evatui.kernel.registry.state_folder import StateFolder
from evatui.kernel.storage.probation_book import Probation
from evatui.kernel.workspace.files import Tree
from evatui.kernel.workspace.home import OperatorHome
from evatui.kernel.workspace.layout import Layout, open_layout
from evatui.kernel.workspace.lock import WorkspaceHeld, WorkspaceLock
from evatui.kernel.workspace.watch import Watch
from evatui.runtime.rooms import Rooms

__all__ = ["Runtime"]


class Runtime(Rooms):
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
        lock: WorkspaceLock | None,
        home: OperatorHome | None,
        bus: EventBus | None,
    ) -> None:
        super().__init__(layout, tree, folder, clock, writes=writes, lock=lock, home=home, bus=bus)
        self.watch: Watch | None = None
        self.lost = ""
        """Why the workspace is not this runtime's any more, empty while it is."""
        self.on_lost: Callable[[], None] = lambda: None
        """Called on the loop, once, when ``lost`` was set: whoever opened the runtime is to close it."""
        self.on_look: Callable[[], Awaitable[None]] = _nothing
        """Awaited after each look at the state folder, once a second."""
        self._keeping: asyncio.Task[None] | None = None
        self._watching: asyncio.Task[None] | None = None
        self._beating: asyncio.Task[None] | None = None
        self._closed = False
        self.reloader.before_look = self._look_beside

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
        died = await asyncio.to_thread(self.probations.load)
        self.registry.remembered = await asyncio.to_thread(remembered, self.history)
        self.trials.remember(await asyncio.to_thread(self.history.quarantines))
        if writes:
            await asyncio.to_thread(self.keeping.tidy, self.registry.remembered)
            self._journal.write(Code.RUNTIME_STARTED, Outcome.OK, KERNEL)
            self.watch = Watch(self.layout)
            self._keeping = asyncio.create_task(self._keep())
        for one in died:
            self._tell_died(one)
        await asyncio.to_thread(self.gate.load)
        await asyncio.to_thread(self.providers.book.load)
        await self.freezing.load()
        if self.watch is not None:
            await self.watch.answered()
        await self.reloader.run(explicit=self.freezing.frozen is None)
        await self._restoring.fall_back()
        if not writes:
            await self.refusals.settled()  # the same workspace always gives the same picture
            await self.skills.look()
        self.gate.started(frozen=self.freezing.frozen is not None)
        self.bus.emit("/runtime/started", {"workspace": self.layout.name, "mode": self.layout.runtime.mode})
        if self.watch is not None:
            self._watching = asyncio.create_task(self._follow(self.watch))
            self._beating = asyncio.create_task(self.pulse.run())

    def _tell_died(self, one: Probation) -> None:
        """Before anything serves; nobody has heard of the capability yet in this run."""
        reason = Reason.QUARANTINED.value
        fields = {"capability_id": one.capability_id, "digest": one.digest, "number": one.generation, "reason": reason}
        self._journal.write(Code.CAPABILITY_QUARANTINED, Outcome.DENIED, KERNEL, **fields)

    async def _follow(self, watch: Watch) -> None:
        self.skills.follow(frozenset())
        async for changed in watch:
            try:
                await self.reloader.follow(changed)
            except Exception as error:  # the next look may succeed; a watch that dies would be silence
                self._journal.defect("reload", error)
            if self._hot:
                self.skills.follow(changed)
                self.plugging.catalogue.follow(changed)

    async def _keep(self) -> None:
        """Once a second: what was deleted under the runtime is made again, and who lost the workspace ends.

        A second runtime can start within that second, where the whole state folder went away. Then it is the one
        that holds the lock on disk, and this one writes nothing any more: calls under way end as ``AuditUnavailable``.
        """
        told = ""
        while True:
            await asyncio.sleep(LOOK_EVERY_S)
            try:
                for noticed in await asyncio.to_thread(self._keeper.look):
                    self._journal.write(Code.RUNTIME_DAMAGED, Outcome.ERROR, KERNEL, cause=noticed)
                    self.bus.emit("/runtime/damaged", {"cause": noticed})
                told = self._tell_audit(told)
                await self.hardware.open()
                await self.probations.look(self.registry.runs)
                await self.on_look()
            except WorkspaceHeld as held:
                self.lost = str(held)
                self.bus.emit("/runtime/lost", {"cause": self.lost})
                self.on_lost()
                return
            except Exception as error:  # the next look may succeed
                self._journal.defect("keeper", error)

    def _tell_audit(self, told: str) -> str:
        """Emits how the audit log is by now, where that is not what was told last; returns that."""
        _, word, detail = self.audit.health
        if word != told:
            self.bus.emit(f"/audit/{word or 'recovered'}", {"detail": detail, "since": self.audit.unwell_since})
        return word

    # -- beside capabilities -----------------------------------------------------------------

    @property
    def _hot(self) -> bool:
        """Does what changes on disk take effect by itself? Where nothing is watched, each look is an order."""
        return self.watch is None or (self.layout.runtime.hot_reload and self.freezing.frozen is None)

    async def skills_now(self) -> Catalogue:
        """As the disk has them; where changes wait for an order, as they are in force."""
        return await (self.skills.look() if self._hot else self.skills.known())

    async def plugins_now(self) -> PluginCatalogue:
        """As `skills_now`."""
        return await self.plugging.catalogue.look() if self._hot else self.plugging.catalogue.latest

    async def _look_beside(self) -> None:
        """For an order; skills that nobody has asked for yet are looked at when somebody does."""
        await self.plugging.catalogue.look()
        if self.skills.looked:
            await self.skills.look()

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
        await self.skills.close()
        await self.plugging.catalogue.close()
        await _ended(self._beating)
        await self.reloader.close()
        self.calls.observers.clear()  # how calls end from now on promotes nothing, and brings nothing back
        await self.canaries.close()
        await self.trials.close()
        self.calls.ending = True
        within_ms = self.layout.runtime.shutdown_timeout_ms if within_ms is None else within_ms
        cut = await self.registry.close(within_ms)
        await self.providers.close(within_ms / 1000)
        await self.hooking.close(within_ms / 1000)
        await self.hardware.close()
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
                self.plugging.shut,
                self.probations.ended,
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
