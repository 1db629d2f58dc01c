"""An open device: requests and answers, one at a time, in a thread of its own."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from evatui.hardware.dialect import Dialect, Line
from evatui.hardware.framing import FrameTooLarge
from evatui.hardware.port import Port
from evatui.hardware.trouble import Trouble
from evatui.kernel.model.errors import ErrorKind

__all__ = ["Connection"]

T = TypeVar("T")


class Connection:
    """For one loop. After a `Trouble` it is broken, and of no more use than to be closed."""

    def __init__(self, reach: Callable[[], tuple[str, Callable[[], None]]], line: Line) -> None:
        """``reach`` gives what opens the device, and what lets go of that; it is called in the thread."""
        self._reach = reach
        self._line = line
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="eva-device")
        self._port: Port | None = None
        self._let_go: Callable[[], None] = _nothing
        self._given_up = threading.Event()
        self._number = 0

    async def open(self) -> None:
        await self._in_thread(self._open)

    async def greet(self, dialect: Dialect) -> None:
        """Asks the device who it is, where its manifest says how. Raises `Trouble` ``DeviceHandshakeFailed``."""
        if dialect.handshake is not None:
            await self._in_thread(self._greet, dialect)

    async def ask(self, dialect: Dialect, capability: str, payload: Any, left_s: float) -> Any:
        """The answer of the device. A cancelled one is given up, and breaks the connection."""
        return await self._in_thread(self._ask, dialect, capability, payload, time.monotonic() + left_s)

    def give_up(self) -> None:
        """Whatever is under way ends, at once as far as the system lets it; it is closed in the background."""
        self._given_up.set()
        if self._port is not None:
            self._port.cancel()
        with contextlib.suppress(RuntimeError):  # it was given up before
            self._thread.submit(self._close)
        self._thread.shutdown(wait=False)

    async def close(self) -> None:
        """Ends it, and waits for that."""
        self.give_up()
        await asyncio.to_thread(self._thread.shutdown, True)

    async def _in_thread(self, work: Callable[..., T], *given: Any) -> T:
        try:
            doing = asyncio.get_running_loop().run_in_executor(self._thread, work, *given)
        except RuntimeError:
            raise _gone() from None
        try:
            return await asyncio.shield(doing)
        except asyncio.CancelledError:
            self.give_up()
            doing.add_done_callback(_forget)
            raise

    # -- in the thread -------------------------------------------------------------------------

    def _open(self) -> None:
        path, self._let_go = self._reach()
        try:
            self._port = Port(path, self._line)
        except Trouble:
            self._let_go()
            self._let_go = _nothing
            raise

    def _close(self) -> None:
        if self._port is not None:
            self._port.close()
        self._let_go()

    def _greet(self, dialect: Dialect) -> None:
        assert dialect.handshake is not None
        said, expected = dialect.handshake
        try:
            frame = self._exchange(dialect, said, time.monotonic() + dialect.handshake_s, lambda frame: frame)
        except Trouble as trouble:
            if trouble.kind is ErrorKind.DEVICE_DISCONNECTED:
                raise
            raise Trouble(
                ErrorKind.DEVICE_HANDSHAKE_FAILED, f"its greeting: {trouble.message}", retryable=True
            ) from None
        if not frame.startswith(expected.encode()):
            message = "another device answers than the manifest describes"
            raise Trouble(ErrorKind.DEVICE_HANDSHAKE_FAILED, message)

    def _ask(self, dialect: Dialect, capability: str, payload: Any, until: float) -> Any:
        self._number = number = self._number + 1
        said = dialect.request(capability, payload, number)
        return self._exchange(dialect, said, until, lambda frame: dialect.answer(frame, number))

    def _exchange(self, dialect: Dialect, said: bytes, until: float, take: Callable[[bytes], Any]) -> Any:
        port, framer = self._port, dialect.framer()
        if port is None or self._given_up.is_set():
            raise _gone()
        port.discard()
        port.write(said)
        while time.monotonic() < until and not self._given_up.is_set():
            try:
                frames = framer.feed(port.read(until))
            except FrameTooLarge:
                message = "the device sent more than a message may have"
                raise Trouble(ErrorKind.DEVICE_FRAME_TOO_LARGE, message, sent=True) from None
            for frame in frames:
                taken = take(frame)
                if taken is not None:
                    return taken
        if self._given_up.is_set():
            raise _gone(sent=True)
        raise Trouble(ErrorKind.TIMEOUT, "the device has not answered in time", sent=True)


def _gone(*, sent: bool = False) -> Trouble:
    return Trouble(ErrorKind.DEVICE_DISCONNECTED, "the device was let go of", retryable=not sent, sent=sent)


def _nothing() -> None:
    """There is nothing behind the port."""


def _forget(doing: asyncio.Future[Any]) -> None:
    """Nobody asks how it ended."""
    if not doing.cancelled():
        doing.exception()
