"""What ``eva.yaml`` may set, and what holds where it says nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType

from evatui.kernel.workspace.paths import HERE

__all__ = [
    "CONFIG_FOLDERS",
    "DEFAULT_FOLDERS",
    "AuditMode",
    "AuditSettings",
    "Folders",
    "McpServerSettings",
    "Polling",
    "RuntimeMode",
    "RuntimeSettings",
    "Settings",
    "WatchSettings",
]


class RuntimeMode(StrEnum):
    NORMAL = "normal"
    TEAM = "team"
    SWARM = "swarm"
    RALPH = "ralph"
    MAINTENANCE = "maintenance"


class Polling(StrEnum):
    """Whether files are polled instead of waiting for the system's notices; AUTO polls where there are none."""

    AUTO = "auto"
    ALWAYS = "true"
    NEVER = "false"


class AuditMode(StrEnum):
    """WRITE survives the death of the process, DURABLE the loss of power."""

    WRITE = "write"
    DURABLE = "durable"


@dataclass(frozen=True, slots=True)
class Folders:
    """Where things lie; workspace-relative."""

    manifests: tuple[str, ...]
    scripts: tuple[str, ...]
    schemas: tuple[str, ...]
    policies: tuple[str, ...]
    adapters: tuple[str, ...]
    skills: tuple[str, ...]
    plugins: tuple[str, ...]


DEFAULT_FOLDERS = Folders(
    manifests=("capabilities",),
    scripts=("capabilities",),
    schemas=("schemas",),
    policies=("capabilities/policies",),
    adapters=("capabilities/adapters",),
    skills=("skills", "bundled-app-skills", "capabilities/extensions/skills"),
    plugins=("plugins", "capabilities/extensions/plugins"),
)
CONFIG_FOLDERS = Folders(
    manifests=("config/capabilities",),
    scripts=("config/capabilities", "config/tools", "config/skills", "config/mcp_handlers", "config/modules"),
    schemas=("schemas",),
    policies=("config/policies",),
    adapters=("config/adapters",),
    skills=("skills", "bundled-app-skills", "config/extensions/skills"),
    plugins=("plugins", "config/extensions/plugins"),
)


@dataclass(frozen=True, slots=True)
class RuntimeSettings:
    mode: RuntimeMode = RuntimeMode.NORMAL
    hot_reload: bool = True
    max_live_generations: int = 3
    shutdown_timeout_ms: int = 15_000
    health_interval_s: int = 30


@dataclass(frozen=True, slots=True)
class WatchSettings:
    """``debounce_ms`` is an upper bound: five quiet milliseconds end the wait."""

    debounce_ms: int = 50
    rescan_s: int = 30
    polling: Polling = Polling.AUTO


@dataclass(frozen=True, slots=True)
class AuditSettings:
    mode: AuditMode = AuditMode.WRITE
    rotate_bytes: int = 8_388_608
    keep_files: int = 16


@dataclass(frozen=True, slots=True)
class McpServerSettings:
    bind: str = "127.0.0.1:8765"
    allowed_origins: tuple[str, ...] = ()
    allowed_hosts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Settings:
    folders: Folders = DEFAULT_FOLDERS
    roots: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({"workspace": HERE}))
    runtime: RuntimeSettings = RuntimeSettings()
    watch: WatchSettings = WatchSettings()
    audit: AuditSettings = AuditSettings()
    mcp_server: McpServerSettings = McpServerSettings()
