"""What a call needs from the program that it is a call of."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from evatui.kernel.lua.program import Program
from evatui.kernel.lua.state import State
from evatui.kernel.lua.watchdog import Watchdog

if TYPE_CHECKING:
    from evatui.kernel.lua.call import Call

__all__ = ["Owner"]


class Owner(Protocol):
    """Where a call gets its state from, and its share of the threads."""

    program: Program
    watchdog: Watchdog

    def borrow(self) -> State | None: ...

    def submit(self, step: Callable[[], None]) -> None: ...

    def stepped(self) -> None: ...

    def leave(self, call: Call[Any], state: State | None) -> None: ...

    def lost(self) -> None: ...

    def found(self) -> None: ...
