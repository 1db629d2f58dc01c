"""Rows of what a person has to decide or to know: versions that wait, trust, powers, and files that define nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evatui.kernel.model.diagnostic import Diagnostic

__all__ = ["HeldRow", "IdleRow", "PermissionRow", "TrustInfo"]


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldRow:
    """A sound version that waits for a person; ``serving`` is the generation in force meanwhile.

    ``waits_for`` is ``approval``, ``trust``, or ``restart`` where it was approved and takes effect at the next start.
    ``permissions`` has what differs from the last grant, as `FieldChange.to_json` gives it.
    """

    id: str
    path: str
    digest: str
    number: str
    since: str
    serving: str | None
    waits_for: str
    change_class: str
    permissions: tuple[Mapping[str, Any], ...]
    diagnostics: tuple[Diagnostic, ...]

    @property
    def key(self) -> str:
        return self.id


@dataclass(frozen=True, slots=True, kw_only=True)
class PermissionRow:
    """One entry that a capability asks for; ``why`` names the grant that gave it, or the rule that took it."""

    permission: str
    entry: str
    in_force: bool
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustInfo:
    """``waiting`` counts what is there and not trusted yet, ``trusted`` what was trusted by digest.

    ``vouched``: whoever opened the workspace trusts all of it.
    """

    vouched: bool = True
    waiting: int = 0
    trusted: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class IdleRow:
    """A file where manifests are looked for that defines nothing, and why not."""

    path: str
    why: str

    @property
    def key(self) -> str:
        return self.path
