"""A workspace that stands still: what changes by itself waits, what somebody orders is done."""

from __future__ import annotations

import asyncio

from evatui.kernel.model.call import Actor
from evatui.kernel.records.codes import Code, Outcome
from evatui.kernel.registry.gate import Gate
from evatui.kernel.registry.journal import Journal
from evatui.kernel.registry.plan import Action, Change
from evatui.kernel.registry.reload import Reloader
from evatui.kernel.registry.rollout.canaries import Canaries
from evatui.kernel.storage.freeze_book import FreezeBook, Frozen

__all__ = ["Freezing"]


class Freezing:
    """While it is frozen, files that change are judged and shown, but nothing of them is published, and no canary is
    promoted by itself. Refusals, policies that take something away, and a canary or version that fails, are not
    waited with. On the kernel's loop only.
    """

    def __init__(self, book: FreezeBook, reloader: Reloader, gate: Gate, canaries: Canaries, journal: Journal) -> None:
        self._book = book
        self._reloader = reloader
        self._gate = gate
        self._canaries = canaries
        self._journal = journal
        self._turn = asyncio.Lock()
        self.frozen: Frozen | None = None

    async def load(self) -> None:
        """As it was left by the runtime before. Raises `StorageError`."""
        self._take(await asyncio.to_thread(self._book.read))

    async def freeze(self, actor: Actor) -> Frozen:
        """Returns since when and by whom, which may have been somebody before. Raises `StorageError`."""
        async with self._turn:
            if self.frozen is None:
                frozen = Frozen(self._journal.at(), actor.id or actor.type.value)
                await asyncio.to_thread(self._book.write, frozen)
                self._take(frozen)
                self._tell("frozen", Code.RUNTIME_FROZEN, actor)
            assert self.frozen is not None
            return self.frozen

    async def thaw(self, actor: Actor) -> tuple[Change, ...]:
        """What had waited is published now; returns all that the disk changed. Raises `StorageError`."""
        async with self._turn:
            if self.frozen is None:
                return ()
            await asyncio.to_thread(self._book.write, None)
            self._take(None)
            self._tell("thawed", Code.RUNTIME_THAWED, actor)
            plan = await self._reloader.run(actor=actor)
            self._gate.thawed()
            self._canaries.look_at_all()
            return tuple(change for change in plan.changes if change.action is not Action.UNCHANGED)

    def _take(self, frozen: Frozen | None) -> None:
        self.frozen = frozen
        self._reloader.frozen = self._canaries.frozen = frozen is not None

    def _tell(self, what: str, code: Code, actor: Actor) -> None:
        self._journal.write(code, Outcome.OK, actor)
        self._journal.runtime(what, actor)
