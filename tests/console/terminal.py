"""A terminal that a test owns: a pty, a program in it, and what it drew."""

from __future__ import annotations

import fcntl
import os
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
ALTERNATE_ON = b"\x1b[?1049h"
ALTERNATE_OFF = b"\x1b[?1049l"


class Terminal:
    """Its program is the leader of a session with this terminal, as a shell's child would be.

    Or of one without a terminal that controls it: then nobody is told by a signal that it went away.
    """

    def __init__(
        self,
        *argv: str,
        size: tuple[int, int] = (120, 36),
        env: dict[str, str] | None = None,
        controlling: bool = True,
    ) -> None:
        self.master, self.slave = os.openpty()
        self.resize(*size)
        self.modes = termios.tcgetattr(self.slave)
        self.drawn = bytearray()
        self.process = subprocess.Popen(
            [sys.executable, *argv],
            stdin=self.slave,
            stdout=self.slave,
            stderr=self.slave,
            start_new_session=True,
            preexec_fn=self._take_terminal if controlling else None,
            cwd=ROOT,
            env={**os.environ, "TERM": "xterm-256color", "PYTHONPATH": str(ROOT), **(env or {})},
        )

    def resize(self, columns: int, rows: int) -> None:
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def _take_terminal(self) -> None:
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    def read(self, seconds: float, enough: bytes | None = None) -> bytes:
        """What is drawn within ``seconds``, or until ``enough`` has been drawn."""
        fresh = bytearray()
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            ready, _, _ = select.select([self.master], [], [], left)
            if not ready:
                break
            try:
                chunk = os.read(self.master, 65536)
            except OSError:
                break
            if not chunk:
                break
            fresh += chunk
            self.drawn += chunk
            if enough is not None and enough in self.drawn:
                break
        return bytes(fresh)

    def read_until(self, text: str, seconds: float = 60.0) -> None:
        end = time.monotonic() + seconds
        while text.encode() not in self.drawn:
            assert time.monotonic() < end, f"{text!r} was not drawn; the end is {bytes(self.drawn[-2000:])!r}"
            assert self.process.poll() is None, (
                f"it ended with {self.process.returncode}: {bytes(self.drawn[-2000:])!r}"
            )
            self.read(0.2, enough=text.encode())

    def type(self, keys: bytes) -> None:
        os.write(self.master, keys)

    def signal(self, number: signal.Signals) -> None:
        os.kill(self.process.pid, number)

    def wait(self, seconds: float = 60.0, *, reading: bool = True) -> int:
        """The exit code, as a shell says it."""
        end = time.monotonic() + seconds
        while self.process.poll() is None:
            assert time.monotonic() < end, "it does not end"
            if reading:
                self.read(0.1)
            else:
                time.sleep(0.05)
        if reading:
            self.read(0.2)
        code = self.process.returncode
        return 128 - code if code < 0 else code

    def hang_up(self) -> None:
        os.close(self.slave)
        os.close(self.master)
        self.master = self.slave = -1

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        for fd in (self.master, self.slave):
            if fd >= 0:
                os.close(fd)
