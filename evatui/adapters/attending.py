"""The ends of a command's pipes: what it is given, what it writes, and how it ended."""

from __future__ import annotations

import os
import selectors
import socket
import subprocess
from functools import partial
from typing import IO

from evatui.kernel.host.ports import Command
from evatui.kernel.model.errors import ErrorKind, failure
from evatui.kernel.model.text import clean_line

__all__ = ["Attending"]

_CHUNK = 65_536


class Attending:
    """``told`` is what the keeper said, empty where it had nothing to say. Blocking: for a thread of its own."""

    def __init__(self, keeper: subprocess.Popen[bytes], command: Command, control: socket.socket) -> None:
        self.stdout, self.stderr, self.told = bytearray(), bytearray(), b""
        self._limit = command.max_bytes
        self._hear = command.hear
        self._name = clean_line(command.argv[0], 128)
        self._control = control
        self._left = memoryview(command.stdin)
        self._ready = selectors.DefaultSelector()
        given, written, errors = filter(None, (keeper.stdin, keeper.stdout, keeper.stderr))
        os.set_blocking(given.fileno(), False)
        self._ready.register(control, selectors.EVENT_READ, self._listen)
        self._ready.register(given, selectors.EVENT_WRITE, partial(self._feed, given))
        self._ready.register(written, selectors.EVENT_READ, partial(self._read, written, self.stdout, "wrote"))
        self._ready.register(
            errors, selectors.EVENT_READ, partial(self._read, errors, self.stderr, "wrote, as errors,")
        )

    def see_through(self) -> None:
        """Until the keeper has nothing more to say. Raises ``InputTooLarge`` for an output past its limit."""
        with self._ready:
            while self._control in self._ready.get_map():
                self._step(None)
            while self._step(0):
                pass  # what is left in the pipes of those who are gone

    def _step(self, seconds: float | None) -> bool:
        ready = self._ready.select(seconds)
        for key, _ in ready:
            key.data()
        return bool(ready)

    def _listen(self) -> None:
        more = self._control.recv(256)
        self.told += more
        if not more:
            self._ready.unregister(self._control)

    def _read(self, stream: IO[bytes], data: bytearray, what: str) -> None:
        more = os.read(stream.fileno(), _CHUNK)
        data += more
        if more and data is self.stderr and self._hear is not None:
            self._hear(more)
        if not more:
            self._ready.unregister(stream)
        if len(data) > self._limit:
            message = f"{self._name} {what} more than {self._limit:,} bytes, and was ended"
            raise failure(ErrorKind.INPUT_TOO_LARGE, message)

    def _feed(self, stream: IO[bytes]) -> None:
        """A command need not read what it is given."""
        try:
            self._left = self._left[os.write(stream.fileno(), self._left[:_CHUNK]) :]
        except BlockingIOError:
            return
        except BrokenPipeError:
            self._left = self._left[:0]
        if not self._left:
            self._ready.unregister(stream)
            stream.close()
