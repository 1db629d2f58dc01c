"""What a runtime keeps in its state folder, open: databases, the content store, the audit log."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass

from evatui.kernel.model.clock import Clock
from evatui.kernel.records.audit import GIVE_UP_S, AuditLog
from evatui.kernel.records.head import Seal
from evatui.kernel.records.memory import MemoryAudit
from evatui.kernel.records.outlet import Outlet
from evatui.kernel.storage.content_store import ContentStore
from evatui.kernel.storage.database import Database
from evatui.kernel.storage.schema import CONTENT
from evatui.kernel.workspace.home import OperatorHome
from evatui.kernel.workspace.layout import Layout

__all__ = ["AUDIT_DIR", "StateFolder"]

AUDIT_DIR = "audit"
_STATE_DB = "state.db"
_CONTENT_DB = "store/content.db"


@dataclass(frozen=True, slots=True)
class StateFolder:
    """``databases`` are those that are written, by their path below the folder; ``state`` is the one of all rows."""

    state: Database
    databases: Mapping[str, Database]
    store: ContentStore
    audit: AuditLog
    seal: Seal | None
    """What signs the head of the audit log, None where nobody does."""

    @classmethod
    def open(
        cls,
        layout: Layout,
        clock: Clock,
        *,
        writes: bool,
        home: OperatorHome | None = None,
        audit_fd: int | None = None,
    ) -> StateFolder:
        """Blocking. Without ``writes`` it is a copy in memory, and the folder is left as it is.

        ``home`` is of who signs the audit log; ``audit_fd`` gets each of its records as well.

        Raises `StorageError`, and `CallFailed` ``AuditUnavailable``.
        """
        folder = layout.state_dir
        seal = Seal(home.audit_folder, folder / AUDIT_DIR) if home else None
        if not writes:
            state = Database.copy_of(folder / _STATE_DB)
            store = ContentStore(lambda: Database.copy_of(folder / _CONTENT_DB, CONTENT))
            return cls(state, {}, store, MemoryAudit(clock, folder / AUDIT_DIR), seal)
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with ExitStack() as opened:
            state = Database(folder / _STATE_DB)
            opened.callback(state.close)
            content = Database(folder / _CONTENT_DB, CONTENT)
            opened.callback(content.close)
            outlet = Outlet(audit_fd, GIVE_UP_S) if audit_fd is not None else None
            audit = AuditLog.open(folder / AUDIT_DIR, layout.audit, clock, seal=seal, outlet=outlet)
            opened.pop_all()
        return cls(state, {_STATE_DB: state, _CONTENT_DB: content}, ContentStore(lambda: content), audit, seal)

    def close(self) -> None:
        """All of it, also where a part fails to close."""
        with ExitStack() as closing:
            for close in (self.state.close, self.store.close, self.audit.close):
                closing.callback(close)  # the last one first
