"""A capability as its manifest declares it, every default filled in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from evatui.kernel.model.permissions import Permissions
from evatui.kernel.model.runtime_gate import RuntimeGate

__all__ = [
    "AnalysisSpec",
    "AuditLevel",
    "AuditLevels",
    "CanarySpec",
    "ExamplesPolicy",
    "Isolation",
    "Kind",
    "Limits",
    "LuaSpec",
    "Manifest",
    "McpSpec",
    "Migration",
    "ReloadPolicy",
    "SideEffects",
    "TrustSource",
    "WithoutData",
]


class Kind(StrEnum):
    LUA_TOOL = "lua_tool"
    LUA_SKILL = "lua_skill"
    LUA_MCP_HANDLER = "lua_mcp_handler"


class Isolation(StrEnum):
    AUTO = "auto"
    IN_PROCESS = "in_process"
    PROCESS = "process"


class SideEffects(StrEnum):
    NONE = "none"
    IDEMPOTENT = "idempotent"
    MUTATING = "mutating"


class TrustSource(StrEnum):
    """Ordered from the most to the least trusted."""

    PROJECT = "project"
    USER = "user"
    THIRD_PARTY = "third_party"
    UNKNOWN = "unknown"


class AuditLevel(StrEnum):
    """Ordered from the least to the most that is written down."""

    NONE = "none"
    METADATA_ONLY = "metadata_only"
    FULL = "full"


class ExamplesPolicy(StrEnum):
    WARN = "warn"
    REQUIRE = "require"


@dataclass(frozen=True, slots=True)
class LuaSpec:
    """``modules`` maps the name used in ``require`` to a workspace-relative path."""

    script: str
    entry: str = "invoke"
    health_check: str | None = None
    modules: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True)
class Limits:
    timeout_ms: int = 30_000
    max_input_bytes: int = 65_536
    max_output_bytes: int = 262_144
    concurrency: int = 4
    memory_bytes: int = 16_777_216
    host_calls: int = 1_000
    state_bytes: int = 1_048_576


class WithoutData(StrEnum):
    """What to do at the deadline of a canary that has no verdict by then."""

    HOLD = "hold"
    PROMOTE = "promote"
    ABORT = "abort"


@dataclass(frozen=True, slots=True)
class CanarySpec:
    """Whose calls a new version takes first: of whoever matches one of ``users``, all of ``tags`` or one of
    ``workspaces``, and of ``percent`` of all others."""

    percent: float = 10
    workspaces: tuple[str, ...] = ()
    users: tuple[str, ...] = ()
    tags: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True)
class AnalysisSpec:
    """When a canary passes or fails."""

    min_samples: int = 20
    window_s: int = 60
    max_error_rate: float = 0.2
    deadline_s: int = 600
    on_insufficient_data: WithoutData = WithoutData.HOLD


@dataclass(frozen=True, slots=True)
class ReloadPolicy:
    hot_reload: bool = True
    drain_timeout_ms: int = 10_000
    rollback_on_failure: bool = True
    examples: ExamplesPolicy = ExamplesPolicy.WARN
    canary: CanarySpec | None = None
    analysis: AnalysisSpec = AnalysisSpec()


@dataclass(frozen=True, slots=True)
class AuditLevels:
    log_input: AuditLevel = AuditLevel.METADATA_ONLY
    log_output: AuditLevel = AuditLevel.METADATA_ONLY


@dataclass(frozen=True, slots=True)
class McpSpec:
    tool_name: str
    description: str = ""
    exposed_name: str | None = None
    annotations: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True)
class Migration:
    """The function ``entry`` carries state of the schema ``source`` over to ``target``."""

    source: int
    target: int
    entry: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """``input_schema`` and ``output_schema`` are workspace-relative paths, or the inline objects themselves."""

    id: str
    kind: Kind
    version: str
    lua: LuaSpec
    input_schema: str | Mapping[str, Any]
    output_schema: str | Mapping[str, Any]
    name: str = ""
    description: str = ""
    enabled: bool = True
    priority: int = 50
    capabilities: tuple[str, ...] = ()
    permissions: Permissions = Permissions()
    limits: Limits = Limits()
    reload: ReloadPolicy = ReloadPolicy()
    audit: AuditLevels = AuditLevels()
    isolation: Isolation = Isolation.AUTO
    side_effects: SideEffects = SideEffects.NONE
    trust: TrustSource = TrustSource.PROJECT
    mcp: McpSpec | None = None
    runtime_gate: RuntimeGate | None = None
    expose_as_capability: bool = False
    """Has an MCP handler its capability names for everybody, too?"""
    state_schema: int = 1
    """Version of the durable state: its keys are kept apart from those of other versions."""
    migrations: tuple[Migration, ...] = ()

    @property
    def provides(self) -> tuple[str, ...]:
        """Its capability names for ordinary callers: none of an MCP handler, unless it is exposed."""
        hidden = self.kind is Kind.LUA_MCP_HANDLER and not self.expose_as_capability
        return () if hidden else self.capabilities
