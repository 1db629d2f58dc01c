"""From a manifest's tree to a `Manifest`, with everything wrong in it reported at once."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from evatui.kernel.admission.manifest_rules import MANIFEST
from evatui.kernel.admission.report import MANIFEST_FAULTS, Fault, Report
from evatui.kernel.model.ids import CAPABILITY_ID
from evatui.kernel.model.manifest import (
    AnalysisSpec,
    AuditLevel,
    AuditLevels,
    CanarySpec,
    ExamplesPolicy,
    Isolation,
    Kind,
    Limits,
    LuaSpec,
    Manifest,
    McpSpec,
    Migration,
    ReloadPolicy,
    SideEffects,
    TrustSource,
    WithoutData,
)
from evatui.kernel.model.permissions import ALL, Adapters, Events, Files, Network, Permissions, Shell
from evatui.kernel.model.runtime_gate import RuntimeGate
from evatui.kernel.model.text import clean, clean_line
from evatui.kernel.workspace.document import Document

__all__ = ["Reading", "gate_of", "guess_id", "permissions", "place_source", "read_manifest", "values_of"]

_KEPT = 1_024
_TRUST = tuple(TrustSource)
_NO_MODULES: Mapping[str, str] = MappingProxyType({})
_RELOAD = ("hot_reload", "drain_timeout_ms", "rollback_on_failure", "examples")
_ESSENTIAL = ("id", "kind", "version", "lua", "input_schema", "output_schema")
_ID_LINE = re.compile(rb"^id:[ \t]*[\"']?([A-Za-z0-9][A-Za-z0-9_.-]{0,127})[\"']?[ \t]*(?:#.*)?\r?$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Reading:
    """What could be understood. ``manifest`` is None where an essential key is missing or wrong.

    ``raw`` holds what is right and defaults for the rest, so that later stages can say what else is wrong.
    """

    raw: Mapping[str, Any]
    manifest: Manifest | None
    report: Report

    @property
    def id(self) -> str | None:
        found: str | None = self.raw.get("id")
        return found


def read_manifest(document: Document) -> Reading:
    report = Report(document, MANIFEST_FAULTS)
    written = document.value
    if not isinstance(written, dict):
        message = "the manifest is empty" if written is None else f"the manifest is {report.shown(())}, not a mapping"
        report.fault(Fault.NO_MAPPING, message, ())
        return Reading(MappingProxyType({}), None, report)
    raw: dict[str, Any] = MANIFEST.read(written, (), report)
    complete = all(key in raw for key in _ESSENTIAL) and "script" in raw["lua"]
    manifest = _build(raw, place_source(document.file)) if complete else None
    return Reading(MappingProxyType(raw), manifest, report)


def values_of(document: Document | None) -> Mapping[str, Any]:
    """All that a manifest says, with every default filled in: what ``inspect`` shows."""
    return read_manifest(document).raw if document is not None else {}


def guess_id(data: bytes) -> str | None:
    """The id of a manifest that is no valid YAML, from its ``id:`` line; None unless there is exactly one."""
    head = data[:65_536].removeprefix(b"\xef\xbb\xbf")
    found = _ID_LINE.findall(head if b"\n" in head else head.replace(b"\r", b"\n"))
    if len(found) != 1:
        return None
    text = found[0].decode("ascii")
    return text if CAPABILITY_ID.fullmatch(text) else None


def place_source(path: str) -> TrustSource:
    """What the place of a manifest says about its source: what lies under ``extensions`` came from elsewhere."""
    return TrustSource.THIRD_PARTY if "extensions" in path.split("/")[:-1] else TrustSource.PROJECT


def permissions(raw: Mapping[str, Any]) -> Permissions:
    """The typed form of a ``permissions`` block, or of a policy grant's own keys."""
    shell, adapters, files = raw.get("shell"), raw.get("adapters", {}), raw.get("fs", {})
    return _permissions(
        tuple(files.get("read", ())),
        tuple(files.get("write", ())),
        *_network(raw.get("network", False)),
        tuple(tuple(words) for words in shell["commands"]) if shell else (),
        tuple(raw.get("env", ())),
        tuple(adapters.get("capabilities", ())),
        tuple(adapters.get("providers", ())),
        tuple(raw.get("events", {}).get("emit", ())),
    )


def _network(raw: Any) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Hosts and methods."""
    if raw is True:
        return (ALL,), (ALL,)
    if not raw or not raw["hosts"]:
        return (), ()
    return tuple(raw["hosts"]), tuple(raw.get("methods", (ALL,)))


def _build(raw: dict[str, Any], source: TrustSource) -> Manifest:
    declared = TrustSource(raw["trust"]["source"])
    return Manifest(
        id=raw["id"],
        kind=Kind(raw["kind"]),
        version=raw["version"],
        lua=_lua(**raw["lua"]),
        input_schema=raw["input_schema"],
        output_schema=raw["output_schema"],
        name=clean_line(raw["name"]),
        description=clean(raw["description"]),
        enabled=raw["enabled"],
        priority=raw["priority"],
        capabilities=tuple(raw["capabilities"]),
        permissions=permissions(raw["permissions"]),
        limits=_limits(**raw["limits"]),
        reload=_reload(raw["reload"]),
        audit=_audit(raw["audit"]["log_input"], raw["audit"]["log_output"]),
        isolation=Isolation(raw["isolation"]),
        side_effects=SideEffects(raw["side_effects"]),
        trust=max(source, declared, key=_TRUST.index),
        mcp=_mcp(raw["mcp"]),
        runtime_gate=gate_of(raw["runtime_gate"]),
        expose_as_capability=raw["expose_as_capability"],
        state_schema=raw["state"]["schema_version"],
        migrations=tuple(Migration(one["from"], one["to"], one["entry"]) for one in raw["state"]["migrations"]),
    )


_limits = functools.lru_cache(_KEPT)(Limits)
"""Of this and the next three, many manifests say the same."""


@functools.lru_cache(_KEPT)
def _permissions(
    read: tuple[str, ...],
    write: tuple[str, ...],
    hosts: tuple[str, ...],
    methods: tuple[str, ...],
    commands: tuple[tuple[str, ...], ...],
    env: tuple[str, ...],
    capabilities: tuple[str, ...],
    providers: tuple[str, ...],
    emit: tuple[str, ...],
) -> Permissions:
    files, network, adapters = Files(read, write), Network(hosts, methods), Adapters(capabilities, providers)
    return Permissions(files, network, Shell(commands), env, adapters, Events(emit))


@functools.lru_cache(_KEPT)
def _audit(log_input: str, log_output: str) -> AuditLevels:
    return AuditLevels(AuditLevel(log_input), AuditLevel(log_output))


@functools.lru_cache(_KEPT)
def _served_on(hot_reload: bool, drain_timeout_ms: int, rollback_on_failure: bool, examples: str) -> ReloadPolicy:
    return ReloadPolicy(hot_reload, drain_timeout_ms, rollback_on_failure, ExamplesPolicy(examples))


def _reload(raw: dict[str, Any]) -> ReloadPolicy:
    plain = _served_on(*(raw[name] for name in _RELOAD))
    if raw["canary"] is None:
        return plain
    canary, analysis = raw["canary"], raw["analysis"]
    spec = CanarySpec(
        canary["percent"], tuple(canary["workspaces"]), tuple(canary["users"]), MappingProxyType(canary["tags"])
    )
    without = WithoutData(analysis["on_insufficient_data"])
    return replace(plain, canary=spec, analysis=AnalysisSpec(**{**analysis, "on_insufficient_data": without}))


def _lua(script: str, entry: str, health_check: str | None, modules: dict[str, str]) -> LuaSpec:
    return LuaSpec(script, entry, health_check, MappingProxyType(modules) if modules else _NO_MODULES)


def _mcp(raw: dict[str, Any] | None) -> McpSpec | None:
    if raw is None or "tool_name" not in raw:
        return None
    return McpSpec(raw["tool_name"], raw["description"], raw["exposed_name"], MappingProxyType(raw["annotations"]))


def gate_of(raw: dict[str, Any] | None) -> RuntimeGate | None:
    return RuntimeGate(tuple(raw["allowed_modes"]), raw["disallow_team_worker"]) if raw is not None else None
