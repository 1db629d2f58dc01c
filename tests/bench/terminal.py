"""A program in a pseudo terminal, watched until it writes something."""

from __future__ import annotations

import fcntl
import os
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Mapping, Sequence

__all__ = ["NeverWritten", "time_until"]

_ROWS, _COLUMNS = 36, 120
_GIVE_UP = 30.0
_ENDS_WITHIN = 10.0


class NeverWritten(Exception):
    """The program ended, or time was up, before it wrote what was waited for."""


def time_until(argv: Sequence[str], text: bytes, variables: Mapping[str, str]) -> float:
    """Seconds from the start of the program to ``text`` in its output. The program is ended then."""
    master, slave = os.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", _ROWS, _COLUMNS, 0, 0))
    environment = {**os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor", **variables}
    began = time.perf_counter()
    program = subprocess.Popen(argv, stdin=slave, stdout=slave, stderr=slave, env=environment, start_new_session=True)
    os.close(slave)
    try:
        return _wait_for(master, text) - began
    finally:
        _end(program, master)
        os.close(master)


def _wait_for(master: int, text: bytes) -> float:
    written = b""
    give_up = time.perf_counter() + _GIVE_UP
    while (left := give_up - time.perf_counter()) > 0:
        if not select.select([master], [], [], left)[0]:
            break
        try:
            written += os.read(master, 65536)
        except OSError:  # the other side is closed
            break
        if text in written:
            return time.perf_counter()
    raise NeverWritten(f"{text!r} did not appear; the end of the output is {written[-300:]!r}")


def _end(program: subprocess.Popen[bytes], master: int) -> None:
    """Ends the program, reading on: one whose terminal nobody reads could wait for ever."""
    if program.poll() is None:
        program.send_signal(signal.SIGTERM)
    give_up = time.perf_counter() + _ENDS_WITHIN
    while program.poll() is None and time.perf_counter() < give_up:
        if select.select([master], [], [], 0.05)[0]:
            try:
                os.read(master, 65536)
            except OSError:
                break
    if program.poll() is None:
        program.kill()
    program.wait()
