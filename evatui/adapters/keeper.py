"""Runs one command, and outlives everything that it starts: a program of its own, started by ``process.py``.

    keeper.py CONTROL PROGRAM ARGV...

CONTROL is an open socket. Its other end closing, also by the death of who holds it, ends the command. When the
command has ended, all that is left of what it started is killed and reaped; then one line is written to CONTROL:
``ended CODE``, or ``failed ERRNO`` where PROGRAM could not be started. Needs nothing but the standard library.

On Linux a process cannot leave: whoever loses its parent becomes a child of this one (a subreaper), in whatever
session it is; and where it kills this process, a child of the one that started it (``orphans.py``). Elsewhere what
has made itself a session of its own escapes.
"""

from __future__ import annotations

import ctypes
import os
import select
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import suppress

try:
    import resource
except ImportError:  # Windows, where this is never started
    resource = None  # type: ignore[assignment]

_SET_DEATH_SIGNAL = 1
_SET_SUBREAPER = 36
_SET_NO_NEW_PRIVILEGES = 38
_PATIENCE_S = 5.0
_PAUSE_S = 0.005


def main(control: int, program: str, argv: list[str]) -> None:
    os.set_inheritable(control, False)
    _set(_SET_SUBREAPER, 1)
    awake, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    keeper = os.getpid()
    child = os.fork()
    if child == 0:
        _become(keeper, control, program, argv)
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nothing, stream)  # the outputs end when the command's do
    code = _wait(child, control, awake)
    _end_all(child)
    if code is not None:
        with suppress(OSError):
            os.write(control, f"ended {code}\n".encode())


def _become(keeper: int, control: int, program: str, argv: list[str]) -> None:
    """In the child: does not return."""
    try:
        os.setsid()
        _set(_SET_DEATH_SIGNAL, signal.SIGKILL)
        if os.getppid() != keeper:
            os._exit(127)
        _set(_SET_NO_NEW_PRIVILEGES, 1)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        for ignored in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGCHLD):
            signal.signal(ignored, signal.SIG_DFL)
        os.execv(program, argv)
    except OSError as error:
        os.write(control, f"failed {error.errno or 0}\n".encode())
    finally:
        os._exit(127)


def _wait(child: int, control: int, awake: int) -> int | None:
    """The command's exit code, as shells count it; None where it is to be ended first."""
    while True:
        ready, _, _ = select.select([control, awake], [], [])
        if control in ready:
            return None
        os.read(awake, 4096)
        for pid, status in _reaped():
            if pid == child:
                code = os.waitstatus_to_exitcode(status)
                return code if code >= 0 else 128 - code


def _end_all(child: int) -> None:
    """Kills children until there are none. Each that dies leaves its own to this process, which come next."""
    with suppress(OSError):
        os.killpg(child, signal.SIGKILL)
    until = time.monotonic() + _PATIENCE_S
    with suppress(ChildProcessError):
        while time.monotonic() < until:
            for pid in _children():
                with suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
            for _ in _reaped():
                pass
            time.sleep(_PAUSE_S)


def _reaped() -> Iterator[tuple[int, int]]:
    """Pid and status of each child that has ended; raises `ChildProcessError` once there are no children."""
    while (found := os.waitpid(-1, os.WNOHANG))[0]:
        yield found


def _children() -> list[int]:
    me = os.getpid()
    try:
        with open(f"/proc/self/task/{me}/children") as file:
            return [int(pid) for pid in file.read().split()]
    except OSError:
        return [pid for pid in _all_pids() if _parent(pid) == me]


def _all_pids() -> list[int]:
    with suppress(OSError):
        return [int(name) for name in os.listdir("/proc") if name.isdigit()]
    return []


def _parent(pid: int) -> int | None:
    with suppress(OSError, ValueError, IndexError), open(f"/proc/{pid}/stat") as file:
        return int(file.read().rpartition(")")[2].split()[1])
    return None


def _set(option: int, value: int) -> None:
    """Where the system has no such option, there is nothing to set."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], sys.argv[3:])
