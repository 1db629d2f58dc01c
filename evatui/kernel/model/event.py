"""The envelope of an event."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evatui.kernel.model.call import Actor

__all__ = ["Event"]


@dataclass(frozen=True, slots=True)
class Event:
    """``seq`` counts events of this runtime from 1; ``at`` is RFC 3339 UTC; ``cause`` is an event or request id."""

    seq: int
    event_id: str
    topic: str
    at: str
    actor: Actor
    cause: str | None
    payload: Mapping[str, Any]

    def to_json(self) -> dict[str, Any]:
        return {
            "seq": self.seq,
            "event_id": self.event_id,
            "topic": self.topic,
            "at": self.at,
            "actor": self.actor.to_json(),
            "cause": self.cause,
            "payload": dict(self.payload),
        }
