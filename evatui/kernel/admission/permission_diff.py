"""What two versions may do, field by field: narrowed, widened, or the same.

A field is widened exactly if the newer one allows a request that the older one does not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evatui.kernel.admission.grants import AREAS, Area
from evatui.kernel.model.change import Trend
from evatui.kernel.model.permissions import ALL, Permissions

__all__ = ["FieldChange", "limit_changes", "permission_changes"]

_FRESH = "\x01"
"""A segment of a topic that no pattern spells out: it stands for all of them."""


@dataclass(frozen=True, slots=True)
class FieldChange:
    """``gained`` and ``lost`` are the entries of the newer and the older side that the other one does not cover."""

    path: str
    trend: Trend
    before: tuple[Any, ...]
    after: tuple[Any, ...]
    gained: tuple[Any, ...] = ()
    lost: tuple[Any, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {
            "path": self.path,
            "change": self.trend.value,
            "from": _plain(self.before),
            "to": _plain(self.after),
            "gained": _plain(self.gained),
            "lost": _plain(self.lost),
        }


def permission_changes(before: Permissions, after: Permissions) -> tuple[FieldChange, ...]:
    """Every field, in the order of a manifest."""
    return tuple(_change(area, area.entries(before), area.entries(after)) for area in AREAS)


def limit_changes(before: Mapping[str, int], after: Mapping[str, int]) -> tuple[FieldChange, ...]:
    """The limits that moved: a raised one is widened, as it lets a capability take more."""
    return tuple(
        FieldChange(
            f"limits.{name}", Trend.WIDENED if value > before[name] else Trend.NARROWED, (before[name],), (value,)
        )
        for name, value in after.items()
        if name in before and before[name] != value
    )


def _change(area: Area, before: tuple[Any, ...], after: tuple[Any, ...]) -> FieldChange:
    gained = tuple(entry for entry in after if not _covered(area, before, entry))
    lost = tuple(entry for entry in before if not _covered(area, after, entry))
    trend = Trend.WIDENED if gained else Trend.NARROWED if lost else Trend.UNCHANGED
    return FieldChange(".".join(area.path), trend, before, after, gained, lost)


def _covered(area: Area, entries: Sequence[Any], asked: Any) -> bool:
    """Do ``entries`` together give all of ``asked``?

    One of them has to, but for topics: there ``/a`` and ``/a/*/**`` make up ``/a/**`` together.
    """
    if any(area.covers(entry, asked) for entry in entries):
        return True
    if area.path != ("events", "emit") or (asked != ALL and not asked.endswith("/**")):
        return False
    stem = "" if asked == ALL else asked.removesuffix("/**")
    longest = max((entry.count("/") for entry in entries), default=0)
    shortest = 0 if stem else 1  # a topic has at least one segment
    lengths = range(shortest, max(1, longest - stem.count("/") + 2))
    return all(any(area.covers(entry, stem + f"/{_FRESH}" * more) for entry in entries) for more in lengths)


def _plain(entries: Sequence[Any]) -> list[Any]:
    return [list(entry) if isinstance(entry, tuple) else entry for entry in entries]
