"""Run by itself: what a process can still do behind each wall, as JSON on stdout.

Every attempt is made in a child of its own, behind one wall. What is told of it is ``done``, the name of the
error, or the name of the signal that ended the child.
"""

from __future__ import annotations

import ctypes
import errno
import json
import mmap
import os
import resource
import signal
import socket
import sys
from collections.abc import Callable
from typing import Any

from evatui.kernel.lua.worker import landlock, limits, seccomp, syscalls
from evatui.kernel.lua.worker.confine import confine

MEMORY = 16 << 20
PARENT = os.getpid()
LIBC = ctypes.CDLL(None, use_errno=True)


def said(result: int) -> None:
    if result < 0:
        raise OSError(ctypes.get_errno(), "")


def write_a_file() -> None:
    with open(sys.argv[1], "wb") as file:
        file.write(b"x")


def map_executable() -> None:
    mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_EXEC).close()


def make_executable() -> None:
    memory = mmap.mmap(-1, 4096)
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    said(LIBC.mprotect(ctypes.c_void_p(address), ctypes.c_size_t(4096), ctypes.c_int(5)))


def take_memory() -> None:
    bytearray(1 << 30)


def raise_a_limit() -> None:
    resource.setrlimit(resource.RLIMIT_NOFILE, (100, 100))


ATTEMPTS: dict[str, Callable[[], Any]] = {
    "read a file": lambda: open("/etc/passwd", "rb").close(),
    "write a file": write_a_file,
    "list a folder": lambda: os.listdir("/"),
    "look at a file": lambda: os.stat("/etc/passwd"),
    "delete a file": lambda: os.unlink(sys.argv[2]),
    "open a socket": lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM).close(),
    "open a Unix socket": lambda: socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).close(),
    "make a pair of sockets": lambda: [side.close() for side in socket.socketpair()],
    "duplicate a descriptor": lambda: os.dup(1),
    "start a program": lambda: os.execv("/bin/true", ["true"]),
    "fork": lambda: os.fork() or os._exit(0),
    "trace": lambda: said(LIBC.ptrace(0, 0, 0, 0)),
    "signal its parent": lambda: os.kill(PARENT, signal.SIGCONT),
    "signal itself": lambda: os.kill(os.getpid(), signal.SIGCONT),
    "map executable memory": map_executable,
    "make memory executable": make_executable,
    "take a gigabyte": take_memory,
    "raise a limit": raise_a_limit,
    "take a new user namespace": lambda: said(LIBC.unshare(0x10000000)),
    "make a file of memory": lambda: os.memfd_create("x"),
    "use memory": lambda: bytearray(8 << 20),
    "ask for the time": lambda: __import__("time").time(),
}


def behind_limits() -> None:
    limits.limit(MEMORY, limits.mapped())


def behind_landlock() -> None:
    syscalls.prctl(38, 1)
    landlock.give_up_files()


def behind_seccomp() -> None:
    syscalls.prctl(38, 1)
    seccomp.give_up_calls()


WALLS: dict[str, Callable[[], Any]] = {
    "none": lambda: None,
    "limits": behind_limits,
    "landlock": behind_landlock,
    "seccomp": behind_seccomp,
    "all": lambda: confine(MEMORY),
}


def tried(wall: Callable[[], Any], attempt: Callable[[], Any]) -> str:
    child = os.fork()
    if child == 0:
        code = 255
        try:
            wall()
            attempt()
            code = 0
        except OSError as error:
            code = error.errno or 254
        except MemoryError:
            code = errno.ENOMEM
        finally:
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code == 0:
        return "done"
    return signal.Signals(-code).name if code < 0 else errno.errorcode.get(code, str(code))


if __name__ == "__main__":
    for path in sys.argv[1:3]:
        open(path, "wb").close()
    print(json.dumps({w: {a: tried(WALLS[w], ATTEMPTS[a]) for a in ATTEMPTS} for w in WALLS}))
