"""What can be wrong with an audit log, by name."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

__all__ = ["BadRecord", "Damage"]


class Damage(StrEnum):
    TRUNCATION = "truncation"
    """Records, or a part of one, are missing."""
    EDIT = "edit"
    """A record is not the one that the next was chained to, or that was signed."""
    REORDER = "reorder"
    """Records stand where others belong, and those stand elsewhere."""
    SWAPPED_FILES = "swapped_files"
    """A file holds what belongs in the file of another name, and that one what belongs here."""
    FORK = "fork"
    """Every record fits the one before it, and yet they are not those that were signed: they were written anew."""
    FORGERY = "forgery"
    """Records follow the one that was signed as the last of a run that ended well."""
    OLD_HEAD = "old_head"
    """The head is older than one that was signed before; the records may have been put back with it."""
    HEAD = "head"
    """The head is missing, cannot be read, or nobody who may sign has signed it."""


@dataclass(frozen=True, slots=True)
class BadRecord:
    """``seq`` is the record that is wrong or missing; ``file`` and ``line`` (1-based) say where it shows."""

    kind: Damage
    seq: int
    file: str
    line: int
    message: str

    def to_json(self) -> dict[str, Any]:
        fields = {"kind": self.kind.value, "seq": self.seq, "file": self.file, "line": self.line}
        return {**fields, "message": self.message}
