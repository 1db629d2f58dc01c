"""Small workspaces on a real disk, written as a person would write them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

MANIFEST = """\
id: greet
name: Greeter
kind: lua_tool
version: 1.0.0
capabilities: [text.greet]
lua:
  script: capabilities/tools/greet.lua
  health_check: health_check
input_schema: schemas/greet.input.json
output_schema: schemas/greet.output.json
limits: {timeout_ms: 20000, concurrency: 4}
reload: {drain_timeout_ms: 20000}
"""

SCRIPT = """\
function invoke(ctx, request)
  return {ok = true, result = {text = "hello " .. request.payload.name, by = "one"}}
end

function health_check(ctx)
  return {ok = true}
end
"""

INPUT = (
    '{"type": "object", "properties": {"name": {"type": "string"}},'
    ' "required": ["name"], "additionalProperties": false}'
)
OUTPUT = (
    '{"type": "object", "properties": {"text": {"type": "string"}, "by": {"type": "string"}}, "required": ["text"]}'
)
POLICY = 'version: 1\ngrants:\n  - match: {ids: ["greet"]}\n    fs: {read: [workspace]}\n'
EVERYTHING = """\
version: 1
grants:
  - match: {ids: ["*"]}
    fs: {read: "*", write: "*"}
    network: {hosts: "*"}
    shell: {commands: [[git]]}
    env: "*"
    adapters: {capabilities: "*", providers: "*"}
    events: {emit: "*"}
"""
"""A policy that grants all that there is to grant."""

GREETER: Mapping[str, str] = {
    "capabilities/greet.yaml": MANIFEST,
    "capabilities/tools/greet.lua": SCRIPT,
    "schemas/greet.input.json": INPUT,
    "schemas/greet.output.json": OUTPUT,
    "capabilities/policies/default.yaml": POLICY,
}


def write(root: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def save(root: Path, name: str, text: str) -> None:
    """As careful editors save: a new file takes the old one's place."""
    path = root / name
    beside = path.with_name(path.name + ".tmp~")
    beside.write_text(text, encoding="utf-8")
    os.replace(beside, path)


def tool(name: str, body: str, **manifest: str) -> dict[str, str]:
    """A capability ``name`` that takes and gives anything; ``body`` is its whole script.

    The manifest comes last, so that where it is written beside a runtime all that it names is there already.
    """
    lines = "".join(f"{key}: {value}\n" for key, value in manifest.items())
    return {
        f"capabilities/tools/{name}.lua": body,
        f"capabilities/{name}.yaml": f"id: {name}\nkind: lua_tool\nversion: 1.0.0\ncapabilities: [test.{name}]\n"
        f"lua: {{script: capabilities/tools/{name}.lua}}\ninput_schema: {{type: object}}\noutput_schema: {{}}\n{lines}",
    }
