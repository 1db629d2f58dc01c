"""Which versions that served are kept, so that they can be brought back."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Final

from evatui.kernel.registry.generation import GenerationId

__all__ = ["KEPT_FOR_ROLLBACK", "Kept", "retained"]

KEPT_FOR_ROLLBACK: Final = 6
"""What serves, and five before it."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A version that served, last from ``at`` on, and can be brought back; the content store has it under ``digest``.

    ``state_schema`` is that of its state, None where that is not known.
    """

    name: GenerationId
    version: str
    digest: str
    at: str
    state_schema: int | None = None


def retained(served: Iterable[Kept], quarantined: Collection[str], pinned: str) -> list[Kept]:
    """Of what served, the latest first and each digest once: the latest `KEPT_FOR_ROLLBACK`, as many of the latest that
    were never taken back, and ``pinned``, the one that a person went back to last.

    So no number of bad versions drives out the last known good ones.
    """
    kept: list[Kept] = []
    sound = 0
    for place, one in enumerate(served):
        is_sound = one.digest not in quarantined
        if place < KEPT_FOR_ROLLBACK or (is_sound and sound < KEPT_FOR_ROLLBACK) or one.digest == pinned:
            kept.append(one)
        sound += is_sound
    return kept
