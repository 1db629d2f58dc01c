"""The thread that waits for changes below the folders of a workspace, and goes on whatever becomes of them."""

from __future__ import annotations

import errno
import os
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from watchfiles import Change
from watchfiles._rust_notify import RustNotify

from evatui.kernel.workspace.droppings import is_editor_file
from evatui.kernel.workspace.files import Signature, signature_of
from evatui.kernel.workspace.layout import SETTINGS_FILES, Layout
from evatui.kernel.workspace.paths import HERE, is_under
from evatui.kernel.workspace.polling import UNWATCHED, changed, folders_below, look, network_filesystem
from evatui.kernel.workspace.settings import Polling

__all__ = ["Lookout", "WatchHealth"]

_STEP_MS = 5
"""This long without a further change ends the wait for more."""
_GLANCE_MS = 250
"""How often eva.yaml, and the coming and going of the folders themselves, are looked at."""
_POLL_S = 0.2
_POLL_SHARE = 20
"""Looking at everything may take one part in this many of a core."""
_RETRY_S = 30.0
_LIMITS = (errno.ENOSPC, errno.EMFILE, errno.ENFILE)


class WatchHealth(NamedTuple):
    """``word`` is empty where changes are told by the system at once, else ``polling`` or ``failed``."""

    ok: bool
    word: str
    detail: str


_STARTING = WatchHealth(True, "", "starting")
_WELL = WatchHealth(True, "", "")
_GONE = WatchHealth(False, "failed", "the workspace folder is gone")


class Lookout(threading.Thread):
    """Calls ``report`` with relative paths, from its own thread; an empty set means: look at everything.

    An empty set comes first, when the watch is armed, and after each gap in it.
    """

    def __init__(self, layout: Layout, debounce_ms: int, report: Callable[[frozenset[str]], None]) -> None:
        super().__init__(name="evatui-watch", daemon=True)
        self.health = _STARTING
        self._root = layout.root
        self._folders = _outermost((*layout.manifests, *layout.scripts, *layout.schemas, *layout.policies))
        self._debounce_ms = debounce_ms
        self._polling = layout.watch.polling
        self._report = report
        self._ended = threading.Event()
        self._unwatched = _state_folder(layout)
        self._settings = self._settings_signatures()
        self._native_from = 0.0

    def stop(self) -> None:
        """Ends the thread within a few milliseconds."""
        self._ended.set()

    def run(self) -> None:
        reason = self._why_poll()
        while not self._ended.is_set():
            try:
                if not self._root.is_dir():
                    self._wait_for_root()
                elif reason is not None or time.monotonic() < self._native_from:
                    self._poll(reason)
                else:
                    self._listen()
            except FileNotFoundError:
                self._ended.wait(_STEP_MS / 1000)  # a folder went while the watch was armed
            except Exception as error:
                self._degrade(error)

    def _listen(self) -> None:
        """Until a folder comes or goes: each is watched by itself, so that no link leads the watch astray."""
        tops = self._tops()
        folders = folders_below(self._root, self._folders)
        with RustNotify(sorted(folders), False, False, 0, False, True) as notify:
            self._armed(_WELL)
            if folders_below(self._root, self._folders) != folders:
                return  # one came in between
            while self._tops() == tops:
                found = notify.watch(self._debounce_ms, min(_STEP_MS, self._debounce_ms), _GLANCE_MS, self._ended)
                if self._ended.is_set():
                    return
                if isinstance(found, set):
                    told = [(change, path) for change, path in found if self._matters(self._relative(path))]
                    self._tell(self._relative(path) for _, path in told)
                    if any(_reshapes(change, path, folders) for change, path in told):
                        return
                self._glance()

    def _poll(self, reason: str | None) -> None:
        """Until the workspace is gone, or the time has come to try the system's notices again."""
        before = look(self._root, self._folders)
        self._armed(self.health if reason is None else WatchHealth(True, "polling", reason))
        pause = _POLL_S
        while not self._ended.wait(pause) and self._root.is_dir():
            if reason is None and time.monotonic() >= self._native_from:
                return
            spent = time.thread_time()
            after = look(self._root, self._folders)
            self._tell(changed(before, after))
            self._glance()
            before = after
            pause = max(_POLL_S, _POLL_SHARE * (time.thread_time() - spent))

    def _wait_for_root(self) -> None:
        self._armed(_GONE)
        while not self._root.is_dir() and not self._ended.wait(_GLANCE_MS / 1000):
            pass

    def _degrade(self, error: Exception) -> None:
        limit = (
            getattr(error, "errno", None) in _LIMITS or "limit" in str(error) or "too many open" in str(error).lower()
        )
        detail = "the system gives no notices of changes"
        if limit:
            detail = "the system's limit of watched folders is reached: raise fs.inotify.max_user_watches or _instances"
        if self._polling is Polling.NEVER:
            self.health = WatchHealth(False, "failed", detail)
        else:
            self.health = WatchHealth(False, "polling", detail)
            self._native_from = time.monotonic() + _RETRY_S
        self._ended.wait(_POLL_S)  # also where polling itself fails: it must not be tried without a pause

    def _why_poll(self) -> str | None:
        if self._polling is Polling.ALWAYS:
            return "eva.yaml asks for it"
        kind = network_filesystem(self._root) if self._polling is Polling.AUTO else None
        return None if kind is None else f"the file system {kind} gives no notices of changes"

    def _armed(self, health: WatchHealth) -> None:
        self.health = health
        self._report(frozenset())

    def _tops(self) -> tuple[tuple[int, int] | None, ...]:
        """Which folders are there, and which ones they are: one put in another's place is another."""
        found = (_stat(self._root / folder) for folder in self._folders)
        return tuple(None if at is None else (at.device, at.inode) for at in found)

    def _glance(self) -> None:
        settings = self._settings_signatures()
        if settings != self._settings:
            self._tell(name for name in SETTINGS_FILES if settings[name] != self._settings[name])
            self._settings = settings

    def _settings_signatures(self) -> dict[str, Signature | None]:
        return {name: _stat(self._root / name) for name in SETTINGS_FILES}

    def _tell(self, paths: Iterable[str]) -> None:
        told = frozenset(path for path in paths if self._matters(path))
        if told:
            self._report(told)

    def _matters(self, path: str) -> bool:
        *folders, name = path.split("/")
        return not (
            UNWATCHED.intersection(folders)
            or name in UNWATCHED
            or is_editor_file(name)
            or (self._unwatched is not None and is_under(self._unwatched, path))
        )

    def _relative(self, path: str) -> str:
        return os.path.relpath(path, self._root).replace(os.sep, "/")


def _reshapes(change: int, path: str, folders: frozenset[str]) -> bool:
    """Does a folder come, or a watched one go? Made anew it may have the same inode, but nobody watches it."""
    return path in folders if change == Change.deleted else path not in folders and os.path.isdir(path)


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


def _stat(path: Path) -> Signature | None:
    try:
        return signature_of(os.stat(path))
    except (OSError, ValueError):
        return None
