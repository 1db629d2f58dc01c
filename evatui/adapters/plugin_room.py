"""What all plugins of a runtime share, and what each run of one is lent: what it runs from, and where it works."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evatui.adapters.plugin_tasks import PluginTasks
from evatui.adapters.plugin_work import work_folder
from evatui.extensions.plugins.plugin import Plugin
from evatui.extensions.plugins.verified import Verified
from evatui.kernel.host.ports import ProcessPort

__all__ = ["Lent", "PluginRoom"]


@dataclass(frozen=True, slots=True)
class Lent:
    """For one run: the read-only ``package``, and ``work``, an empty folder."""

    package: Path
    work: Path


@dataclass(frozen=True, slots=True)
class PluginRoom:
    """``work`` is where folders to work in are made, and ``shown`` how that is named; ``confines``: the kernel has
    walls to offer, Landlock or seccomp. ``tell`` emits below ``/plugin``, from any thread."""

    verified: Verified
    processes: ProcessPort
    work: Path
    shown: str
    environ: Mapping[str, str]
    confines: bool
    tasks: PluginTasks
    tell: Callable[[str, Mapping[str, Any]], None]
    busy: set[str] = field(default_factory=set)

    @asynccontextmanager
    async def lent(self, plugin: Plugin, run: str, beside: str = "") -> AsyncIterator[Lent]:
        """What ``run`` is given of ``plugin``; both stay at least as long. Raises `CallFailed`.

        What is no tool has its folders ``beside``, so that many runs of it push no tool's files out.
        """
        with self.verified.held(plugin):
            self.busy.add(run)
            try:
                package = await asyncio.to_thread(self.verified.make, plugin)
                work = await asyncio.to_thread(
                    work_folder, self.work, f"{plugin.name}{beside}", run, frozenset(self.busy)
                )
                yield Lent(package, work)
            finally:
                self.busy.discard(run)
