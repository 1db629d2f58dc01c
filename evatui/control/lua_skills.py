"""Lua skills, which are capabilities, as they are listed beside the skills that agents are told of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from evatui.control.capability_rows import capability_row
from evatui.control.extensions import SkillRow
from evatui.control.snapshot import CapabilityRow
from evatui.kernel.model.diagnostic import Diagnostic
from evatui.kernel.model.manifest import Kind
from evatui.kernel.registry.capability import Capability
from evatui.runtime import Runtime

__all__ = ["lua_skill_of", "lua_skill_rows", "lua_skills"]

_LAYER = "capabilities"


def lua_skills(runtime: Runtime) -> list[dict[str, Any]]:
    """In the shape of other skills, by id. What keeps one from use is ``reason``: its state in the registry."""
    return [_json(row, found) for row, found in _known(runtime)]


def lua_skill_of(runtime: Runtime, name: str) -> dict[str, Any] | None:
    """One of them as `skill.show` tells it; its text is its script, which is nothing to be told to agents."""
    known = next(((row, found) for row, found in _known(runtime) if row.id == name), None)
    if known is None:
        return None
    fields = {"capabilities": list(known[0].capabilities), "script": known[0].script, "kind": known[0].kind}
    return {**_json(*known), "fields": fields, "body": "", "copies": []}


def lua_skill_rows(rows: Iterable[CapabilityRow]) -> tuple[SkillRow, ...]:
    """Of rows of Lua skills."""
    return tuple(
        SkillRow(
            name=row.id,
            description=row.description,
            version=row.version,
            kind=row.kind,
            available=row.generation is not None,
            reason=_reason(row),
            missing=(),
            layer=_LAYER,
            location=row.path,
            always=False,
            tools=False,
            shadows=(),
            diagnostics=(),
        )
        for row in rows
    )


def _known(runtime: Runtime) -> Iterator[tuple[CapabilityRow, tuple[Diagnostic, ...]]]:
    for _, capability in sorted(runtime.registry.capabilities.items()):
        if not capability.gone and _is_skill(capability):
            rejection = capability.rejection
            yield capability_row(runtime, capability), rejection.diagnostics if rejection is not None else ()


def _is_skill(capability: Capability) -> bool:
    shown = capability.active.candidate if capability.active else capability.candidate
    manifest = shown.manifest if shown else capability.rejection.manifest if capability.rejection else None
    return manifest is not None and manifest.kind is Kind.LUA_SKILL


def _reason(row: CapabilityRow) -> str:
    return "" if row.generation is not None else row.reason or row.state.value


def _json(row: CapabilityRow, found: tuple[Diagnostic, ...]) -> dict[str, Any]:
    return {
        "name": row.id,
        "description": row.description,
        "version": row.version,
        "class": row.kind,
        "available": row.generation is not None,
        "reason": _reason(row),
        "missing": [],
        "requires": {"bins": [], "env": []},
        "allowed_tools": None,
        "always": False,
        "by_hand": False,
        "tools": False,
        "stale": False,
        "layer": _LAYER,
        "location": row.path,
        "shadows": [],
        "diagnostics": [one.to_json() for one in found],
    }
