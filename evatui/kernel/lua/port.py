"""What a call needs of the state that it runs in, wherever that state is."""

from __future__ import annotations

from typing import Any, ClassVar, Protocol

from evatui.kernel.lua.program import Program
from evatui.kernel.model.manifest import Isolation

__all__ = ["StatePort"]


class StatePort(Protocol):
    """One Lua state. Entered by one thread at a time."""

    isolation: ClassVar[Isolation]

    def load(self, program: Program) -> tuple[Any, ...]:
        """Answers as `enter` does; to be called once, first."""
        ...

    def enter(self, operation: int, data: bytes) -> tuple[Any, ...]:
        """``(Answer, part, …)``, the parts plain values. After `kill` it is ``(NO_MEMORY,)``."""
        ...

    def kill(self) -> None:
        """From any thread: ends what runs here, at once and for good."""
        ...

    def sound(self) -> bool:
        """Whether a state that nobody is in can be entered again."""
        ...

    def descriptor(self) -> int | None:
        """What becomes readable once a state that nobody is in is lost; None where it cannot be."""
        ...

    def ran_s(self) -> float | None:
        """Seconds for which it has run elsewhere than on the threads that enter it; None where that cannot be told."""
        ...

    def close(self) -> None:
        """Frees it, while nobody is in it. Idempotent."""
        ...
