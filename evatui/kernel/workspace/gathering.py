"""When a set of changes is complete."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from evatui.kernel.workspace.git import GitLock
from evatui.kernel.workspace.notices import Batch, Notices

__all__ = ["Gathering"]

_QUIET_S = 0.005
_FEW = 16
"""More files than these at one go are a checkout or a copy."""
_LONG_QUIET_S = 0.05
_LONG_S = 2.0
_GIT_S = 10.0
"""A lock of git that is older was left by one that died."""


class Gathering:
    """Takes notices until it is quiet.

    A few files: until 5 ms go by without a notice and none of them is open for writing, or ``most_s`` have passed.
    More: until 50 ms go by, or two seconds have passed. And for as long as git holds its index locked, though never
    longer than ten seconds.
    """

    def __init__(self, git: GitLock, most_s: float, ended: threading.Event) -> None:
        self._git = git
        self._most_s = most_s
        self._ended = ended
        self._git_since: float | None = None
        self._begun = False

    @property
    def under_way(self) -> bool:
        """Is there a set that is not complete yet?"""
        return self._begun or self._git_since is not None

    def next(self, notices: Notices, timeout_s: float, concerns: Callable[[str], bool]) -> Batch | None:
        """The next set, of the paths that ``concerns`` is true for; None where none begins before ``timeout_s``."""
        batch = _wanted(notices.wait(timeout_s), concerns)
        if batch is None:
            return None
        self._begun = True
        try:
            self._complete(batch, notices, concerns)
        finally:
            self._begun = False
        return batch

    def waits_for_git(self) -> bool:
        """Is git at work, and has it not been for too long?"""
        if not self._git.held:
            self._git_since = None
            return False
        now = time.monotonic()
        self._git_since = now if self._git_since is None else self._git_since
        if now - self._git_since < _GIT_S:
            return True
        self._git.give_up()
        self._git_since = None
        return False

    def _complete(self, batch: Batch, notices: Notices, concerns: Callable[[str], bool]) -> None:
        begun = latest = time.monotonic()
        while not self._ended.is_set():
            git_holds = self.waits_for_git()  # asked before the wait: what git did last is told in it
            many = batch.uncertain or len(batch.paths) > _FEW
            quiet, most = (_LONG_QUIET_S, _LONG_S) if many else (_QUIET_S, self._most_s)
            if git_holds:
                begun = latest = time.monotonic()
            rests = begun + most if batch.writing else latest + quiet
            left = min(rests, begun + most) - time.monotonic()
            # looked once more where the time is over: this thread may have been without a core for all of it
            more = _wanted(notices.wait(max(left, 0.0)), concerns)
            if more is not None:
                batch.add(more)
                latest = time.monotonic()
            if left <= 0 and (more is None or time.monotonic() > begun + most):
                return


def _wanted(batch: Batch | None, concerns: Callable[[str], bool]) -> Batch | None:
    if batch is None:
        return None
    batch.paths = {path for path in batch.paths if concerns(path)}
    batch.folders &= batch.paths
    batch.writing &= batch.paths
    return batch if batch else None
