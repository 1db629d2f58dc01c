"""What a call needs from the program that it is a call of."""

from __future__ import annotations

from typing import Protocol

from evatui.kernel.lua.port import StatePort
from evatui.kernel.lua.program import Program
from evatui.kernel.lua.threads import Task
from evatui.kernel.lua.watchdog import Watchdog
from evatui.kernel.model.errors import ErrorKind

__all__ = ["Killable", "Owner"]


class Killable(Protocol):
    def kill(self, kind: ErrorKind) -> bool:
        """Whether this is what ended it."""
        ...


class Owner(Protocol):
    """Where a call gets its state from, and its share of the threads."""

    program: Program
    watchdog: Watchdog

    def borrow(self) -> StatePort | None:
        """A state that is loaded, if one is idle."""
        ...

    def fresh(self) -> StatePort:
        """A new state, to be loaded. Cheap: what takes time is done by its first entry, which can be killed."""
        ...

    def submit(self, step: Task) -> None: ...

    def finished(self, call: Killable, state: StatePort | None) -> None:
        """The end of a call. Its state, if given, may serve again."""
        ...

    def strike(self, kind: ErrorKind) -> None:
        """A call ended in a way that speaks against its handler: see `Engine.load`. At most one a call."""
        ...

    def lost(self) -> None: ...

    def found(self) -> None: ...
