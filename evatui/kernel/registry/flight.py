"""A call of a capability on its way."""

from __future__ import annotations

from dataclasses import dataclass

from evatui.kernel.host.host import BoundHost
from evatui.kernel.model.progress import Progress
from evatui.kernel.model.text import clean_line
from evatui.kernel.records.groups import ACCEPTED, Acceptance
from evatui.kernel.registry.capability import Capability
from evatui.kernel.registry.generation import Generation
from evatui.kernel.registry.under_way import UnderWay

__all__ = ["Flight"]


@dataclass(slots=True)
class Flight(UnderWay):
    """``generation`` and ``host`` are None while it waits for a slot; ``pinned`` is when it got one, on the monotonic
    clock. ``judged``: nothing but its record is still to come; ``acceptance`` is to be waited for before the answer
    leaves. ``data`` is the payload as canonical JSON, once it is admitted.
    """

    pinned: float = 0.0
    capability: Capability | None = None
    generation: Generation | None = None
    host: BoundHost | None = None
    data: bytes | None = None
    judged: bool = False
    acceptance: Acceptance = ACCEPTED

    @property
    def answered_by(self) -> str:
        return self.capability.id if self.capability else ""

    @property
    def runs_on(self) -> str | None:
        return self.generation.name.id if self.generation else None

    @property
    def number(self) -> str:
        return self.generation.name.short if self.generation else ""

    @property
    def doing(self) -> str:
        running = self.host.running if self.host else None
        return clean_line(f"{running.fn} {running.target or ''}".strip(), 120) if running else ""

    @property
    def progress(self) -> Progress | None:
        return self.host.progress if self.host else None
