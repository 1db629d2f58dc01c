"""What is done to a capability while it is called, and what its callers may expect meanwhile and afterwards."""

from __future__ import annotations

import asyncio
import contextlib
import random
import signal
import time
from collections.abc import Sequence

import psutil

from evatui.kernel.lua.engine import LoadedProgram
from evatui.kernel.model.errors import CallFailed, ErrorKind
from evatui.kernel.registry.capability import Capability
from evatui.runtime import Runtime
from tests.soak.churn.callers import OFF, WHO, WITHIN_S, Callers
from tests.soak.churn.ledger import Expected
from tests.soak.churn.many import Files
from tests.soak.churn.report import Report
from tests.soak.gone import Gone

__all__ = ["Deeds"]

_WAYS = ("save",) * 12 + ("break",) * 3 + ("delete",) * 2 + ("roll back",) * 2 + ("drain",) * 2 + ("kill",) * 2


class Deeds:
    """One at a time on each capability."""

    def __init__(
        self, runtime: Runtime, callers: Callers, every: Sequence[Files], report: Report, dice: random.Random
    ) -> None:
        self.gone = Gone()
        """The Lua states of what went out of service."""
        self._runtime = runtime
        self._callers = callers
        self._files = {files.id: files for files in every}
        self._report = report
        self._dice = dice

    async def go_on(self, ids: Sequence[str]) -> None:
        """One after the other, until there were as many reloads as are wanted."""
        do = {
            "save": self.save,
            "break": self._break,
            "delete": self._delete,
            "roll back": self._roll_back,
            "drain": self._drain,
            "kill": self._kill,
        }
        while self._report.reloads < self._report.wanted:
            way = self._dice.choice(_WAYS)
            self._report.did[way] += 1
            await do[way](self._dice.choice(ids))

    async def save(self, capability_id: str) -> None:
        files, expected, capability = self._of(capability_id)
        self._watch(capability)
        served, away = ((), OFF) if capability.gone else ((expected.version,), ())
        expected.may((*served, files.version + 1), *away, *_cut(files))
        await asyncio.to_thread(files.save, self._dice)
        if await self._callers.until(capability_id, files.version):
            self._report.reloaded()
        expected.must(files.version)

    async def _break(self, capability_id: str) -> None:
        files, expected, capability = self._of(capability_id)
        before, give_up = capability.rejection, time.monotonic() + WITHIN_S
        await asyncio.to_thread(files.break_it, self._dice)
        while capability.rejection is before:
            if time.monotonic() > give_up:
                self._report.problems.append(f"{capability_id}: a broken save was not refused")
                return
            await asyncio.sleep(0.005)
        await self._callers.until(capability_id, expected.version)

    async def _delete(self, capability_id: str) -> None:
        files, expected, _ = self._of(capability_id)
        expected.may([expected.version], *OFF, *_cut(files))
        await asyncio.to_thread(files.delete)
        if await self._callers.until(capability_id, None):
            await self.save(capability_id)

    async def _roll_back(self, capability_id: str) -> None:
        files, expected, capability = self._of(capability_id)
        served, old = expected.version, _program(capability)
        expected.may(range(1, files.version + 1), *_cut(files))
        try:
            receipt = await self._runtime.operations.rollback(capability_id, WHO)
        except CallFailed as refused:
            if refused.error.kind not in (ErrorKind.CONFLICT, ErrorKind.NOT_FOUND):
                self._report.problems.append(f"{capability_id}: rollback: {refused.error.message}")
            self._report.did["roll back, refused"] += 1
            expected.must(served)
            return
        self.gone.watch(old)
        del old
        version, active = await self._callers.call(capability_id), capability.active
        if version is None or version >= served or active is None or receipt.target != active.name:
            self._report.problems.append(f"{capability_id}: rolled back from {served} to {version}, {receipt.target}")
        if version is not None:
            expected.must(version)
            self._report.reloaded()

    async def _drain(self, capability_id: str) -> None:
        files, expected, capability = self._of(capability_id)
        served = expected.version
        self._watch(capability)
        expected.may([served], *OFF, *_cut(files))
        await self._runtime.operations.drain(capability_id, WHO)
        if await self._callers.call(capability_id) is not None:
            self._report.problems.append(f"{capability_id}: it was drained and answers")
        receipt = await self._runtime.operations.enable(capability_id, WHO)
        if receipt.target is None:
            self._report.problems.append(f"{capability_id}: it was enabled and serves nothing: {receipt.note}")
        expected.must(served)
        await self._callers.until(capability_id, served)
        self._report.reloaded()

    async def _kill(self, capability_id: str) -> None:
        """Of one that runs in the process, all calls in flight; else any process of those that have one."""
        files, expected, capability = self._of(capability_id)
        if files.in_process:
            expected.excuse(ErrorKind.CANCELLED)
            self._report.cut["by kills"] += _program(capability).kill(ErrorKind.CANCELLED)
            return
        processes = [child for nursery in psutil.Process().children() for child in nursery.children()]
        if processes:
            for other in self._files.values():
                if not other.in_process:
                    self._callers.expected[other.id].excuse(ErrorKind.INTERNAL)
            with contextlib.suppress(psutil.NoSuchProcess):
                self._dice.choice(processes).send_signal(signal.SIGKILL)

    def _of(self, capability_id: str) -> tuple[Files, Expected, Capability]:
        capability = self._runtime.registry.capabilities[capability_id]
        return self._files[capability_id], self._callers.expected[capability_id], capability

    def _watch(self, capability: Capability) -> None:
        if capability.active is not None:
            self.gone.watch(capability.active.program)


def _program(capability: Capability) -> LoadedProgram:
    assert capability.active is not None
    return capability.active.program


def _cut(files: Files) -> tuple[ErrorKind, ...]:
    """How calls may end when what they run on drains."""
    return (ErrorKind.CANCELLED,) if files.cut else ()
