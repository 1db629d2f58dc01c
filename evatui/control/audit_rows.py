"""Audit records as rows, safe to show, wherever they come from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evatui.control.snapshot import AuditRow
from evatui.kernel.model.text import clean_line

__all__ = ["audit_row", "cleaned"]


def audit_row(record: Mapping[str, Any]) -> AuditRow:
    actor = record.get("actor") or {}
    return AuditRow(
        seq=record["seq"],
        at=record["at"],
        code=record["code"],
        outcome=record["outcome"],
        actor=clean_line(str(actor.get("id") or actor.get("type") or ""), 64),
        capability_id=clean_line(str(record.get("capability_id") or "")),
        capability=clean_line(str(record.get("capability") or "")),
        generation=str(record.get("generation") or ""),
        request_id=clean_line(str(record.get("request_id") or ""), 64),
        duration_us=int(record.get("duration_us") or 0),
        error_kind=str(record.get("error_kind") or ""),
        record=cleaned(record),
    )


def cleaned(value: Any) -> Any:
    """Text anywhere in a JSON-like value, safe to show."""
    if isinstance(value, str):
        return clean_line(value, 4000)
    if isinstance(value, Mapping):
        return {clean_line(str(key)): cleaned(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [cleaned(item) for item in value]
    return value
