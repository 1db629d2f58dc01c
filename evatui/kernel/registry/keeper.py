"""What a runtime holds on disk beside the workspace's own files: is it still there, and still its own?"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from evatui.kernel.model.diagnostic import Diagnostic, Span
from evatui.kernel.records.audit import AuditLog
from evatui.kernel.storage.database import Database, StorageError
from evatui.kernel.workspace.codes import reading_diagnostic
from evatui.kernel.workspace.lock import WorkspaceHeld, WorkspaceLock

__all__ = ["LOOK_EVERY_S", "Keeper"]

LOOK_EVERY_S = 1.0
_LOCK = "lock"


class Keeper:
    """Mends what somebody deleted under a running runtime, and says so; gives way where another one took over.

    The lock comes first: only who holds the workspace may make its files again. ``lock`` is None where the
    workspace is nobody's but the caller's. ``databases`` are there by their path below the state folder.
    """

    def __init__(
        self, state_dir: Path, lock: WorkspaceLock | None, audit: AuditLog, databases: Mapping[str, Database]
    ) -> None:
        self._folder = state_dir.name
        self._lock = lock
        self._audit = audit
        self._databases = databases
        self._noticed: Mapping[str, str] = {}

    @property
    def problems(self) -> tuple[Diagnostic, ...]:
        """What was noticed since the start, by file; the audit log tells of itself in its own health."""
        return tuple(
            reading_diagnostic("EVA-119", text, Span(f"{self._folder}/{name}")) for name, text in self._noticed.items()
        )

    def look(self) -> tuple[str, ...]:
        """What is newly wrong, or was mended. Blocking: once a second, in a thread.

        Raises `WorkspaceHeld` where another process holds the workspace by now: nothing is written any more.
        """
        found = {_LOCK: self._look_at_lock()}
        self._audit.look()
        found |= {name: _look_at(name, database) for name, database in self._databases.items()}
        new = {name: text for name, text in found.items() if text and self._noticed.get(name) != text}
        if new:
            self._noticed = {**self._noticed, **new}
        return tuple(new.values())

    def _look_at_lock(self) -> str:
        try:
            mine = self._lock is None or self._lock.look()
        except WorkspaceHeld as held:
            self._audit.close(str(held))
            for database in self._databases.values():
                database.refuse(str(held))
            self._noticed = {**self._noticed, _LOCK: f"{held}: this runtime ends"}
            raise
        except OSError:
            return "the lock is gone and cannot be made again: another runtime may start beside this one"
        return "" if mine else "the lock was deleted or replaced by somebody else, and was taken again"


def _look_at(name: str, database: Database) -> str:
    try:
        return database.look()
    except StorageError as error:
        return f"{name} is gone and cannot be written again: {error}"
