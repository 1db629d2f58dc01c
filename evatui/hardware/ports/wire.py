"""What every open device has in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

__all__ = ["Wire"]


class Wire(Protocol):
    """For one thread, but for `cancel`. Every method raises `Trouble`, but for `lines`, `cancel` and `close`, which
    raise nothing."""

    @property
    def packets(self) -> bool:
        """Does each `read` give one whole message?"""
        ...

    def write(self, data: bytes) -> None:
        """All of ``data``, within a time."""
        ...

    def read(self, until: float) -> bytes:
        """What has come, at least a byte; nothing once ``until`` (monotonic seconds) has passed, or `cancel` came."""
        ...

    def discard(self) -> int:
        """What has come and nobody has read; how much that was, as far as that can be known."""
        ...

    def lines(self) -> Mapping[str, bool]:
        """The lines that a modem would show, by name; none where there are none."""
        ...

    def cancel(self) -> None:
        """From any thread: whoever reads or writes is to stop."""
        ...

    def close(self) -> None: ...
