"""What a generation brings to the sandbox."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

__all__ = ["HOST_FUNCTIONS", "Chunk", "Program"]

HOST_FUNCTIONS = (
    "fs_read_text",
    "fs_read_json",
    "fs_list",
    "fs_write_text",
    "state_get",
    "state_set",
    "emit_event",
    "invoke_adapter",
    "call_tool",
    "http_request",
    "spawn_process",
    "progress",
    "now",
    "log",
)
"""The functions that every handler finds in ``ctx.host``. Which of them do anything is the host's matter."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A Lua file. ``name`` is its workspace-relative path, as shown in errors."""

    name: str
    source: bytes


@dataclass(frozen=True, slots=True)
class Program:
    """A script with all that it may ``require`` and the limits that it runs under.

    ``modules`` maps the name used in ``require`` to the file. ``memory_bytes`` is each state's own,
    beside what the sandbox itself takes. ``concurrency`` bounds the calls that run at once. A call that was
    stopped at its deadline in less than ``fair_s`` seconds does not speak against the handler: nobody gave it time.
    """

    script: Chunk
    modules: Mapping[str, Chunk] = field(default_factory=lambda: MappingProxyType({}))
    entry: str = "invoke"
    health_check: str | None = None
    migrations: tuple[str, ...] = ()
    memory_bytes: int = 16_777_216
    max_output_bytes: int = 262_144
    concurrency: int = 4
    fair_s: float = 0.0
    host_functions: tuple[str, ...] = HOST_FUNCTIONS

    @property
    def entries(self) -> tuple[str, ...]:
        checks = () if self.health_check is None else (self.health_check,)
        return (self.entry, *checks, *self.migrations)

    @property
    def files(self) -> frozenset[str]:
        """The names of all its files."""
        return frozenset({self.script.name, *(chunk.name for chunk in self.modules.values())})
