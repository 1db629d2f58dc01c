"""What the gate says of a version: it may go into service, or it waits for a person."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from evatui.kernel.admission.permission_diff import FieldChange
from evatui.kernel.admission.policy import Policy
from evatui.kernel.model.change import ChangeClass, Trend
from evatui.kernel.model.diagnostic import Diagnostic, Reason

__all__ = ["Ruling"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruling:
    """``reason`` is why it waits, None where it does not; ``diagnostics`` (rendered) say the same at length.

    ``untrusted``: trust in the workspace is what is missing. ``against`` is the grant that it was weighed against, as
    recorded; ``providers`` and ``policy`` are what else it rests on.
    """

    change_class: ChangeClass
    fields: tuple[FieldChange, ...]
    reason: Reason | None
    diagnostics: tuple[Diagnostic, ...]
    untrusted: bool
    approved: bool
    against: str | None
    policy: Policy
    providers: Mapping[str, str] = field(default_factory=dict)

    @property
    def held(self) -> bool:
        return self.reason is not None

    @property
    def widened(self) -> tuple[FieldChange, ...]:
        """What it may do that the one before could not; raised limits are shown, but are nobody's decision."""
        return tuple(
            change for change in self.fields if change.trend is Trend.WIDENED and not change.path.startswith("limits.")
        )

    def differences(self) -> list[dict[str, Any]]:
        """Every field that either side says something about."""
        return [change.to_json() for change in self.fields if change.before or change.after]
