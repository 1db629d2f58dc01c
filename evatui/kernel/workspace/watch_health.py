"""What the watch says of itself."""

from __future__ import annotations

import errno
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from evatui.kernel.model.text import clean_line

__all__ = ["WatchHealth", "limit_reached"]

_SHOWN = 3
_SYSCTL = Path("/proc/sys/fs/inotify")
_NO_NOTICES = "the system gives no notices of changes"


class WatchHealth(NamedTuple):
    """``how`` names the source: ``inotify``, ``watchfiles``, ``polling``, or nothing before the start and while blind.

    Not ``ok``: nothing is seen, or only by polling though it was to be the system that tells; ``why`` says what keeps
    it from that. ``blind_since`` is RFC 3339, None while changes are seen. ``overflows`` counts how often the system
    dropped notices; each time all was looked at again.
    """

    ok: bool
    how: str = ""
    why: str = ""
    folders: int = 0
    unreadable: tuple[str, ...] = ()
    blind_since: str | None = None
    overflows: int = 0

    @property
    def word(self) -> str:
        """Empty where changes are told by the system at once and none was dropped."""
        if self.blind_since is not None:
            return "blind"
        if self.how == "polling":
            return self.how
        return _times(self.overflows, "overflow") if self.overflows else ""

    @property
    def detail(self) -> str:
        """All of it on one line."""
        parts = [self.why] if self.why else []
        if self.blind_since:
            parts.append(f"nothing is seen since {self.blind_since}")
        elif self.how:
            parts.append(f"{self.how}, {_times(self.folders, 'folder')}")
        if self.unreadable:
            parts.append(f"not readable: {_few(self.unreadable)}")
        if self.overflows:
            parts.append(f"{_times(self.overflows, 'overflow')}: notices were dropped, and all was looked at again")
        return "; ".join(parts)


def limit_reached(error: Exception) -> str:
    """Why the system gives no notices, with the setting that would help where it is a limit."""
    number, text = getattr(error, "errno", None), str(error).lower()
    if number == errno.ENOSPC or "limit" in text:
        return _raised("max_user_watches", "watched folders")
    if number in (errno.EMFILE, errno.ENFILE) or "too many open" in text:
        return f"{_raised('max_user_instances', 'watchers')} (or the limit of open files: ulimit -n)"
    return _NO_NOTICES


def _raised(setting: str, what: str) -> str:
    try:
        allowed = f" of {int((_SYSCTL / setting).read_text()):,}"
    except (OSError, ValueError):
        allowed = ""
    return f"the system's limit{allowed} {what} for each user is reached: raise fs.inotify.{setting}"


def _times(number: int, what: str) -> str:
    return f"{number:,} {what}" + ("" if number == 1 else "s")


def _few(paths: Iterable[str]) -> str:
    shown = sorted(paths)
    more = f" and {len(shown) - _SHOWN:,} more" if len(shown) > _SHOWN else ""
    return ", ".join(clean_line(path, 80) for path in shown[:_SHOWN]) + more
