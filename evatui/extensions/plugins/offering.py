"""Plugins as providers: each tool is a capability ``plugin.<plugin>.<tool>``, and whoever may call it calls that."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final

from evatui.extensions.plugins.catalogue import Listed, PluginCatalogue
from evatui.extensions.plugins.plugin import Plugin
from evatui.extensions.shared.folders import MANIFEST_FILE
from evatui.extensions.shared.manifest import PluginManifest
from evatui.kernel.admission.adapter_rules import MCP
from evatui.kernel.model.adapter import MCP_NAMES, Adapter, AdapterLimits, Breaker, Contract

__all__ = ["MAX_BYTES", "TRANSPORT", "adapters_of", "capability_of", "provider_of"]

TRANSPORT: Final = "plugin"
MAX_BYTES: Final = 1 << 20
"""Of what a tool is sent, and of what it answers."""
_CONCURRENCY: Final = 8


class _Whatever:
    """What a plugin answers has a form of its own, which is seen to where it is read."""

    def check(self, value: Any) -> tuple[()]:
        return ()

    def empty_is_array(self, pointer: str) -> bool:
        return False


def provider_of(name: str) -> str:
    """The id of the provider that the plugin ``name`` is."""
    return f"plugin.{name}"


def capability_of(name: str, tool: str) -> str:
    return f"plugin.{name}.{tool}"


def adapters_of(known: PluginCatalogue) -> tuple[Adapter, ...]:
    """Of those that have tools or hooks, and that policy and signature let run. One that lacks something says so when
    a tool of it is called: what it needs may come at any time. The MCP servers that a plugin brings along are adapters
    of their own, under the same approvals as any."""
    return (
        *(_adapter(one) for one in known.plugins if _serves(one)),
        *(server for one in known.plugins if one.available for server in _servers(one.plugin)),
    )


def _serves(one: Listed) -> bool:
    manifest = one.plugin.manifest
    return bool(manifest.tools) if one.reason == "missing" else one.available and bool(manifest.tools or manifest.hooks)


def _adapter(one: Listed) -> Adapter:
    plugin = one.plugin
    manifest = plugin.manifest
    return Adapter(
        provider_of(plugin.name),
        TRANSPORT,
        tuple(capability_of(plugin.name, tool.name) for tool in manifest.tools),
        f"{plugin.location}/{MANIFEST_FILE}",
        name=plugin.name,
        version=manifest.version or plugin.digest[:12],
        limits=AdapterLimits(manifest.timeout_s * 1000, _CONCURRENCY, MAX_BYTES, MAX_BYTES),
        breaker=Breaker(failures=None),  # each call is a program of its own: how one ends says nothing of the next
        block={
            "plugin": plugin,
            "env": sorted({name for tool in manifest.tools for name in tool.env}),
            "asks": _asks(one),
            "missing": one.missing,
            "files": _files(plugin),
        },
        contracts={capability_of(plugin.name, tool.name): Contract(tool.takes, _Whatever()) for tool in manifest.tools},
        digest=plugin.digest,
    )


def _servers(plugin: Plugin) -> Iterator[Adapter]:
    for number, server in enumerate(plugin.manifest.mcp_servers, 1):
        block = MCP.complete(
            {
                "server": "stdio" if server.command else "http",
                "command": list(server.command) or None,
                "env": list(server.env),
                "url": server.url,
                "headers": {name: {"credential": key} for name, key in server.headers.items()},
                "tools": ["*"],
            }
        )
        yield Adapter(
            f"{provider_of(plugin.name)}.mcp{number}",
            "mcp",
            (MCP_NAMES["tools"],),
            f"{plugin.location}/{MANIFEST_FILE}",
            name=f"{plugin.name}: MCP server {number}",
            version=plugin.manifest.version or plugin.digest[:12],
            block={**block, **(_run_by(plugin) if server.command else {})},
            digest=plugin.digest if server.command else plugin.files[MANIFEST_FILE].digest,
        )


def _run_by(plugin: Plugin) -> Mapping[str, Any]:
    """It runs among the plugin's files, behind its walls, so it is trusted with them, and anew with each version."""
    asks = {"in": plugin.location, **({"network": True} if plugin.manifest.requires_network else {})}
    return {"plugin": plugin, "asks": {**asks, "signed": _signed(plugin)}, "files": _files(plugin)}


def _files(plugin: Plugin) -> Mapping[str, str]:
    return {f"{plugin.location}/{path}": file.digest for path, file in plugin.files.items()}


def _signed(plugin: Plugin) -> str:
    return plugin.seal.key or "by nobody"


def _asks(one: Listed) -> Mapping[str, Any]:
    """What a person is told before they trust it."""
    plugin, manifest = one.plugin, one.plugin.manifest
    told: dict[str, Any] = {"runs": sorted(_programs(plugin, manifest))}
    if manifest.hooks:
        told["hooks"] = [f"{hook.event} {' '.join(hook.command)}" for hook in manifest.hooks]
    if manifest.requires_network:
        told["network"] = True
    if risky := {tool.name: tool.risk for tool in manifest.tools if tool.by_hand}:
        told["risk"] = risky
    told["signed"] = _signed(plugin)
    return MappingProxyType(told)


def _programs(plugin: Plugin, manifest: PluginManifest) -> Iterable[str]:
    return {f"{plugin.location}/{plugin.runs(tool)}" for tool in manifest.tools}
