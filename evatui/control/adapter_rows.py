"""What answers besides Lua, as consoles and ``eva capability list`` see it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from evatui.kernel.model.adapter import Adapter
from evatui.kernel.model.diagnostic import Diagnostic, Level
from evatui.kernel.model.text import clean_line
from evatui.kernel.model.tools import ServerInfo, ToolInfo

if TYPE_CHECKING:
    from evatui.runtime import Runtime

__all__ = ["AdapterRow", "ServerRow", "ToolRow", "adapter_rows", "listed_adapters"]

_MAX_TOOLS = 200
_MAX_SHOWN = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRow:
    """``state`` is ``ready``, ``new``, ``changed``, ``hidden``, ``skipped`` or ``gone``; ``why`` it is not ready, and
    ``diff`` is what differs from what was approved, in lines."""

    name: str
    shown: str
    state: str
    description: str
    digest: str
    why: str
    diff: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerRow:
    """An MCP server. ``digest`` names what waits for approval, of which there are ``waiting``; ``note`` says why it may
    offer more than ``tools``, of which at most 200 are listed."""

    address: str
    protocol: str
    title: str
    version: str
    listed_at: str
    note: str
    waiting: int
    digest: str
    tools: tuple[ToolRow, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AdapterRow:
    """``state`` is ``up``, ``idle``, ``starting`` or ``down`` where it serves, else ``held``, ``disabled``, ``denied``,
    ``shown`` (a skill without schemas) or, of a manifest that is not sound, ``refused``, and then ``id`` is its path;
    ``detail`` says why, and ``diagnostics`` in full. ``waits_for`` is ``trust`` or ``restart``, also where what waits
    would only take the place of what serves."""

    id: str
    name: str
    version: str
    transport: str
    path: str
    state: str
    detail: str
    capabilities: tuple[str, ...]
    priority: int
    side_effects: str
    in_flight: int = 0
    calls: int = 0
    errors: int = 0
    waits_for: str = ""
    server: ServerRow | None = None
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def key(self) -> str:
        return self.id


def adapter_rows(runtime: Runtime) -> tuple[AdapterRow, ...]:
    """Those that are refused, then the others by id."""
    declared = sorted(runtime.providers.declared, key=lambda one: one.id)
    return (*_refused(runtime), *(_row(runtime, one) for one in declared))


def listed_adapters(runtime: Runtime) -> list[dict[str, Any]]:
    """The same for scripts, with what a server offers left to ``mcp.servers``."""
    rows = adapter_rows(runtime)
    found = [{key: value for key, value in asdict(row).items() if key != "server"} for row in rows]
    told = ([one.to_json() for one in row.diagnostics] for row in rows)
    return [{**row, "diagnostics": diagnostics} for row, diagnostics in zip(found, told, strict=True)]


def _refused(runtime: Runtime) -> Iterator[AdapterRow]:
    from evatui.kernel.workspace.paths import under_any

    by_file: dict[str, list[Diagnostic]] = {}
    for problem in runtime.reloader.problems:
        file = problem.primary.file if problem.primary is not None else ""
        if problem.level is Level.ERROR and under_any(runtime.layout.adapters, file):
            by_file.setdefault(file, []).append(problem)
    for file, found in sorted(by_file.items()):
        shown = clean_line(file)
        yield AdapterRow(
            id=shown,
            name=shown,
            version="",
            transport="adapter",
            path=shown,
            state="refused",
            detail=clean_line(f"{found[0].code} {found[0].message}"),
            capabilities=(),
            priority=0,
            side_effects="",
            diagnostics=tuple(found),
        )


def _row(runtime: Runtime, adapter: Adapter) -> AdapterRow:
    providers = runtime.providers
    provider = providers.serving.get(adapter.id)
    held = providers.held.get(adapter.id)
    info = provider.way.server if provider is not None else None
    state, detail = providers.standing(adapter)
    return AdapterRow(
        id=adapter.id,
        name=clean_line(adapter.name, 200),
        version=adapter.version,
        transport=adapter.transport,
        path=clean_line(adapter.path),
        state=state,
        detail=clean_line(detail),
        capabilities=adapter.capabilities,
        priority=adapter.priority,
        side_effects=adapter.side_effects.value,
        in_flight=provider.in_flight if provider is not None else 0,
        calls=provider.calls if provider is not None else 0,
        errors=provider.errors if provider is not None else 0,
        waits_for=held.waits_for if held is not None else "",
        diagnostics=held.diagnostics if held is not None else _denied(runtime, adapter),
        server=_server(info) if info is not None else None,
    )


def _denied(runtime: Runtime, adapter: Adapter) -> tuple[Diagnostic, ...]:
    found = runtime.providers.denied.get(adapter.id)
    return (found,) if found is not None else ()


def _server(info: ServerInfo) -> ServerRow:
    from evatui.kernel.registry.providers.tools import digest_of  # who reads the rows of another process needs it not

    return ServerRow(
        address=clean_line(info.address, _MAX_SHOWN),
        protocol=info.protocol,
        title=info.title,
        version=info.version,
        listed_at=info.listed_at,
        note=info.note,
        waiting=len(info.waiting),
        digest=digest_of(info.tools),
        tools=tuple(map(_tool, info.tools[:_MAX_TOOLS])),
    )


def _tool(tool: ToolInfo) -> ToolRow:
    return ToolRow(
        name=tool.name,
        shown=tool.shown,
        state=tool.state.value,
        description=tool.description,
        digest=tool.digest,
        why=tool.why,
        diff=tool.diff,
    )
