"""A call of an adapter on its way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from evatui.kernel.model.adapter import Adapter
from evatui.kernel.model.call import Response
from evatui.kernel.model.manifest import AuditLevels
from evatui.kernel.model.progress import Progress
from evatui.kernel.model.text import clean_line
from evatui.kernel.records.audit import Reservation
from evatui.kernel.records.codes import call_ending
from evatui.kernel.records.record import measured
from evatui.kernel.registry.under_way import UnderWay

__all__ = ["Trip"]


@dataclass(slots=True, kw_only=True)
class Trip(UnderWay):
    """``begun``: it has its slot; ``sent``: something of it may have left. ``progress`` is the adapter's own word."""

    adapter: Adapter
    payload: Any = None
    data: bytes | None = None
    begun: bool = False
    sent: bool = False
    target: str = ""
    spent_us: int = 0
    progress: Progress | None = None
    reservation: Reservation | None = field(default=None, repr=False)

    @property
    def answered_by(self) -> str:
        return self.adapter.id

    @property
    def runs_on(self) -> str | None:
        return self.adapter.title if self.begun else None

    @property
    def number(self) -> str:
        return ""

    @property
    def doing(self) -> str:
        return clean_line(f"{self._fn} {self.target}", 120) if self.sent else ""

    @property
    def answer_from(self) -> str | None:
        """What the report of the call names; None where nothing was sent."""
        return self.adapter.title if self.sent else None

    @property
    def _fn(self) -> str:
        return f"adapter.{self.adapter.transport}"

    def intent(self) -> dict[str, Any]:
        """The record that stands before it leaves."""
        call = {"fn": self._fn, "target": self.target, "duration_us": None, "outcome": "intent"}
        return {"actor": self.request.caller.to_json(), "host_calls": [call], **self._identity()}

    def record(self, response: Response, levels: AuditLevels, duration_us: int) -> Mapping[str, Any]:
        """The record of its end."""
        code, outcome = call_ending(response.error)
        said = response.error.kind.value if response.error else "ok"
        asked = {"fn": self._fn, "target": self.target, "duration_us": self.spent_us, "outcome": said}
        return {
            "code": code,
            "outcome": outcome,
            "actor": self.request.caller.to_json(),
            **self._identity(),
            "duration_us": duration_us,
            "error_kind": response.error.kind.value if response.error else None,
            "input": measured(self.request.payload, levels.log_input, self.data),
            "output": measured(response.result, levels.log_output) if response.ok else None,
            "host_calls": [asked] if self.sent else [],
        }

    def _identity(self) -> dict[str, Any]:
        return {
            "capability_id": self.adapter.id,
            "capability": self.request.capability,
            "generation": self.adapter.title,
            "manifest_digest": self.adapter.digest or None,
            "request_id": self.request.request_id,
            "trace_id": self.request.trace_id,
        }
