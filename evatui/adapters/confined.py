"""Runs one program that reaches no more of the disk and the network than it is told: for plugins, on Linux.

    confined.py RULES PROGRAM ARGV...

RULES is JSON: ``{"landlock": bool, "read": [paths], "write": [paths], "network": bool, "filter": "…"}``, where what may
be read may be executed too, and the filter is a program for seccomp in hexadecimal, empty for none. The process gives
up all else, and what a superuser may beyond files, for itself and all that it starts, and becomes PROGRAM. Where the
kernel does not take the rules, it says so and nothing is run. Needs nothing but the standard library, and no_new_privs.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import sys
import time
from collections.abc import Iterable
from contextlib import suppress

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # the same on every machine
_VERSION = 1
_PATH_BENEATH = 1
_FILES_BY_ABI = ((1, 13), (2, 14), (3, 15), (5, 16))
"""Since which ABI so many rights to files are known."""
_NETWORK_SINCE, _SCOPES_SINCE = 4, 6
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1, 2, 4, 8
_TRIES, _PAUSE_S = 200, 0.01
_TRUNCATE, _IOCTL = 1 << 14, 1 << 15
_MAKE_DEVICE = 1 << 6 | 1 << 11
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL


_SET_SECCOMP, _FILTER = 22, 2
_DROP_BOUND, _AMBIENT, _CLEAR_AMBIENT = 24, 47, 4
_CAPABILITIES_3 = 0x20080522
_KEPT_POWERS = 1 << 0 | 1 << 1 | 1 << 3 | 1 << 4
"""To own, read and write files, where the paths allow it: a superuser's work folder need not be their own."""


class _Ruleset(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scopes", ctypes.c_uint64))


class _Filter(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _layout_ = "ms"
    _fields_ = (("rights", ctypes.c_uint64), ("parent", ctypes.c_int32))


def main(rules: str, program: str, argv: list[str]) -> None:
    wanted = json.loads(rules)
    try:
        give_up_powers()
        if wanted["landlock"]:
            confine(wanted["read"], wanted["write"], network=wanted["network"])
        if wanted["filter"]:
            filter_calls(bytes.fromhex(wanted["filter"]))
        _become(program, argv)
    except OSError as error:
        sys.stderr.write(f"it cannot be started confined: {os.strerror(error.errno or 0).lower()}\n")
        sys.exit(126)


def _become(program: str, argv: list[str]) -> None:
    """Does not return. Raises `OSError`.

    Who was forked while the program was written, and has not become something else yet, has it open for writing.
    """
    for _ in range(_TRIES):
        try:
            os.execv(program, argv)
        except OSError as error:
            if error.errno != errno.ETXTBSY:
                raise
            time.sleep(_PAUSE_S)
    raise OSError(errno.ETXTBSY, os.strerror(errno.ETXTBSY))


def give_up_powers() -> None:
    """Raises `OSError`. Who has no powers to give up gains none either: by no_new_privs."""
    libc = ctypes.CDLL(None, use_errno=True)
    for power in range(64):
        if not _KEPT_POWERS >> power & 1:
            libc.prctl(_DROP_BOUND, power, 0, 0, 0)
    libc.prctl(_AMBIENT, _CLEAR_AMBIENT, 0, 0, 0)
    header = (ctypes.c_uint32 * 2)(_CAPABILITIES_3, 0)
    sets = (ctypes.c_uint32 * 6)()  # effective, permitted and inheritable, the lower ones first
    if libc.capget(header, sets) < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    kept = sets[1] & _KEPT_POWERS
    if libc.capset(header, (ctypes.c_uint32 * 6)(kept, kept)) < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def filter_calls(instructions: bytes) -> None:
    """For good. Raises `OSError`."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_SET_SECCOMP, _FILTER, ctypes.byref(_Filter(len(instructions) // 8, instructions)), 0, 0) < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def confine(read: Iterable[str], write: Iterable[str], *, network: bool) -> None:
    """For good. Raises `OSError`."""
    version = _call(_CREATE_RULESET, None, 0, _VERSION)
    rights = (1 << max(count for since, count in _FILES_BY_ABI if version >= since)) - 1
    ruleset = _Ruleset(
        rights, 3 if version >= _NETWORK_SINCE and not network else 0, 3 if version >= _SCOPES_SINCE else 0
    )
    size = 24 if version >= _SCOPES_SINCE else 16 if version >= _NETWORK_SINCE else 8
    descriptor = _call(_CREATE_RULESET, ctypes.byref(ruleset), size, 0)
    for path in read:
        _allow(descriptor, path, rights & (_EXECUTE | _READ_FILE | _READ_DIR))
    for path in write:
        _allow(descriptor, path, rights & ~_MAKE_DEVICE)
    _call(_RESTRICT_SELF, descriptor, 0)
    os.close(descriptor)


def _allow(ruleset: int, path: str, rights: int) -> None:
    """What is not there needs no right."""
    with suppress(FileNotFoundError, NotADirectoryError):
        opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
        try:
            kept = rights if os.path.isdir(path) else rights & _OF_FILES
            _call(_ADD_RULE, ruleset, _PATH_BENEATH, ctypes.byref(_Beneath(kept, opened)), 0)
        finally:
            os.close(opened)


def _call(number: int, *arguments: object) -> int:
    libc = ctypes.CDLL(None, use_errno=True)
    done = int(libc.syscall(number, *arguments))
    if done < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return done


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
