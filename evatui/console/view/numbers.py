"""The short names of generations: what a record calls by its id, a person knows as g41."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evatui.control.snapshot import CapabilityRow, ConsoleSnapshot

__all__ = ["Numbers", "number_of"]

_KEPT = 50_000
_SHORT = len("0504.041")


class Numbers:
    """Learns from every snapshot, and forgets only what can hardly stand on a screen any more."""

    def __init__(self) -> None:
        self._rows: dict[str, CapabilityRow] = {}
        self._known: dict[str, str] = {}

    @property
    def known(self) -> Mapping[str, str]:
        """By the id of the generation."""
        return self._known

    def learn(self, snapshot: ConsoleSnapshot) -> bool:
        """Whether there was anything new."""
        before = len(self._known)
        for row in snapshot.capabilities:
            if self._rows.get(row.id) is not row:
                self._rows[row.id] = row
                self._known |= {item.id: item.number for item in row.generations}
                if row.generation and row.number:
                    self._known[row.generation] = row.number
        self._known |= {step.generation: step.number for step in snapshot.transitions if step.number}
        if len(self._known) > _KEPT:
            self._known = dict(list(self._known.items())[_KEPT // 2 :])
        return len(self._known) != before


def number_of(generation: str, numbers: Mapping[str, str]) -> str:
    """``g41``; one of an earlier run, whose number is not known, by the day and the build of its id: ``0504.041``."""
    return numbers.get(generation) or generation.rpartition("@")[2].rpartition("+build.")[2][-_SHORT:]
