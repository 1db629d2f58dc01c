"""A provider that is reached by a transport, as its manifest declares it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Protocol

from evatui.kernel.model.manifest import SideEffects
from evatui.kernel.model.runtime_gate import RuntimeGate

__all__ = [
    "KERNEL_PROVIDER",
    "MCP_NAMES",
    "SEPARATOR",
    "Adapter",
    "AdapterLimits",
    "Breaker",
    "Contract",
    "Judge",
    "secrets_of",
]

KERNEL_PROVIDER = "kernel"
"""The id of the provider that the kernel itself is."""
MCP_NAMES: Mapping[str, str] = MappingProxyType(
    {"tools": "mcp.tool.call", "resources": "mcp.resource.read", "prompts": "mcp.prompt.get"}
)
"""The names under which an MCP server can be called, by the allow-list that stands behind each."""
SEPARATOR = "__"
"""Stands between the server and the tool in the name under which a tool is shown, so no id of a server holds it."""


def _nothing() -> Mapping[str, Any]:
    return MappingProxyType({})


class Judge(Protocol):
    """A schema at work."""

    def check(self, value: Any) -> Sequence[Any]:
        """What in ``value`` breaks it, each with a ``pointer``, a ``message`` and a ``text``."""

    def empty_is_array(self, pointer: str) -> bool: ...


@dataclass(frozen=True, slots=True)
class Contract:
    """What callers may send under a name, and what may be answered."""

    takes: Judge
    gives: Judge


@dataclass(frozen=True, slots=True)
class AdapterLimits:
    """``rate_per_s`` None is any rate."""

    timeout_ms: int = 30_000
    concurrency: int = 4
    max_input_bytes: int = 65_536
    max_output_bytes: int = 262_144
    rate_per_s: int | None = None


@dataclass(frozen=True, slots=True)
class Breaker:
    """So many failures in a row, and it is left alone for so long; where ``failures`` is None it never is."""

    failures: int | None = 3
    recovery_ms: int = 30_000


@dataclass(frozen=True, slots=True)
class Adapter:
    """``capabilities`` are the names under which it can be called, ``path`` is its manifest, ``digest`` of its bytes.

    ``block`` is what it says under the name of its transport; ``contracts`` are by capability name, ``gate`` is
    for skills.
    """

    id: str
    transport: str
    capabilities: tuple[str, ...]
    path: str
    enabled: bool = True
    name: str = ""
    version: str = ""
    priority: int = 50
    side_effects: SideEffects = SideEffects.MUTATING
    limits: AdapterLimits = AdapterLimits()
    breaker: Breaker = Breaker()
    block: Mapping[str, Any] = field(default_factory=_nothing, compare=False)
    contracts: Mapping[str, Contract] = field(default_factory=_nothing, compare=False)
    gate: RuntimeGate = RuntimeGate()
    digest: str = ""

    @property
    def title(self) -> str:
        """As records name what answered."""
        return f"{self.id}@{self.version}"

    @property
    def aliases(self) -> Mapping[str, Mapping[str, Any]]:
        """The names of one's own for tools of an MCP server: ``{tool, arguments}`` by capability name."""
        found: Mapping[str, Mapping[str, Any]] = self.block.get("aliases") or {}
        return found


def secrets_of(block: Mapping[str, Any]) -> tuple[str, ...]:
    """The names of the credentials that the block of a transport gives away."""
    headers = (header["credential"] for header in (block.get("headers") or {}).values())
    return tuple(dict.fromkeys((*(block.get("env") or ()), *headers)))
