"""How a version would begin: beside what serves, or in its place; and what would end with that."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from evatui.kernel.admission.verdict import Candidate
from evatui.kernel.registry.capability import Capability
from evatui.kernel.registry.migrations import Migrations
from evatui.kernel.registry.rollout.canaries import Canaries
from evatui.kernel.registry.rollout.cohort import told

__all__ = ["Beginning", "Beginnings"]


@dataclass(frozen=True, slots=True)
class Beginning:
    """``takes`` says whose calls a canary gets, None where it gets all; ``beside`` what goes on serving the others.

    ``ends`` is a canary that it supersedes; ``carries`` the schemas from and to which state is carried over.
    """

    takes: str | None = None
    beside: str | None = None
    ends: str | None = None
    carries: tuple[int, int] | None = None

    def told(self) -> str:
        """``as a canary for 10 %, beside g3; the canary g4 ends``; empty where it takes the place of what serves, and
        that is all."""
        parts = [f"as a canary for {self.takes}, beside {self.beside}"] if self.takes is not None else []
        if self.carries is not None:
            parts.append(f"its state is carried over from schema {self.carries[0]} to {self.carries[1]}, calls wait")
        if self.ends is not None:
            parts.append(f"the canary {self.ends} ends")
        return "; ".join(parts)

    def to_json(self) -> dict[str, Any]:
        return {
            "as": "active" if self.takes is None else "canary",
            "takes": self.takes,
            "beside": self.beside,
            "ends": self.ends,
            "state": {"from": self.carries[0], "to": self.carries[1]} if self.carries is not None else None,
            "told": self.told(),
        }


class Beginnings:
    def __init__(self, canaries: Canaries, migrations: Migrations) -> None:
        self._canaries = canaries
        self._migrations = migrations

    async def of(self, capability: Capability | None, candidate: Candidate) -> Beginning:
        """Of a version that nothing serves beside: as any other."""
        if capability is None or capability.active is None:
            return Beginning()
        beside, spec, canary = capability.active, candidate.manifest.reload.canary, capability.canary
        source = await self._migrations.in_force(capability, candidate)
        target = candidate.manifest.state_schema
        tried = spec is not None and self._canaries.wanted(capability, candidate)
        return Beginning(
            takes=told(spec) if tried and spec is not None else None,
            beside=beside.name.short if tried else None,
            ends=canary.name.short if canary is not None else None,
            carries=(source, target) if source != target else None,
        )
