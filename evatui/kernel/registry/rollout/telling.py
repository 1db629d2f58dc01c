"""What is told, and written down, of a version that is tried out."""

from __future__ import annotations

from evatui.kernel.model.call import Actor
from evatui.kernel.records.codes import Code, Outcome
from evatui.kernel.registry.capability import Capability
from evatui.kernel.registry.generation import Generation
from evatui.kernel.registry.journal import Journal

__all__ = ["tell_canary"]


def tell_canary(
    journal: Journal,
    what: str,
    capability: Capability,
    generation: Generation,
    beside: Generation | None,
    actor: Actor,
    why: str,
    outcome: Outcome = Outcome.OK,
) -> None:
    """That the canary ``generation`` was started, promoted, aborted, …; ``beside`` is what served with it."""
    source = beside.name.id if beside else None
    journal.tell(
        f"canary_{what}",
        capability.id,
        capability.state,
        generation=generation.name.id,
        from_generation=source,
        reason=why,
        actor=actor,
    )
    journal.write(
        Code(f"canary.{what}"),
        outcome,
        actor,
        capability_id=capability.id,
        generation=generation.name.id,
        beside=source,
        reason=why,
    )
