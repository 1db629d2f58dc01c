"""What the keys of a manifest must say together. Each check gets the values of a block that was read key by key."""

from __future__ import annotations

from typing import Any

from evatui.kernel.admission.report import Fault, Pointer, Report
from evatui.kernel.model.manifest import Kind

__all__ = ["belongs_to_kind", "migration_goes_up", "migrations_fit"]


def migration_goes_up(values: dict[str, Any], at: Pointer, report: Report) -> None:
    if values.get("to", 2) <= values.get("from", 1):
        report.fault(Fault.FORM, "a migration leads to a higher schema version than it comes from", (*at, "to"))


def migrations_fit(values: dict[str, Any], at: Pointer, report: Report) -> None:
    steps: set[tuple[int, int]] = set()
    for index, one in enumerate(values.get("migrations", ())):
        if not {"from", "to"} <= one.keys():
            continue
        step, place = (one["from"], one["to"]), (*at, "migrations", index, "to")
        if one["to"] > values.get("schema_version", one["to"]):
            message = f"a migration leads beyond the schema version {values['schema_version']}"
            report.fault(Fault.FORM, message, place)
        elif step in steps:
            report.fault(Fault.FORM, f"two migrations lead from {step[0]} to {step[1]}", place)
        steps.add(step)


def belongs_to_kind(values: dict[str, Any], at: Pointer, report: Report) -> None:
    """What a kind requires, and what only it may have."""
    values["name"] = values["name"] or values.get("id", "")
    kind = values.get("kind")
    if kind is None:
        return
    handler, skill = kind == Kind.LUA_MCP_HANDLER, kind == Kind.LUA_SKILL
    if not handler or values["expose_as_capability"]:
        _require_names(kind, report)
    for name, wanted in (("runtime_gate", skill), ("mcp", handler)):
        if wanted and values[name] is None and not _given(report, name):
            what = "mcp.tool_name" if handler else name
            report.fault(Fault.MISSING, f'"{what}" is missing: a {kind} requires it', ("kind",))
        if not wanted and values[name] is not None:
            owner = Kind.LUA_MCP_HANDLER if name == "mcp" else Kind.LUA_SKILL
            report.fault(Fault.MISPLACED, f"{name} belongs to {owner} only, this is a {kind}", (name,), key=True)
    if values["expose_as_capability"] and not handler:
        message = f"expose_as_capability belongs to {Kind.LUA_MCP_HANDLER} only, this is a {kind}"
        report.fault(Fault.MISPLACED, message, ("expose_as_capability",), key=True)


def _require_names(kind: str, report: Report) -> None:
    if not _given(report, "capabilities"):
        report.fault(Fault.MISSING, f'"capabilities" is missing: a {kind} provides at least one', ("kind",))
    elif report.value(("capabilities",)) == []:
        report.fault(Fault.FORM, f"capabilities is empty: a {kind} provides at least one", ("capabilities",))


def _given(report: Report, name: str) -> bool:
    """Does the manifest hold something under this key, right or wrong?"""
    return report.value((name,)) is not None
