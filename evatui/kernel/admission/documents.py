"""The formats of manifest, adapter and policy as JSON Schema documents, made from the same tables that check them."""

from __future__ import annotations

from typing import Any

from evatui.kernel.admission.adapter_rules import ADAPTER, TRANSPORTS
from evatui.kernel.admission.manifest_rules import MANIFEST
from evatui.kernel.admission.policy_rules import POLICY
from evatui.kernel.model.manifest import Kind

__all__ = ["adapter_document", "manifest_document", "policy_document"]

_NEEDED = {
    Kind.LUA_TOOL: ("capabilities",),
    Kind.LUA_SKILL: ("capabilities", "runtime_gate"),
    Kind.LUA_MCP_HANDLER: ("mcp",),
}
_DRAFT = "https://json-schema.org/draft/2020-12/schema"


def manifest_document() -> dict[str, Any]:
    """``schemas/evatui.manifest.schema.json``."""
    kinds = [_needs(kind, *names) for kind, names in _NEEDED.items()]
    return {"$schema": _DRAFT, "title": "Manifest of a capability", **MANIFEST.schema(), "allOf": kinds}


def _needs(kind: Kind, *names: str) -> dict[str, Any]:
    """A rule for editors: this kind requires these keys."""
    wanted: dict[str, Any] = {
        "required": list(names),
        "properties": {name: {"not": {"type": "null"}} for name in names},
    }
    if "capabilities" in names:
        wanted["properties"]["capabilities"] = {"minItems": 1}
    return {"if": {"properties": {"kind": {"const": kind.value}}}, "then": wanted}


def adapter_document() -> dict[str, Any]:
    """``schemas/evatui.adapter.schema.json``: each transport requires the block of its name."""
    blocks = [
        {
            "if": {"required": ["transport"], "properties": {"transport": {"const": name}}},
            "then": {"required": [name], "properties": {name: {"not": {"type": "null"}}}},
            "else": {"properties": {name: {"type": "null"}}},
        }
        for name in TRANSPORTS
    ]
    return {"$schema": _DRAFT, "title": "Manifest of an adapter", **ADAPTER.schema(), "allOf": blocks}


def policy_document() -> dict[str, Any]:
    """``schemas/evatui.policy.schema.json``."""
    return {"$schema": _DRAFT, "title": "Policy of a workspace", **POLICY.schema()}
