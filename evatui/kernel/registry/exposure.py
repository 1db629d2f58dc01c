"""What MCP clients may see and call: of what serves what the policy exposes, and of that what their own name gets.

Pure: of a table and a policy, and nothing else.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import orjson

from evatui.kernel.admission.policy import Policy
from evatui.kernel.model.exposed import EXPOSED_NAME, exposed_as, handler_name, likeness
from evatui.kernel.model.manifest import Kind, Manifest, SideEffects
from evatui.kernel.model.permissions import covers_name, takes_name
from evatui.kernel.model.text import clean, clean_line
from evatui.kernel.registry.generation import Generation
from evatui.kernel.registry.table import Table

__all__ = ["PROMPTS", "Exposed", "Hidden", "Seen", "Tool", "exposed"]

PROMPTS = ("context",)
"""What there is: all that agents are told of skills."""

_MAX_DESCRIPTION = 4_000
_HINTS = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")


@dataclass(frozen=True, slots=True)
class Tool:
    """``name`` is what clients call it by, ``called`` the tool's or capability's own name, which the policy speaks of.

    ``provider`` answers: the handler; of a capability the one that the router prefers, so that is None.
    """

    name: str
    called: str
    provider: str | None
    described: Mapping[str, Any]
    """``{name, title, description, inputSchema, outputSchema, annotations}``, as MCP spells it."""


@dataclass(frozen=True, slots=True)
class Hidden:
    """What the policy exposes and clients nevertheless do not see."""

    called: str
    id: str
    why: str


@dataclass(frozen=True, slots=True)
class Seen:
    """The tools that one client sees, by exposed name and in the order of names; equal lists have one ``revision``."""

    tools: Mapping[str, Tool]
    revision: str


@dataclass(frozen=True, slots=True)
class Exposed:
    """``principals`` maps the name of a client to ``{token_sha256, tools, prompts}`` of the policy."""

    tools: Mapping[str, Tool]
    hidden: tuple[Hidden, ...]
    principals: Mapping[str, Mapping[str, Any]]
    prompts: tuple[str, ...] = ()
    _seen: dict[str | None, Seen] = field(default_factory=dict, repr=False, compare=False)

    def seen_by(self, principal: str | None) -> Seen:
        """``principal`` None is somebody who gets all that is exposed. Raises `KeyError` for one that is not known."""
        known = self._seen.get(principal)
        if known is None:
            known = self._seen[principal] = _seen(self._allowed(principal))
        return known

    def prompts_of(self, principal: str | None) -> tuple[str, ...]:
        """The names of the prompts that it may ask for; as `seen_by`."""
        if principal is None:
            return self.prompts
        return _named(self.principals[principal].get("prompts", ()), self.prompts)

    def _allowed(self, principal: str | None) -> Mapping[str, Tool]:
        if principal is None:
            return self.tools
        patterns = self.principals[principal]["tools"]
        return {
            name: tool
            for name, tool in self.tools.items()
            if any(covers_name(pattern, tool.called) for pattern in patterns)
        }


def exposed(table: Table, policy: Policy | None) -> Exposed:
    """What ``policy`` exposes of what serves by ``table``."""
    if policy is None:
        return Exposed(MappingProxyType({}), (), MappingProxyType({}))
    settings = policy.settings["mcp_server"]
    tools: dict[str, Tool] = {}
    taken: dict[str, str] = {}
    hidden: list[Hidden] = []
    for called, generation, name, provider in (*_handlers(table, settings), *_capabilities(table, settings)):
        id = generation.manifest.id
        why = _unfit(name, taken)
        if why:
            hidden.append(Hidden(called, id, why))
            continue
        taken[likeness(name)] = id
        tools[name] = Tool(name, called, provider, _described(name, generation))
    ordered = MappingProxyType(dict(sorted(tools.items())))
    prompts = _named(settings["prompts"], PROMPTS)
    return Exposed(ordered, tuple(hidden), MappingProxyType(settings["principals"]), prompts)


def _named(patterns: Iterable[str], names: Iterable[str]) -> tuple[str, ...]:
    return tuple(name for name in names if any(covers_name(pattern, name) for pattern in patterns))


_Offer = tuple[str, Generation, str, str | None]


def _handlers(table: Table, settings: Mapping[str, Any]) -> Iterator[_Offer]:
    allow, deny = settings["tools"]["allow"], settings["tools"]["deny"]
    for id, generation in sorted(table.active.items()) if allow else ():
        spec, name = generation.manifest.mcp, handler_name(generation.manifest)
        if spec is None or name is None or any(takes_name(entry, spec.tool_name) for entry in deny):
            continue
        if any(covers_name(entry, spec.tool_name) for entry in allow):
            yield spec.tool_name, generation, name, id


def _capabilities(table: Table, settings: Mapping[str, Any]) -> Iterator[_Offer]:
    """An ordinary capability serves under a name with whoever the router prefers. Handlers have their own list."""
    patterns, deny = settings["capabilities"], settings["tools"]["deny"]
    for called, ids in sorted(table.providers.items()) if patterns else ():
        generation = table.active[ids[0]]
        if generation.manifest.kind is Kind.LUA_MCP_HANDLER or any(takes_name(entry, called) for entry in deny):
            continue
        if any(covers_name(entry, called) for entry in patterns):
            yield called, generation, exposed_as(called), None


def _unfit(name: str, taken: Mapping[str, str]) -> str:
    if not EXPOSED_NAME.fullmatch(name):
        return f"{clean_line(name, 130)} is no name that every client takes: 1 to 64 of A-Z a-z 0-9 _ -, first a letter"
    if likeness(name) in taken:
        return f"the exposed name {name} is taken by {taken[likeness(name)]}"
    return ""


def _described(name: str, generation: Generation) -> Mapping[str, Any]:
    manifest, candidate = generation.manifest, generation.candidate
    told = (manifest.mcp.description if manifest.mcp else "") or manifest.description or manifest.name
    return {
        "name": name,
        "title": clean_line(manifest.name, 200),
        "description": clean(told, _MAX_DESCRIPTION) or name,
        "inputSchema": {**candidate.input.document, "type": "object"},
        "outputSchema": dict(candidate.output.document),
        "annotations": _annotations(manifest),
    }


def _annotations(manifest: Manifest) -> Mapping[str, Any]:
    """By what the kernel knows of it, and where the manifest says otherwise by that; other keys are not passed on."""
    permissions = manifest.permissions
    known = {
        "readOnlyHint": manifest.side_effects is SideEffects.NONE,
        "destructiveHint": manifest.side_effects is SideEffects.MUTATING,
        "idempotentHint": manifest.side_effects is not SideEffects.MUTATING,
        "openWorldHint": bool(permissions.network.hosts or permissions.adapters.capabilities),
    }
    said = manifest.mcp.annotations if manifest.mcp else {}
    return {**known, **{hint: said[hint] for hint in _HINTS if isinstance(said.get(hint), bool)}}


def _seen(tools: Mapping[str, Tool]) -> Seen:
    text = orjson.dumps([tool.described for tool in tools.values()], default=dict, option=orjson.OPT_SORT_KEYS)
    return Seen(tools, hashlib.sha256(text).hexdigest())
