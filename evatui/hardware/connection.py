"""An open device: requests and answers, one at a time, in a thread of its own."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

from evatui.hardware.dialect import Dialect
from evatui.hardware.framing import FrameTooLarge
from evatui.hardware.ports.hid_port import FULL
from evatui.hardware.ports.wire import Wire
from evatui.hardware.tap import Tap
from evatui.hardware.trouble import Trouble
from evatui.hardware.worker import Worker
from evatui.kernel.model.errors import ErrorKind

__all__ = ["Connection"]

T = TypeVar("T")


class Connection:
    """For one loop. After a `Trouble` it is broken, and of no more use than to be closed."""

    def __init__(self, opener: Callable[[], Wire], tap: Tap) -> None:
        """``opener`` is called in the thread; ``tap`` hears what is said."""
        self._opener = opener
        self._tap = tap
        self._worker = Worker()
        self._wire: Wire | None = None
        self._given_up = threading.Event()
        self._number = 0

    async def open(self, settle_s: float = 0.0) -> None:
        await self._in_thread(self._open, settle_s)

    async def greet(self, dialect: Dialect, epoch: int) -> None:
        """Asks the device who it is, where its manifest says how. Raises `Trouble` ``DeviceHandshakeFailed``."""
        if dialect.handshake is not None:
            await self._in_thread(self._greet, dialect, epoch)

    async def ask(self, dialect: Dialect, capability: str, payload: Any, left_s: float, epoch: int) -> Any:
        """The answer of the device, asked under the lease of that number. A cancelled one is given up, and breaks the
        connection."""
        return await self._in_thread(self._ask, dialect, capability, payload, time.monotonic() + left_s, epoch)

    def give_up(self) -> None:
        """Whatever is under way ends, at once as far as the system lets it; it is closed in the background."""
        self._given_up.set()
        if self._wire is not None:
            self._wire.cancel()
        self._worker.finish(self._close)

    async def close(self) -> None:
        """Ends it, and waits for that: from then on it writes nothing. Takes as long as the system does."""
        self.give_up()
        await self._worker.finished()

    async def _in_thread(self, work: Callable[..., T], *given: Any) -> T:
        try:
            doing = self._worker.start(work, *given)
        except RuntimeError:
            raise _gone() from None
        try:
            return await asyncio.shield(doing)
        except asyncio.CancelledError:
            self.give_up()
            doing.add_done_callback(_forget)
            raise

    # -- in the thread -------------------------------------------------------------------------

    def _open(self, settle_s: float) -> None:
        self._wire = self._opener()
        self._given_up.wait(settle_s)
        self._tap.lines = self._wire.lines()

    def _close(self) -> None:
        if self._wire is not None:
            self._wire.close()

    def _greet(self, dialect: Dialect, epoch: int) -> None:
        assert dialect.handshake is not None
        said, expected = dialect.handshake
        try:
            frame = self._exchange(dialect, said, time.monotonic() + dialect.handshake_s, lambda frame: frame, epoch)
        except Trouble as trouble:
            if trouble.kind is ErrorKind.DEVICE_DISCONNECTED:
                raise
            raise Trouble(
                ErrorKind.DEVICE_HANDSHAKE_FAILED, f"its greeting: {trouble.message}", retryable=True
            ) from None
        if not frame.startswith(expected):
            message = "another device answers than the manifest describes"
            raise Trouble(ErrorKind.DEVICE_HANDSHAKE_FAILED, message)

    def _ask(self, dialect: Dialect, capability: str, payload: Any, until: float, epoch: int) -> Any:
        self._number = number = self._number + 1
        said = dialect.request(capability, payload, number)
        return self._exchange(dialect, said, until, lambda frame: dialect.answer(frame, number), epoch)

    def _exchange(self, dialect: Dialect, said: bytes, until: float, take: Callable[[bytes], Any], epoch: int) -> Any:
        wire, tap = self._wire, self._tap
        if wire is None or self._given_up.is_set():
            raise _gone()
        if wire.packets is not dialect.packets:
            message = "its manifest does not say hid_report of a HID device, or says it of another"
            raise Trouble(ErrorKind.DEVICE_PROTOCOL_ERROR, message)
        dropped = wire.discard()
        tap.discarded(dropped, full=wire.packets and dropped >= FULL)
        tap.sent(said, epoch)
        wire.write(said)
        try:
            return self._answer(wire, dialect, until, _after_a_half(take) if dropped else take, epoch)
        finally:
            tap.lines = wire.lines()

    def _answer(self, wire: Wire, dialect: Dialect, until: float, take: Callable[[bytes], Any], epoch: int) -> Any:
        framer, heard = dialect.framer(), b""
        try:
            while time.monotonic() < until and not self._given_up.is_set():
                said = wire.read(until)
                heard += said
                frames = framer.feed(said)
                if frames:
                    self._tap.received(heard, epoch)
                    heard = b""
                for frame in frames:
                    taken = take(frame)
                    if taken is not None:
                        return taken
        except FrameTooLarge:
            message = "the device sent more than a message may have"
            raise Trouble(ErrorKind.DEVICE_FRAME_TOO_LARGE, message, sent=True) from None
        finally:
            self._tap.received(heard, epoch)
        if self._given_up.is_set():
            raise _gone(sent=True)
        raise Trouble(ErrorKind.TIMEOUT, "the device has not answered in time", sent=True)


def _after_a_half(take: Callable[[bytes], Any]) -> Callable[[bytes], Any]:
    """What was dropped may have ended within a message: what is left of that is no fault of the device."""
    halves = [True]

    def taken(frame: bytes) -> Any:
        torn = bool(halves and halves.pop())
        try:
            return take(frame)
        except Trouble as trouble:
            if torn and trouble.kind is ErrorKind.DEVICE_PROTOCOL_ERROR:
                return None
            raise

    return taken


def _gone(*, sent: bool = False) -> Trouble:
    return Trouble(ErrorKind.DEVICE_DISCONNECTED, "the device was let go of", retryable=not sent, sent=sent)


def _forget(doing: asyncio.Future[Any]) -> None:
    """Nobody asks how it ended."""
    if not doing.cancelled():
        doing.exception()
