"""System calls by number: Python has no names for them."""

from __future__ import annotations

import ctypes
import os
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Final

__all__ = ["ALLOWED", "FATAL", "MACHINES", "Machine", "call", "machine", "prctl"]


_NUMBERS: Final = """
    read               0    63
    mmap               9    222
    mprotect           10   226
    munmap             11   215
    brk                12   214
    rt_sigprocmask     14   135
    rt_sigreturn       15   139
    sched_yield        24   124
    mremap             25   216
    madvise            28   233
    socket             41   198
    connect            42   203
    sendto             44   206
    recvfrom           45   207
    clone              56   220
    fork               57   -
    vfork              58   -
    execve             59   221
    exit               60   93
    kill               62   129
    gettimeofday       96   169
    ptrace             101  117
    tkill              200  130
    time               201  -
    futex              202  98
    restart_syscall    219  128
    clock_gettime      228  113
    clock_getres       229  114
    exit_group         231  94
    process_vm_readv   310  270
    process_vm_writev  311  271
    seccomp            317  277
    getrandom          318  278
    execveat           322  281
    rseq               334  293
    pidfd_send_signal  424  424
    io_uring_setup     425  425
    clone3             435  435
"""
"""By name on x86_64 and on aarch64."""

ALLOWED = (
    *("recvfrom", "sendto", "read"),
    *("brk", "mmap", "munmap", "mremap", "mprotect", "madvise"),
    *("futex", "rseq", "sched_yield", "restart_syscall", "rt_sigreturn", "rt_sigprocmask"),
    *("clock_gettime", "clock_getres", "gettimeofday", "time", "getrandom", "exit", "exit_group"),
)
"""All that a worker needs: the connection that it has, memory, the time. Nothing that opens or starts anything."""

FATAL = (
    *("execve", "execveat", "fork", "vfork", "clone", "clone3", "socket", "connect"),
    *("ptrace", "process_vm_readv", "process_vm_writev", "kill", "tkill", "pidfd_send_signal"),
)
"""What nothing in an honest worker ever asks for: asking ends it."""


@dataclass(frozen=True, slots=True)
class Machine:
    """``audit`` is what seccomp calls the architecture; ``numbers`` has the calls that it knows."""

    audit: int
    numbers: Mapping[str, int]

    def named(self, names: tuple[str, ...]) -> list[int]:
        return [self.numbers[name] for name in names if name in self.numbers]


def _column(which: int) -> Mapping[str, int]:
    rows = [line.split() for line in _NUMBERS.strip().splitlines()]
    return MappingProxyType({row[0]: int(row[which]) for row in rows if row[which] != "-"})


MACHINES: Mapping[str, Machine] = MappingProxyType(
    {"x86_64": Machine(0xC000003E, _column(1)), "aarch64": Machine(0xC00000B7, _column(2))}
)


def machine() -> Machine | None:
    """This one, where its numbers are known. A 32-bit Python on a 64-bit kernel is another machine."""
    return MACHINES.get(platform.machine()) if ctypes.sizeof(ctypes.c_void_p) == 8 else None


def call(number: int, *arguments: int | ctypes.Array[ctypes.c_char] | ctypes.Structure | None) -> int:
    """Raises `OSError` where it fails, or where the kernel has no such call."""
    given = [
        ctypes.c_long(argument) if isinstance(argument, int) else argument and ctypes.byref(argument)
        for argument in arguments
    ]
    result = int(_libc().syscall(ctypes.c_long(number), *given))
    if result < 0:
        raise _failed()
    return result


def prctl(option: int, value: int) -> None:
    """Raises `OSError` where it fails."""
    if _libc().prctl(ctypes.c_int(option), ctypes.c_ulong(value), *[ctypes.c_ulong(0)] * 3) != 0:
        raise _failed()


@cache
def _libc() -> ctypes.CDLL:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    return libc


def _failed() -> OSError:
    error = ctypes.get_errno()
    return OSError(error, os.strerror(error))
