"""How a worker is got, whichever way processes are started here."""

from __future__ import annotations

import socket
from dataclasses import dataclass
from typing import Protocol

__all__ = ["Launched", "Launcher", "NotLaunched", "Process"]


class NotLaunched(Exception):
    """There is no worker to be had; the message says why, without a path."""


class Process(Protocol):
    """A worker process. Any thread may ask."""

    def kill(self) -> None:
        """Never hits another process, also when this one is long gone."""
        ...

    def ended(self) -> int | None:
        """How it ended: its exit code, or the signal below zero; None where that cannot be learnt soon."""
        ...

    def ran_s(self) -> float | None:
        """Seconds for which it has run on a processor; None where that cannot be told."""
        ...

    def close(self) -> None:
        """Lets go of it, once it was killed or its connection is closed. Idempotent."""
        ...


@dataclass(frozen=True, slots=True)
class Launched:
    sock: socket.socket
    process: Process


class Launcher(Protocol):
    def start(self) -> None:
        """Gets ready, where that takes time. Raises `NotLaunched`."""
        ...

    def launch(self, memory_bytes: int) -> Launched:
        """A confined worker with an empty state. Blocks for some milliseconds. Raises `NotLaunched`."""
        ...

    def close(self) -> None:
        """Ends all that it started. Idempotent."""
        ...
