"""What was said to a device and by it, for people who watch. It is heard where it is read anyway: a tap opens nothing
and takes no byte from anybody."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Final, Protocol

from evatui.hardware.moment import Moment

__all__ = ["SECONDS", "Direction", "Heard", "Listening", "Log", "Tap", "Totals"]

SECONDS: Final = 60
_MAX_BYTES: Final = 65_536
_MAX_SHOWN: Final = 1_024
_MAX_MESSAGES: Final = 4_096


class Direction(StrEnum):
    RECEIVED = "rx"
    SENT = "tx"


@dataclass(frozen=True, slots=True)
class Heard:
    """``data`` is the beginning of what was said, which had ``size`` bytes; ``epoch`` is that of the lease."""

    seq: int
    at: str
    direction: Direction
    data: bytes
    size: int
    epoch: int


@dataclass(slots=True)
class Totals:
    """``discarded`` came when nobody had asked; ``gaps``: so often more had come than the system keeps."""

    rx_bytes: int = 0
    tx_bytes: int = 0
    rx_messages: int = 0
    tx_messages: int = 0
    discarded: int = 0
    gaps: int = 0


@dataclass(frozen=True, slots=True)
class Listening:
    """``missed`` fell out of the ring before it was asked for."""

    heard: Sequence[Heard]
    missed: int
    last: int


class Log(Protocol):
    """Where all of it goes as well; it raises nothing."""

    def __call__(self, heard: Heard) -> None: ...
    def close(self) -> None: ...


@dataclass
class Tap:
    """Thread-safe. Keeps the newest 64 KiB, at most 4,096 messages, and the bytes of each of the last 60 seconds.
    Whoever asks never waits for the disk of the log."""

    now: Callable[[], Moment]
    log: Log | None = None
    lines: Mapping[str, bool] = field(default_factory=lambda: MappingProxyType({}))

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self._logging = threading.Lock()
        self._ring: deque[Heard] = deque()
        self._kept = 0
        self._seq = 0
        self._totals = Totals()
        self._seconds: deque[tuple[int, int]] = deque(maxlen=SECONDS)

    def log_to(self, log: Log | None) -> None:
        """In place of where it went until now, which is closed. Blocking."""
        with self._logging:
            before, self.log = self.log, log
            if before is not None:
                before.close()

    def sent(self, data: bytes, epoch: int) -> None:
        self._note(Direction.SENT, data, epoch)

    def received(self, data: bytes, epoch: int) -> None:
        if data:
            self._note(Direction.RECEIVED, data, epoch)

    def discarded(self, count: int, *, full: bool) -> None:
        with self._lock:
            self._totals.discarded += count
            self._totals.gaps += full

    def since(self, after: int, limit: int) -> Listening:
        """The newest ``limit`` of what was heard after ``after``; what lies between is missed as well."""
        with self._lock:
            found = [heard for heard in self._ring if heard.seq > after][-limit:]
            first = found[0].seq if found else self._seq + 1
            return Listening(found, max(0, first - after - 1) if after else 0, self._seq)

    @property
    def totals(self) -> Totals:
        with self._lock:
            found = self._totals
            return Totals(
                found.rx_bytes, found.tx_bytes, found.rx_messages, found.tx_messages, found.discarded, found.gaps
            )

    @property
    def traffic(self) -> list[int]:
        """Bytes of each of the last 60 seconds, both ways, the oldest first."""
        second = int(self.now().monotonic)
        with self._lock:
            found = dict(self._seconds)
        return [found.get(second - ago, 0) for ago in range(SECONDS - 1, -1, -1)]

    def _note(self, direction: Direction, data: bytes, epoch: int) -> None:
        now = self.now()
        with self._logging:
            with self._lock:
                self._seq += 1
                heard = Heard(self._seq, now.at, direction, data[:_MAX_SHOWN], len(data), epoch)
                self._ring.append(heard)
                self._kept += len(heard.data)
                while self._kept > _MAX_BYTES or len(self._ring) > _MAX_MESSAGES:
                    self._kept -= len(self._ring.popleft().data)
                self._count(direction, len(data), int(now.monotonic))
            if self.log is not None:
                self.log(heard)

    def _count(self, direction: Direction, size: int, second: int) -> None:
        totals = self._totals
        if direction is Direction.SENT:
            totals.tx_bytes, totals.tx_messages = totals.tx_bytes + size, totals.tx_messages + 1
        else:
            totals.rx_bytes, totals.rx_messages = totals.rx_bytes + size, totals.rx_messages + 1
        if self._seconds and self._seconds[-1][0] == second:
            size += self._seconds.pop()[1]
        self._seconds.append((second, size))
