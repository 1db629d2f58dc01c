"""The notices of macOS and Windows, by way of watchfiles."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable

from watchfiles import Change
from watchfiles._rust_notify import RustNotify

from evatui.kernel.workspace.notices import Batch

__all__ = ["Watchfiles"]

_STEP_MS = 5


class Watchfiles:
    """`Notices` wherever watchfiles runs. It does not tell when the system drops some."""

    name = "watchfiles"

    def __init__(self) -> None:
        self._woken = threading.Event()
        self._notify: RustNotify | None = None
        self._watched: frozenset[str] = frozenset()

    def watch(self, folders: Iterable[str], holders: Iterable[str]) -> None:
        """Raises `FileNotFoundError` for a folder that went at that very moment."""
        self.close()
        self._watched = frozenset((*folders, *holders))
        there = sorted(folder for folder in self._watched if os.path.isdir(folder))
        self._notify = RustNotify(there, False, False, 0, False, True)

    def wait(self, timeout_s: float) -> Batch | None:
        if self._notify is None:
            self._woken.wait(timeout_s)
            return None
        found = self._notify.watch(_STEP_MS, _STEP_MS, max(1, round(timeout_s * 1000)), self._woken)
        if not isinstance(found, set):
            return None
        paths = {path for _, path in found}
        ended = any(change == Change.deleted and path in self._watched for change, path in found)
        return Batch(paths, {path for path in paths if os.path.isdir(path)}, reshaped=ended)

    def wake(self) -> None:
        self._woken.set()

    def close(self) -> None:
        if self._notify is not None:
            self._notify.close()
            self._notify = None
