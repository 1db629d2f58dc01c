"""Landlock: a process that gives up every file, every port and every signal beyond itself."""

from __future__ import annotations

import ctypes
import os
import sys

from evatui.kernel.lua.worker import syscalls

__all__ = ["abi", "give_up_files"]

_CREATE_RULESET, _RESTRICT_SELF = 444, 446  # the same on every machine
_VERSION = 1
_FILES_BY_ABI = ((1, 13), (2, 14), (3, 15), (5, 16))
"""Since which ABI so many rights to files are known."""
_NETWORK_SINCE, _SCOPES_SINCE = 4, 6


class _Ruleset(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scopes", ctypes.c_uint64))


def abi() -> int:
    """The version of Landlock in this kernel, 0 for none."""
    if sys.platform != "linux":
        return 0
    try:
        return syscalls.call(_CREATE_RULESET, None, 0, _VERSION)
    except (OSError, AttributeError):
        return 0


def give_up_files() -> None:
    """Handles every right that this kernel knows and grants none. Needs no_new_privs; there is no way back."""
    version = abi()
    if version == 0:
        return
    rights = max(count for since, count in _FILES_BY_ABI if version >= since)
    ruleset = _Ruleset((1 << rights) - 1, 3 if version >= _NETWORK_SINCE else 0, 3 if version >= _SCOPES_SINCE else 0)
    size = 24 if version >= _SCOPES_SINCE else 16 if version >= _NETWORK_SINCE else 8
    descriptor = syscalls.call(_CREATE_RULESET, ruleset, size, 0)
    try:
        syscalls.call(_RESTRICT_SELF, descriptor, 0)
    finally:
        os.close(descriptor)
