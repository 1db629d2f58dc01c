"""The thread that waits for changes below the folders of a workspace, and goes on whatever becomes of them."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import closing
from functools import partial
from pathlib import Path

from evatui.kernel.model.clock import SYSTEM_CLOCK, rfc3339
from evatui.kernel.model.text import clean_line
from evatui.kernel.workspace.droppings import is_editor_file
from evatui.kernel.workspace.files import Signature
from evatui.kernel.workspace.gathering import Gathering
from evatui.kernel.workspace.git import GitLock
from evatui.kernel.workspace.ground import UNWATCHED, Ground, look, survey
from evatui.kernel.workspace.hearing import Hearing
from evatui.kernel.workspace.layout import SETTINGS_FILES, Layout
from evatui.kernel.workspace.notices import Batch, Notices
from evatui.kernel.workspace.paths import HERE, is_under
from evatui.kernel.workspace.polling import changed, network_filesystem
from evatui.kernel.workspace.settings import Polling
from evatui.kernel.workspace.watch_health import WatchHealth, limit_reached

if sys.platform == "linux":
    from evatui.kernel.workspace.inotify import Inotify as SystemNotices
else:
    from evatui.kernel.workspace.watchfiles_notices import Watchfiles as SystemNotices

__all__ = ["Lookout"]

_GLANCE_S = 0.25
"""How often it is looked whether the folders are still the same ones, which not every system tells."""
_POLL_S = 0.2
_POLL_SHARE = 20
"""Looking at everything may take one part in this many of a core."""
_RETRY_S = 30.0
_AGAIN_S = 0.005
_ROUNDS = 3

Identity = tuple[int, int] | None


class Lookout(threading.Thread):
    """Calls ``report`` with relative paths, from its own thread; an empty set means: look at everything.

    An empty set comes first, when the watch is armed, and after each gap in it. A set holds all that changed at
    one go: until it is quiet, and until git has let go of its index.
    """

    def __init__(self, layout: Layout, debounce_ms: int, report: Callable[[frozenset[str]], None]) -> None:
        super().__init__(name="evatui-watch", daemon=True)
        self.health = WatchHealth(True, why="starting")
        self._root = layout.root
        self._tops = _outermost(
            (*layout.manifests, *layout.scripts, *layout.schemas, *layout.policies, *layout.adapters, *layout.skills)
        )
        self._polling = layout.watch.polling
        self._report = report
        self._ended = threading.Event()
        self._gathering = Gathering(GitLock(layout.root), debounce_ms / 1000, self._ended)
        self._unwatched = _state_folder(layout)
        self._notices: Notices | None = None
        self._native_from = 0.0
        self._overflows = 0
        self._rescan_s = layout.watch.rescan_s
        self._deaf: str | None = None

    @property
    def holding(self) -> bool:
        """Is a set of changes under way that is not complete yet?"""
        return self._gathering.under_way

    def stop(self) -> None:
        """Ends the thread within a few milliseconds."""
        self._ended.set()
        if self._notices is not None:
            self._notices.wake()

    def run(self) -> None:
        while not self._ended.is_set():
            try:
                if (why := self._why_poll()) is not None:
                    self._poll(why)
                elif time.monotonic() < self._native_from:
                    self._poll("")
                else:
                    self._listen()
            except FileNotFoundError:
                self._ended.wait(_AGAIN_S)  # a folder went while the watch was armed
            except Exception as error:
                self._degrade(error)

    # -- by notices -------------------------------------------------------------------------

    def _listen(self) -> None:
        with closing(SystemNotices()) as notices:
            self._notices = notices
            try:
                while not self._ended.is_set():
                    if self._root.is_dir():
                        self._stay(notices)
                    else:
                        self._wait_for_root(notices)
                    if self._why_poll() is not None:
                        return
            finally:
                self._notices = None

    def _stay(self, notices: Notices) -> None:
        """Until the ground is another: a folder or a link came, went, or was put in another's place."""
        identities = self._identities()
        ground, complete = self._arm(notices)
        hearing = Hearing(partial(look, self._root, self._tops, follow=False), self._rescan_s)
        self._armed(WatchHealth(True, notices.name, folders=len(ground.folders), unreadable=self._unread(ground)))
        while not self._ended.is_set() and self._identities() == identities:
            if self._polling is Polling.AUTO and (missed := hearing.missed()) is not None:
                self._deaf = f"{clean_line(missed, 80)} changed without a notice"
                return
            batch = self._gathering.next(notices, _GLANCE_S, partial(self._concerns, ground))
            if batch is not None:
                self._overflows += batch.overflowed
            if not complete or (batch is not None and batch.uncertain):
                return
            if batch is None:
                continue
            if _may_reshape(ground, batch):
                before, ground = ground, self._survey()
                if ground.watched != before.watched:
                    return
            told = [self._relative(ground, path) for path in batch.paths]
            hearing.told(told)
            self._tell(told)

    def _arm(self, notices: Notices) -> tuple[Ground, bool]:
        """Folders are looked for again once they are watched: one may have come in between.

        False where they come faster than they can be looked for.
        """
        again = self._survey()
        for _ in range(_ROUNDS):
            ground = again
            notices.watch(ground.folders, (*ground.holders, ground.root))
            again = self._survey()
            if again.watched == ground.watched:
                return again, True
        return ground, False

    def _survey(self) -> Ground:
        return survey(self._root, self._tops, SETTINGS_FILES)

    def _wait_for_root(self, notices: Notices) -> None:
        """The nearest folder above that lives tells when the way down begins again."""
        self._armed(self._blind("the workspace folder is gone"))
        while not self._root.is_dir() and not self._ended.is_set():
            above = next((str(folder) for folder in self._root.parents if folder.is_dir()), None)
            notices.watch((), () if above is None else (above,))
            if not self._root.is_dir():
                notices.wait(_GLANCE_S)

    # -- by looking again and again ---------------------------------------------------------

    def _poll(self, why: str) -> None:
        """Until the workspace is gone, or the time has come to try the system's notices again."""
        if not self._root.is_dir():
            self._armed(self._blind("the workspace folder is gone"))
            while not self._root.is_dir() and not self._ended.wait(_GLANCE_S):
                pass
            return
        before = self._look()
        self._armed(self._polled(why or self.health.why, ok=bool(why)))
        pause = _POLL_S
        while not self._ended.wait(pause) and self._root.is_dir():
            if not why and time.monotonic() >= self._native_from:
                return
            spent = time.thread_time()
            after = self._look()
            if not self._gathering.waits_for_git():
                if before != after:
                    self.health = self._polled(self.health.why, ok=self.health.ok)
                self._tell(changed(before, after))
                before = after
            pause = max(_POLL_S, _POLL_SHARE * (time.thread_time() - spent))

    def _polled(self, why: str, *, ok: bool) -> WatchHealth:
        ground = self._survey()
        return WatchHealth(
            ok,
            "polling",
            why,
            folders=len(ground.folders),
            unreadable=self._unread(ground),
            overflows=self._overflows,
        )

    def _look(self) -> dict[str, Signature]:
        return look(self._root, self._tops, SETTINGS_FILES)

    def _why_poll(self) -> str | None:
        if self._polling is Polling.ALWAYS:
            return "eva.yaml asks for it"
        if self._polling is Polling.NEVER or self._deaf is not None:
            return self._deaf
        kinds = (network_filesystem(self._root / folder) for folder in (HERE, *self._tops))
        kind = next((kind for kind in kinds if kind is not None), None)
        return None if kind is None else f"the file system {kind} gives no notices of changes"

    def _degrade(self, error: Exception) -> None:
        why = limit_reached(error)
        if self._polling is Polling.NEVER:
            self.health = self._blind(why)
        else:
            self.health = WatchHealth(False, "polling", why, overflows=self._overflows)
            self._native_from = time.monotonic() + _RETRY_S
        self._ended.wait(_POLL_S)  # also where polling itself fails: it must not be tried without a pause

    # -- telling ----------------------------------------------------------------------------

    def _armed(self, health: WatchHealth) -> None:
        self.health = health._replace(overflows=self._overflows)
        self._report(frozenset())

    def _blind(self, why: str) -> WatchHealth:
        since = self.health.blind_since or rfc3339(SYSTEM_CLOCK.now())
        return WatchHealth(False, why=why, blind_since=since, overflows=self._overflows)

    def _tell(self, paths: Iterable[str]) -> None:
        told = frozenset(path for path in paths if self._matters(path))
        if told:
            self._report(told)

    def _concerns(self, ground: Ground, path: str) -> bool:
        relative = self._relative(ground, path)
        below = os.path.dirname(path) in ground.folders
        return path in ground.turns or (self._matters(relative) and (below or relative in SETTINGS_FILES))

    def _matters(self, path: str) -> bool:
        *folders, name = path.split("/")
        return not (
            UNWATCHED.intersection(folders)
            or name in UNWATCHED
            or is_editor_file(name)
            or (self._unwatched is not None and is_under(self._unwatched, path))
        )

    def _unread(self, ground: Ground) -> tuple[str, ...]:
        return tuple(sorted(self._relative(ground, folder) for folder in ground.unreadable))

    def _relative(self, ground: Ground, path: str) -> str:
        return os.path.relpath(path, ground.root).replace(os.sep, "/")

    def _identities(self) -> tuple[Identity, ...]:
        """Which folders are there, and which ones they are: one put in another's place is another."""
        return tuple(_identity(self._root / folder) for folder in (HERE, *self._tops))


def _may_reshape(ground: Ground, batch: Batch) -> bool:
    return bool(batch.folders) or any(path in ground.turns or os.path.islink(path) for path in batch.paths)


def _outermost(folders: Iterable[str]) -> tuple[str, ...]:
    """The folders without those that lie inside another."""
    every = set(folders)
    return tuple(sorted(one for one in every if not any(one != other and is_under(other, one) for other in every)))


def _state_folder(layout: Layout) -> str | None:
    try:
        inside = layout.state_dir.relative_to(layout.root).as_posix()
    except ValueError:
        return None
    return None if inside == HERE else inside


def _identity(path: Path) -> Identity:
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    return found.st_dev, found.st_ino
