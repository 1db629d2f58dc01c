"""The worker processes of a runtime."""

from __future__ import annotations

import sys
import threading

from evatui.kernel.lua.program import Program
from evatui.kernel.lua.worker.facts import sandbox_facts
from evatui.kernel.lua.worker.launch import Launcher, NotLaunched
from evatui.kernel.lua.worker.nursery import Nursery
from evatui.kernel.lua.worker.spawn import Spawner
from evatui.kernel.lua.worker.state import WorkerState

__all__ = ["Workers"]


class Workers:
    """Starts nothing before it is asked to, by `open` or by the first program that wants a worker."""

    def __init__(self, launcher: Launcher | None = None) -> None:
        self._launcher = launcher or (Nursery() if sys.platform == "linux" else Spawner())
        self._opening: threading.Thread | None = None
        self.problem = ""
        """Why no workers can be had, once that was tried; empty while they can."""

    @property
    def available(self) -> bool:
        """Whether programs can be put into processes here."""
        return sandbox_facts().process

    def open(self) -> None:
        """Gets ready in the background, so that the first program need not wait for it. Returns at once."""
        if self.available and self._opening is None:
            self._opening = threading.Thread(target=self.get_ready, name="lua-workers", daemon=True)
            self._opening.start()

    def get_ready(self) -> None:
        """Blocks, a fraction of a second the first time. What goes wrong is in ``problem``."""
        try:
            self._launcher.start()
            self.problem = ""
        except NotLaunched as reason:
            self.problem = str(reason)

    def fresh(self, program: Program) -> WorkerState:
        return WorkerState(program, self._launcher.launch)

    def close(self) -> None:
        """Ends all processes; returns when they are gone. Idempotent."""
        self._launcher.close()
        if self._opening is not None:
            self._opening.join()
