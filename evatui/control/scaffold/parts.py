"""The files of a new capability."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files as resources

from evatui.kernel.model.ids import CAPABILITY_NAME
from evatui.kernel.model.manifest import Kind
from evatui.kernel.workspace.layout import Layout

__all__ = ["Parts", "parts_of_new"]

_FOLDERS = {Kind.LUA_TOOL: "tools", Kind.LUA_SKILL: "skills", Kind.LUA_MCP_HANDLER: "mcp_handlers"}
_SCRIPT = """\
---@param ctx eva.Context
---@param request eva.Request
---@return eva.Response
local function invoke(ctx, request)
  return { ok = true, result = { text = "Hello " .. (request.payload.name or "world") } }
end

---@param ctx eva.Context
---@return {ok: boolean}
local function health_check(ctx)
  return { ok = true }
end

return { invoke = invoke, health_check = health_check }
"""
_EXAMPLE = """\
name: Greets by name
payload: {name: Ada}
expect:
  result: {text: Hello Ada}
"""
_TAKES = {"name": {"type": "string", "description": "Whom to greet.", "maxLength": 200}}
_GIVES = {"text": {"type": "string", "description": "The greeting."}}


@dataclass(frozen=True, slots=True)
class Parts:
    """``own`` are new files by their path; ``shared`` are written only where there is no such file yet.

    ``name`` is what callers call it by.
    """

    manifest: str
    script: str
    name: str
    own: Mapping[str, str]
    shared: Mapping[str, str]


def parts_of_new(kind: Kind, capability_id: str, layout: Layout, manifest_schema: str) -> Parts:
    """A capability that greets; ``manifest_schema`` is the text of the schema that editors check manifests with."""
    stem = re.sub(r"[^A-Za-z0-9]+", "_", capability_id).strip("_")
    home, schemas = layout.manifests[0], layout.schemas[0]
    manifest = f"{home}/{capability_id}.yaml"
    script = f"{_scripts(kind, layout)}/{stem}.lua"
    takes, gives = (f"{schemas}/{stem}.{way}.json" for way in ("input", "output"))
    editor = f"{schemas}/evatui.manifest.schema.json"
    name = _name(capability_id)
    text = _manifest(kind, capability_id, name, script, takes, gives, layout.runtime.mode)
    return Parts(
        manifest,
        script,
        name,
        own={
            manifest: f"# yaml-language-server: $schema={posixpath.relpath(editor, home)}\n{text}",
            script: _SCRIPT,
            takes: _schema(_TAKES),
            gives: _schema({**_GIVES}, ["text"]),
            f"{home}/examples/{capability_id}/greets.yaml": _EXAMPLE,
        },
        shared={editor: manifest_schema, f"{home}/evatui.d.lua": _types()},
    )


def _scripts(kind: Kind, layout: Layout) -> str:
    folder = _FOLDERS[kind]
    return next((path for path in layout.scripts if path.endswith(f"/{folder}")), f"{layout.scripts[0]}/{folder}")


def _name(capability_id: str) -> str:
    name = ".".join(part for part in re.split(r"[._-]+", capability_id) if part)
    return name if CAPABILITY_NAME.fullmatch(name) else capability_id


def _manifest(kind: Kind, capability_id: str, name: str, script: str, takes: str, gives: str, mode: str) -> str:
    quoted = f'"{capability_id}"'  # an id such as 12 or true would not be text otherwise
    lines = [f"id: {quoted}", "description: Greets a person.", f"kind: {kind}", "version: 0.1.0"]
    if kind is Kind.LUA_MCP_HANDLER:
        lines += ["mcp:", f'  tool_name: "{name}"', "  description: Greets a person."]
    else:
        lines += [f'capabilities: ["{name}"]']
    if kind is Kind.LUA_SKILL:
        lines += [f"runtime_gate: {{allowed_modes: [{mode}]}}"]
    lines += ["lua:", f"  script: {script}", "  health_check: health_check"]
    lines += [f"input_schema: {takes}", f"output_schema: {gives}"]
    lines += ["permissions: {}  # nothing: what it asks for here, the policy must grant", "side_effects: none"]
    return "\n".join(lines) + "\n"


def _schema(properties: Mapping[str, object], required: list[str] | None = None) -> str:
    found: dict[str, object] = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": dict(properties),
    }
    if required:
        found["required"] = required
    return json.dumps({**found, "additionalProperties": False}, indent=2) + "\n"


def _types() -> str:
    return (resources("evatui.control.scaffold") / "types.d.lua").read_text(encoding="utf-8")
