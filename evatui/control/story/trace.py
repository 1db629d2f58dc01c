"""What records, edges and events say, in the few words that a narrative needs of each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from evatui.kernel.model.event import Event
from evatui.kernel.model.text import clean_line
from evatui.kernel.records.codes import Outcome
from evatui.kernel.records.search import Filter, find
from evatui.kernel.registry.state_folder import AUDIT_DIR
from evatui.kernel.registry.trail import Edge
from evatui.runtime import Runtime

__all__ = ["CALL", "Record", "brief", "diagnosed", "edge", "event", "is_fault", "is_order", "logged", "newest", "step"]

Record = Mapping[str, Any]
CALL = "call."
_EFFECT = "effect."
_SCANNED = 20_000
_BRIEF = ("seq", "at", "code", "outcome", "actor", "capability_id", "generation", "request_id", "error_kind")
_MAX_TEXT = 300


def logged(runtime: Runtime) -> Path:
    return runtime.layout.state_dir / AUDIT_DIR


def newest(directory: Path, wanted: Filter, sorts: Mapping[str, Callable[[Record], bool]], most: int) -> dict[str, Any]:
    """Up to ``most`` records of each of ``sorts``, oldest first, among the newest 20,000 that match. Blocking; what
    cannot be read is not there."""
    found: dict[str, list[Record]] = {name: [] for name in sorts}
    try:
        for record, _ in islice(find(directory, wanted), _SCANNED):
            for name, fits in sorts.items():
                if len(found[name]) < most and fits(record):
                    found[name].append(record)
            if all(len(records) >= most for records in found.values()):
                break
    except OSError:
        pass
    return {name: [brief(record) for record in reversed(records)] for name, records in found.items()}


def is_order(record: Record) -> bool:
    """Is it about what became of a version, and no call?"""
    return not str(record["code"]).startswith((CALL, _EFFECT))


def is_fault(record: Record) -> bool:
    """Is it the end of a call that did not end well?"""
    return str(record["code"]).startswith(CALL) and record["outcome"] != Outcome.OK


def brief(record: Record) -> dict[str, Any]:
    details = record.get("details") or {}
    reason = details.get("reason") or details.get("cause")
    told = {name: record.get(name) for name in _BRIEF}
    return {**told, "reason": clean_line(str(reason), _MAX_TEXT) if reason else None}


def edge(step: Edge) -> dict[str, Any]:
    return {
        "at": step.at,
        "generation": step.generation or None,
        "number": step.number or None,
        "from": step.old.value if step.old else None,
        "to": step.new.value,
        "actor": clean_line(step.actor, 64),
        "reason": clean_line(step.reason, _MAX_TEXT) or None,
    }


def event(told: Event) -> dict[str, Any]:
    about = told.payload
    return {
        "seq": told.seq,
        "at": told.at,
        "topic": clean_line(told.topic),
        "id": about.get("id"),
        "generation": about.get("generation"),
        "reason": about.get("reason"),
    }


def diagnosed(diagnostics: Iterable[Mapping[str, Any]], most: int = 3) -> list[dict[str, Any]]:
    """The first of them, with where they point to."""
    shown = []
    for one in islice(diagnostics, most):
        spans = one.get("spans") or ()
        first = next((span for span in spans if span.get("primary")), spans[0] if spans else None)
        place = f"{first['file']}:{first['line']}" if first else None
        shown.append({"code": one["code"], "message": one["message"], "place": place, "fix": one.get("fix") or None})
    return shown


def step(do: str, command: str | None = None, place: str | None = None) -> dict[str, Any]:
    """One thing to do: ``command`` as it is to be typed, or the ``place`` in a file that is to be mended."""
    return {"do": do, "command": command, "place": place}
