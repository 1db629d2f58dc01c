"""One thing wrong with something on disk, as a person reads it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

__all__ = ["Diagnostic", "Edit", "Level", "Reason", "Span"]


class Level(StrEnum):
    ERROR = "error"
    WARNING = "warning"


class Reason(StrEnum):
    DISABLED_BY_MANIFEST = "disabled_by_manifest"
    YAML_INVALID = "yaml_invalid"
    MANIFEST_INVALID = "manifest_invalid"
    SCHEMA_MISSING = "schema_missing"
    SCHEMA_INVALID = "schema_invalid"
    PATH_NOT_ALLOWED = "path_not_allowed"
    FILE_MISSING = "file_missing"
    DUPLICATE_ID = "duplicate_id"
    POLICY_DENIED = "policy_denied"
    APPROVAL_REQUIRED = "approval_required"
    RESTART_REQUIRED = "restart_required"
    RUNTIME_WORKER = "runtime_worker"
    RUNTIME_GATE_MISMATCH = "runtime_gate_mismatch"
    TRUST_UNKNOWN = "trust_unknown"
    LUA_LOAD_FAILED = "lua_load_failed"
    HEALTH_FAILED = "health_failed"
    EXAMPLES_FAILED = "examples_failed"
    INTEGRITY_MISMATCH = "integrity_mismatch"
    DEPENDENCY_CYCLE = "dependency_cycle"
    DEPENDENCY_MISSING = "dependency_missing"
    MIGRATION_FAILED = "migration_failed"
    EXPOSED_NAME_TAKEN = "exposed_name_taken"
    ISOLATION_UNAVAILABLE = "isolation_unavailable"
    SIGNATURE_INVALID = "signature_invalid"
    QUARANTINED = "quarantined"
    ROLLED_BACK = "rolled_back"
    INTERNAL = "internal"
    """A defect of the kernel itself."""


@dataclass(frozen=True, slots=True)
class Span:
    """A place in a file: 1-based, columns count characters, ``file`` is relative to the workspace."""

    file: str
    line: int = 1
    column: int = 1
    end_line: int | None = None
    end_column: int | None = None
    label: str = ""
    primary: bool = True

    def to_json(self) -> dict[str, Any]:
        return {
            "file": self.file,
            "line": self.line,
            "column": self.column,
            "end_line": self.line if self.end_line is None else self.end_line,
            "end_column": self.column if self.end_column is None else self.end_column,
            "label": self.label,
            "primary": self.primary,
        }


@dataclass(frozen=True, slots=True)
class Edit:
    """What a program may change by itself: the text of ``span``, end excluded, becomes ``replacement``."""

    span: Span
    replacement: str

    def to_json(self) -> dict[str, Any]:
        place = self.span.to_json()
        keys = ("file", "line", "column", "end_line", "end_column")
        return {**{key: place[key] for key in keys}, "replacement": self.replacement}


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """``rendered`` is what a person reads; it is filled in by the admission room, which has the text.

    ``edits`` together are a repair that needs no thought, where there is one.
    """

    code: str
    reason: Reason
    message: str
    spans: tuple[Span, ...] = ()
    notes: tuple[str, ...] = ()
    help: str = ""
    fix: str | None = None
    level: Level = Level.ERROR
    rendered: str = ""
    edits: tuple[Edit, ...] = ()

    @property
    def primary(self) -> Span | None:
        return next((span for span in self.spans if span.primary), self.spans[0] if self.spans else None)

    def to_json(self) -> dict[str, Any]:
        return {
            "code": self.code,
            "level": self.level.value,
            "reason": self.reason.value,
            "message": self.message,
            "spans": [span.to_json() for span in self.spans],
            "notes": list(self.notes),
            "help": self.help,
            "fix": self.fix,
            "edits": [edit.to_json() for edit in self.edits],
            "rendered": self.rendered,
        }
