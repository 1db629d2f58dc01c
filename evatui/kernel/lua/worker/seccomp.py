"""Seccomp: a process that gives up all system calls but the few that an honest worker makes."""

from __future__ import annotations

import ctypes
import errno
import struct
import sys

from evatui.kernel.lua.worker import syscalls
from evatui.kernel.lua.worker.syscalls import Machine

__all__ = ["available", "give_up_calls", "program", "socket_families"]

_SET_MODE_FILTER, _GET_ACTION_AVAIL = 1, 2
_ALL_THREADS = 1
_KILL, _REFUSE, _ALLOW = 0x80000000, 0x00050000 | errno.EPERM, 0x7FFF0000
_CLOSED = 0x00050000 | errno.EACCES

_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT, _THIRD_ARGUMENT = 0, 4, 16, 32
"""Where in what the filter looks at; of arguments the low half."""
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_OTHER_ABI = 0x40000000
"""From here on, numbers on x86_64 are those of another ABI (x32)."""
_EXECUTABLE = 4


class _Filter(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def program(machine: Machine) -> bytes:
    """The filter. What is not listed is refused: a C library that asks for more goes on without."""
    mapping = [machine.numbers["mmap"], machine.numbers["mprotect"]]
    allowed = [number for number in machine.named(syscalls.ALLOWED) if number not in mapping]
    steps = [
        _step(_LOAD, _ARCHITECTURE),
        _step(_EQUAL, machine.audit, 1, 0),
        _step(_RETURN, _KILL),
        _step(_LOAD, _NUMBER),
        *_answers(_AT_LEAST, [_OTHER_ABI], _KILL),
        *_answers(_EQUAL, allowed, _ALLOW),
        *_answers(_EQUAL, machine.named(syscalls.FATAL), _KILL),
        _step(_EQUAL, mapping[0], 1, 0),
        _step(_EQUAL, mapping[1], 0, 3),
        _step(_LOAD, _THIRD_ARGUMENT),
        _step(_ANY_BIT, _EXECUTABLE, 1, 0),
        _step(_RETURN, _ALLOW),
        _step(_RETURN, _REFUSE),
    ]
    return b"".join(steps)


def socket_families(machine: Machine, families: tuple[int, ...]) -> bytes:
    """A filter for programs: all is allowed, but for sockets of other ``families``, which are refused as by a firewall,
    and ways around that. What is built for another machine ends."""
    steps = [
        _step(_LOAD, _ARCHITECTURE),
        _step(_EQUAL, machine.audit, 1, 0),
        _step(_RETURN, _KILL),
        _step(_LOAD, _NUMBER),
        *_answers(_AT_LEAST, [_OTHER_ABI], _KILL),
        *_answers(_EQUAL, [machine.numbers["io_uring_setup"]], _REFUSE),
        _step(_EQUAL, machine.numbers["socket"], 1, 0),
        _step(_RETURN, _ALLOW),
        _step(_LOAD, _FIRST_ARGUMENT),
        *_answers(_EQUAL, list(families), _ALLOW),
        _step(_RETURN, _CLOSED),
    ]
    return b"".join(steps)


def _step(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, value)


def _answers(test: int, values: list[int], answer: int) -> list[bytes]:
    return [step for value in values for step in (_step(test, value, 0, 1), _step(_RETURN, answer))]


def available() -> bool:
    """Whether this machine's calls are known and its kernel can filter them."""
    machine = syscalls.machine()
    if sys.platform != "linux" or machine is None:
        return False
    try:
        action = ctypes.create_string_buffer(struct.pack("=I", _KILL), 4)
        return syscalls.call(machine.numbers["seccomp"], _GET_ACTION_AVAIL, 0, action) == 0
    except OSError:
        return False


def give_up_calls() -> None:
    """For all threads. Needs no_new_privs; there is no way back."""
    machine = syscalls.machine()
    if machine is None or not available():
        return
    instructions = program(machine)
    filtered = _Filter(len(instructions) // 8, instructions)
    if syscalls.call(machine.numbers["seccomp"], _SET_MODE_FILTER, _ALL_THREADS, filtered) != 0:
        raise OSError(errno.EBUSY, "a thread could not be filtered")
