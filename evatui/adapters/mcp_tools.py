"""The tools of an MCP server, judged: which of them can be used at all, and whether they are what was approved."""

from __future__ import annotations

import difflib
import hashlib
import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from evatui.kernel.admission.schema_cost import MAX_WAYS, Ways
from evatui.kernel.admission.schemas import CompiledSchema
from evatui.kernel.model.adapter import SEPARATOR
from evatui.kernel.model.ids import fold_words
from evatui.kernel.model.permissions import covers_name
from evatui.kernel.model.text import clean_line, cut
from evatui.kernel.model.tools import Definition, ToolInfo, ToolState

__all__ = ["PROTECTED", "Tool", "judged", "shape_problem", "shown"]

MAX_DEPTH: Final = 10
MAX_BYTES: Final = 65_536
PROTECTED: Final = frozenset(
    {
        "shell",
        "read_file",
        "write_file",
        "edit_file",
        "diff_edit",
        "glob",
        "grep",
        "list_dir",
        "web_search",
        "web_fetch",
        "browser",
        "git",
        "message",
        "send_file",
        "spawn",
        "voice_synthesize",
        "save_memory",
        "recall_memory",
        "configure_tool",
    }
)
"""Names that agents know as their own tools: nothing from outside may pass for one."""
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,128}", re.ASCII)
_APPROVED: Final = ("title", "description", "inputSchema", "outputSchema", "annotations")
_DRAFTS: Final = ("https://json-schema.org/", "http://json-schema.org/")
_MAX_DIFF: Final = 60


@dataclass(frozen=True, slots=True)
class Tool:
    """``why`` it cannot be used, empty where it can; then it has its schemas, of which ``output`` may be None."""

    name: str
    description: str
    definition: Definition
    why: str = ""
    input: CompiledSchema | None = None
    output: CompiledSchema | None = None


def shape_problem(tool: Any) -> str:
    """Why this is no tool that anybody could call; empty where it may be one. Cheap: for the loop."""
    if not isinstance(tool, dict):
        return "it is no object"
    name = tool.get("name")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        return "its name is none of 1 to 128 characters A-Z a-z 0-9 _ . -"
    schema = tool.get("inputSchema")
    if schema is not None and (not isinstance(schema, dict) or schema.get("type", "object") != "object"):
        return "its input schema is not one for an object"
    for key in ("inputSchema", "outputSchema"):
        if _depth(tool.get(key)) > MAX_DEPTH:
            return f"its {key} is nested more than {MAX_DEPTH} levels deep"
    return ""


def judged(raw: Sequence[Any], taken: Collection[str]) -> list[Tool]:
    """Every entry of a list, in the order of names. ``taken`` are names, folded, that nothing else may have.

    Takes CPU: for a thread.
    """
    names = Counter(fold_words(str(tool.get("name"))) for tool in raw if isinstance(tool, dict))
    found = [_judged_alone(tool, names, taken) for tool in raw]
    return sorted(found, key=lambda tool: (tool.name, tool.definition.digest))


def shown(server: str, tool: Tool, allowed: Iterable[str], pinned: Mapping[str, Definition]) -> ToolInfo:
    """How a tool stands to what may be called and to what was approved."""
    approved = pinned.get(tool.name)
    state, why = ToolState.READY, ""
    diff: tuple[str, ...] = ()
    if tool.why:
        state, why = ToolState.SKIPPED, tool.why
    elif not any(covers_name(entry, tool.name) for entry in allowed):
        state, why = ToolState.HIDDEN, "no entry of mcp.tools covers it"
    elif approved is None:
        state, why = ToolState.NEW, "nobody has approved it"
    elif approved.digest != tool.definition.digest:
        state, why = ToolState.CHANGED, "it is not what was approved"
        diff = _difference(approved.body, tool.definition.body)
    return ToolInfo(
        name=tool.name,
        shown=f"{server}{SEPARATOR}{tool.name}",
        state=state,
        description=tool.description,
        digest=tool.definition.digest,
        why=why,
        diff=diff,
        definition=tool.definition,
    )


def _judged_alone(raw: Any, names: Counter[str], taken: Collection[str]) -> Tool:
    """Whatever is wrong with it is its own matter."""
    try:
        return _judged(raw, names, taken)
    except (ValueError, TypeError, RecursionError) as problem:  # a number of a million digits, say
        name = clean_line(str(raw.get("name")) if isinstance(raw, dict) else "", 128)
        return Tool(name, "", Definition(name, ""), f"it cannot be read ({type(problem).__name__})")


def _judged(raw: Any, names: Counter[str], taken: Collection[str]) -> Tool:
    name = clean_line(str(raw.get("name")) if isinstance(raw, dict) else str(raw), 128)
    description = raw.get("description") if isinstance(raw, dict) else ""
    told = clean_line(description, 1_000) if isinstance(description, str) else ""
    why = shape_problem(raw) or _size_problem(raw)
    definition = _definition(raw, name, why)
    folded = fold_words(name)
    if not why and folded in PROTECTED | set(taken):
        why = "its name is that of a tool of one's own"
    if not why and names[folded] > 1:
        why = "another tool of the list has the same name, or one that differs in case or separators only"
    if why:
        return Tool(name, told, definition, why)
    wrong = _header_problem(raw.get("inputSchema"))
    if wrong:
        return Tool(name, told, definition, f"what it binds to headers is invalid: {wrong}")
    try:
        takes = _compiled(raw.get("inputSchema") or {"type": "object"})
        gives = _compiled(raw["outputSchema"]) if raw.get("outputSchema") is not None else None
    except ValueError as problem:
        return Tool(name, told, definition, f"its schema cannot be used: {clean_line(str(problem), 200)}")
    return Tool(name, told, definition, "", takes, gives)


def _header_problem(schema: Any) -> str:
    """Of arguments that are to go into headers, by the SDK's own rule: the protocol forbids to call such a tool."""
    from mcp.shared.inbound import find_invalid_x_mcp_header

    return clean_line(find_invalid_x_mcp_header(schema) or "", 200)


def _size_problem(raw: Mapping[str, Any]) -> str:
    for key in ("inputSchema", "outputSchema"):
        if len(json.dumps(raw.get(key))) > MAX_BYTES:
            return f"its {key} has more than {MAX_BYTES:,} bytes"
    return ""


def _definition(raw: Any, name: str, why: str) -> Definition:
    body = {key: raw[key] for key in _APPROVED if raw.get(key) is not None} if isinstance(raw, dict) and not why else {}
    text = json.dumps({"name": name, **body}, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return Definition(name, hashlib.sha256(text.encode("utf-8", "replace")).hexdigest(), body)


def _compiled(schema: Any) -> CompiledSchema:
    if not isinstance(schema, dict):
        raise ValueError("it is no object")
    if not str(schema.get("$schema", _DRAFTS[0])).startswith(_DRAFTS):
        raise ValueError("its dialect is unknown")
    outside = next((target for target in _references(schema) if not target.startswith("#")), None)
    if outside is not None:
        raise ValueError("it refers to a schema outside of itself")
    if Ways(schema).unrolled() > MAX_WAYS:
        raise ValueError(f"alternatives and references lead to one value in more than {MAX_WAYS:,} ways")
    return CompiledSchema(schema)


def _references(value: Any) -> Iterable[str]:
    if isinstance(value, dict):
        for key, child in value.items():
            if key in ("$ref", "$dynamicRef", "$recursiveRef") and isinstance(child, str):
                yield child
            else:
                yield from _references(child)
    elif isinstance(value, list):
        for child in value:
            yield from _references(child)


def _depth(value: Any) -> int:
    """How deep objects and arrays are nested; counting stops where that is too much."""
    depth, level = 0, [value] if isinstance(value, dict | list) else []
    while level and depth <= MAX_DEPTH:
        depth += 1
        level = [
            child
            for parent in level
            for child in (parent.values() if isinstance(parent, dict) else parent)
            if isinstance(child, dict | list)
        ]
    return depth


def _difference(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[str, ...]:
    lines = difflib.unified_diff(_lines(before), _lines(after), "approved", "offered", lineterm="", n=1)
    found = [cut(clean_line(line, 400), 400) for line in lines]
    return tuple(found[:_MAX_DIFF])


def _lines(body: Mapping[str, Any]) -> list[str]:
    return json.dumps(dict(body), indent=1, sort_keys=True, ensure_ascii=False).splitlines()
