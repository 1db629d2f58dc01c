"""Runs one program that reaches no more of the disk and the network than it is told: for plugins, by Landlock.

    confined.py RULES PROGRAM ARGV...

RULES is JSON: ``{"read": [paths], "write": [paths], "network": bool}``, where what may be read may be executed too. The
process gives up all else, for itself and all that it starts, and becomes PROGRAM. Where the kernel has no Landlock,
or does not take the rules, it says so and nothing is run. Needs nothing but the standard library, and no_new_privs.
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
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL


class _Ruleset(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scopes", ctypes.c_uint64))


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _layout_ = "ms"
    _fields_ = (("rights", ctypes.c_uint64), ("parent", ctypes.c_int32))


def main(rules: str, program: str, argv: list[str]) -> None:
    wanted = json.loads(rules)
    try:
        confine(wanted["read"], wanted["write"], network=wanted["network"])
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
        _allow(descriptor, path, rights)
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
