"""How far a change goes: what takes effect at once, and what waits for a person."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["ChangeClass", "Trend"]


class ChangeClass(StrEnum):
    """Ordered: each waits for more than the one before. ``RESTART`` waits for approval, then for the next start."""

    HOT = "hot"
    APPROVAL = "approval"
    RESTART = "restart"


class Trend(StrEnum):
    """``WIDENED``: something is allowed that was not before, whatever else is not any more."""

    UNCHANGED = "unchanged"
    NARROWED = "narrowed"
    WIDENED = "widened"
