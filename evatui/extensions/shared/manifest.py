"""What a plugin says of itself: its ``manifest.json``, read strictly, and all that is wrong in it at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final

from evatui.extensions.shared.manifest_rules import PLUGIN
from evatui.kernel.admission.closure import schema_at
from evatui.kernel.admission.codes import diagnose
from evatui.kernel.admission.json_tree import JsonDocument, JsonProblem
from evatui.kernel.admission.render import render_all
from evatui.kernel.admission.report import PLUGIN_FAULTS, Fault, Report
from evatui.kernel.admission.rules import dotted
from evatui.kernel.admission.schema_shelf import Shelf
from evatui.kernel.admission.schemas import CompiledSchema
from evatui.kernel.model.diagnostic import Diagnostic, Level

__all__ = [
    "MAX_MANIFEST",
    "Hook",
    "McpServer",
    "PluginManifest",
    "Requires",
    "Tool",
    "read_manifest",
]

MAX_MANIFEST: Final = 1 << 20
"""Bytes."""


def _nothing() -> Mapping[str, Any]:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """``entrypoint`` is a program of its own, relative to the plugin's folder. ``takes`` judges what it is sent.

    ``exclusive``: while it runs no other call of the plugin does. ``risk`` is ``low``, ``medium``, ``high`` or
    ``critical``.
    """

    name: str
    description: str = ""
    input_schema: Mapping[str, Any] = field(default_factory=_nothing)
    entrypoint: str | None = None
    env: tuple[str, ...] = ()
    risk: str = "low"
    exclusive: bool = True
    spawn_only: bool = False
    spawn_only_message: str = ""
    takes: CompiledSchema = field(repr=False, compare=False)

    @property
    def by_hand(self) -> bool:
        """Is it for people alone?"""
        return self.risk in ("high", "critical")


@dataclass(frozen=True, slots=True, kw_only=True)
class Hook:
    """``command`` is run without a shell; a first word that begins with ``./`` or ``../`` is relative to the plugin's
    folder. ``tools`` are patterns of the tools that it is for, none for all."""

    event: str
    command: tuple[str, ...]
    timeout_ms: int = 5_000
    tools: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class McpServer:
    """Either a ``command`` with its arguments, or a ``url``. ``env`` and the values of ``headers`` name credentials."""

    command: tuple[str, ...] = ()
    env: tuple[str, ...] = ()
    url: str | None = None
    headers: Mapping[str, str] = field(default_factory=_nothing)

    @property
    def inside(self) -> bool:
        """Is its program one of the plugin's own?"""
        return bool(self.command) and self.command[0].startswith(("./", "../"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Requires:
    """Programs, variables, and the systems that it runs on (none: any), where ``darwin`` is ``macos``."""

    bins: tuple[str, ...] = ()
    env: tuple[str, ...] = ()
    os: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginManifest:
    """``type`` is ``tool``, ``skill``, ``channel`` or ``hook``. ``includes`` are patterns of files, for prompts.

    ``config_schema``, ``install`` and ``binaries`` are shown, and nothing is done with them.
    """

    name: str
    type: str
    version: str = ""
    description: str = ""
    author: str = ""
    homepage: str = ""
    license: str = ""
    binary: str | None = None
    tools: tuple[Tool, ...] = ()
    sha256: str | None = None
    timeout_s: int = 600
    requires_network: bool = False
    requires: Requires = Requires()
    mcp_servers: tuple[McpServer, ...] = ()
    hooks: tuple[Hook, ...] = ()
    includes: tuple[str, ...] = ()
    config_schema: Mapping[str, Any] | None = None
    install: tuple[Mapping[str, Any], ...] = ()
    binaries: Mapping[str, Mapping[str, str]] = field(default_factory=_nothing)

    @property
    def spawns(self) -> bool:
        """Has it a tool that runs in the background?"""
        return any(tool.spawn_only for tool in self.tools)

    def tool(self, name: str) -> Tool | None:
        return next((tool for tool in self.tools if tool.name == name), None)


def read_manifest(data: bytes, file: str) -> tuple[PluginManifest | None, tuple[Diagnostic, ...]]:
    """None with what is wrong, rendered; or the manifest, with warnings. ``file`` is how it is shown."""
    texts = {file: data}
    try:
        report = Report(JsonDocument(data, file), PLUGIN_FAULTS)
    except JsonProblem as problem:
        spans = [problem.place.span(file)]
        if problem.other is not None:
            spans.append(problem.other.span(file, "first given here", primary=False))
        return None, render_all([diagnose("EVA-831", f"it is no JSON: {problem.message}", *spans)], texts)
    raw = PLUGIN.read(report.document.value, (), report)
    found: list[Diagnostic] = []
    manifest = _manifest(raw, report, found) if isinstance(raw, dict) else None
    sound = not report.failed and not any(one.level is Level.ERROR for one in found)
    return manifest if sound else None, render_all([*report.found, *found], texts)


def _manifest(raw: Mapping[str, Any], report: Report, found: list[Diagnostic]) -> PluginManifest | None:
    name = _name(raw, report)
    kind = raw.get("type") or ("tool" if raw["tools"] else "skill")
    if (kind, raw["tools"]) == ("tool", []):
        report.fault(Fault.MISSING, "a plugin of the type tool has no tools", ("type",))
    if (kind, raw["hooks"]) == ("hook", []):
        report.fault(Fault.MISSING, "a plugin of the type hook has no hooks", ("type",))
    tools = _tools(raw, report, found)
    servers = [_server(one, ("mcp_servers", at), report) for at, one in enumerate(raw["mcp_servers"])]
    if name is None or report.failed:
        return None
    requires = raw["requires"]
    systems = ("macos" if one == "darwin" else one for one in requires["os"])
    hooks = (
        Hook(
            event=one["event"],
            command=tuple(one["command"]),
            timeout_ms=one["timeout_ms"],
            tools=tuple(one["tool_filter"]),
        )
        for one in raw["hooks"]
    )
    same = ("version", "description", "author", "homepage", "license", "binary", "sha256", "requires_network")
    return PluginManifest(
        name=name,
        type=kind,
        **{key: raw[key] for key in same},
        tools=tools,
        timeout_s=raw["timeout_secs"],
        requires=Requires(bins=tuple(requires["bins"]), env=tuple(requires["env"]), os=tuple(dict.fromkeys(systems))),
        mcp_servers=tuple(servers),
        hooks=tuple(hooks),
        includes=tuple(raw["prompts"]["include"]),
        config_schema=raw["config_schema"],
        install=tuple(raw["install"]),
        binaries=raw["binaries"],
    )


def _name(raw: Mapping[str, Any], report: Report) -> str | None:
    name, other = raw.get("name"), raw.get("id")
    if name and other and name != other:
        report.fault(Fault.MISPLACED, "name and id say different names; one of them is enough", ("id",))
    given = any(report.value((key,)) is not None for key in ("name", "id"))
    if not given:
        report.fault(Fault.MISSING, '"name" is missing', (), key=True)
    return name or other


def _tools(raw: Mapping[str, Any], report: Report, found: list[Diagnostic]) -> tuple[Tool, ...]:
    written = report.value(("tools",))
    tools: dict[str, Tool] = {}
    for entry in raw["tools"]:
        name = entry.get("name")
        if name is None:
            continue  # told already
        places = [n for n, one in enumerate(written) if isinstance(one, dict) and one.get("name") == name]
        if name in tools:
            report.fault(Fault.TWICE, f"two tools are called {name}", ("tools", places[-1], "name"))
            continue
        takes = _schema(entry["input_schema"], ("tools", places[0], "input_schema"), report, found)
        if takes is not None:
            same = ("description", "input_schema", "entrypoint", "risk", "spawn_only", "spawn_only_message")
            exclusive = entry["concurrency_class"] != "safe"
            fields = {key: entry[key] for key in same}
            tools[name] = Tool(name=name, **fields, env=tuple(entry["env"]), exclusive=exclusive, takes=takes)
    return tuple(tools.values())


def _schema(
    schema: Mapping[str, Any], at: tuple[str | int, ...], report: Report, found: list[Diagnostic]
) -> CompiledSchema | None:
    if report.value(at) is None:
        return CompiledSchema(schema)  # the default
    compiled, wrong = schema_at(schema, at, {}, {}, Shelf({}, {}), report, True)
    found += [one for one in wrong if one not in found]
    if compiled is not None and schema.get("type") != "object":
        report.fault(Fault.FORM, f'{dotted(at)} wants "type": "object": a tool takes an object', at)
    return compiled


def _server(entry: Mapping[str, Any], at: tuple[str | int, ...], report: Report) -> McpServer:
    command, url = entry.get("command"), entry.get("url")
    if (command is None) is (url is None):
        report.fault(Fault.MISPLACED, "an MCP server has either a command or a url", at)
    headers = {name: one["credential"] for name, one in entry["headers"].items() if "credential" in one}
    argv = (command, *entry["args"]) if command is not None else ()
    return McpServer(command=argv, env=tuple(entry["env"]), url=url, headers=headers)
