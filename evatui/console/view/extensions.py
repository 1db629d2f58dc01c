"""Extensions as rows: adapters, MCP servers behind them, plugins and what they run, skills, and refused files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from evatui.console.view.answer import rendered_lines
from evatui.console.view.ink import EMPTY, Ink, Line, join, line, wrap
from evatui.console.view.plugins import plugin_card, plugin_state, plugin_why, task_card, task_state, task_why
from evatui.console.view.rows import folded
from evatui.console.view.table import Column, Level, Row
from evatui.control.adapter_rows import AdapterRow, ServerRow
from evatui.control.client_sessions import ClientRow
from evatui.control.extensions import (
    Extensions,
    PluginRow,
    PluginTaskRow,
    RefusedRow,
    SkillRow,
)
from evatui.control.snapshot import ConsoleSnapshot
from evatui.kernel.model.diagnostic import Diagnostic
from evatui.kernel.model.ids import fold

__all__ = ["EXTENSION_COLUMNS", "Extension", "extension_preview", "extension_rows", "extensions_in", "no_extensions"]

Extension = AdapterRow | SkillRow | RefusedRow | ClientRow | PluginRow | PluginTaskRow

EXTENSION_COLUMNS = (
    Column(title="STATE", width=11),
    Column(title="KIND", width=8),
    Column(title="NAME", width=18, flex=3),
    Column(title="VERSION", width=8, need=66),
    Column(title="LAYER", width=10, need=90),
    Column(title="WHY", width=16, flex=4),
    Column(title="FLY", width=3, right=True, need=100),
)
_STATES: Mapping[str, tuple[str, Ink]] = {
    "up": ("●", Ink.OK),
    "idle": ("●", Ink.OK),
    "starting": ("…", Ink.INFO),
    "down": ("✗", Ink.BAD),
    "held": ("◌", Ink.WARN),
    "disabled": ("⊘", Ink.DIM),
    "denied": ("✗", Ink.BAD),
    "shown": ("○", Ink.DIM),
    "refused": ("✗", Ink.BAD),
}
_TOOLS: Mapping[str, Ink] = {"ready": Ink.OK, "new": Ink.WARN, "changed": Ink.WARN, "gone": Ink.BAD, "skipped": Ink.BAD}
_WHY = {
    "missing": "something that it needs is missing",
    "policy_denied": "the policy does not let its kind or its layer be used",
    "runtime_worker": "not for workers of a runtime",
}
_PLUGIN = "plugin"
"""A plugin is the provider of its own tools, and told as what it is."""
_LEVELS = {Ink.BAD: Level.ERROR, Ink.WARN: Level.WARN, Ink.DIM: Level.DETAIL}


def extensions_in(snapshot: ConsoleSnapshot) -> dict[str, Extension]:
    """By a key that is theirs alone: what is refused, what runs in the background, then adapters, who is connected,
    plugins and skills."""
    known = snapshot.extensions
    return {
        **{f"refused {row.path}": row for row in known.refused},
        **{f"task {row.handle}": row for row in known.tasks},
        **{f"adapter {row.id}": row for row in snapshot.adapters if row.transport != _PLUGIN},
        **{f"client {row.id}": row for row in snapshot.clients},
        **{f"plugin {row.name}": row for row in known.plugins},
        **{f"skill {row.name}": row for row in known.skills},
    }


def extension_rows(known: Mapping[str, Extension]) -> list[Row]:
    return [_row(key, one) for key, one in known.items()]


def _row(key: str, one: Extension) -> Row:
    state, (kind, name, version, layer, why) = _state(one), _told(one)
    flying = one.in_flight if isinstance(one, AdapterRow) else 0
    return Row(
        key=key,
        cells=(
            state,
            line((kind, Ink.DIM)),
            line((name, Ink.STRONG)),
            line((version, Ink.DIM)),
            line((layer, Ink.DIM)),
            task_why(one) if isinstance(one, PluginTaskRow) else line((why, Ink.DIM)),
            line((str(flying) if isinstance(one, AdapterRow) else "", Ink.STRONG if flying else Ink.DIM)),
        ),
        order=(state[0][0], kind, fold(name), version, layer, why, flying),
        folded=folded(name, version, layer, why, state[0][0], cap=name, kind=kind),
        level=_LEVELS.get(state[0][1], Level.INFO),
    )


def _state(one: Extension) -> Line:
    if isinstance(one, RefusedRow):
        return line(("✗ refused", Ink.BAD))
    if isinstance(one, PluginRow):
        return plugin_state(one)
    if isinstance(one, PluginTaskRow):
        return task_state(one)
    if isinstance(one, ClientRow):
        return line(("● connected", Ink.OK))
    if isinstance(one, SkillRow):
        return line(("● available", Ink.OK) if one.available else ("⊘ not now", Ink.WARN))
    sign, ink = _STATES.get(one.state, ("·", Ink.PLAIN))
    return line((f"{sign} {one.state}", ink))


def _told(one: Extension) -> tuple[str, str, str, str, str]:
    """Kind, name, version, layer and why."""
    if isinstance(one, RefusedRow):
        return one.kind, one.path, "", one.layer, _first(one.diagnostics)
    if isinstance(one, SkillRow):
        shadows = f"shadows {', '.join(one.shadows)}" if one.shadows else ""
        why = f"missing: {', '.join(one.missing)}" if one.missing else _WHY.get(one.reason, one.reason)
        return "skill", one.name, one.version, one.layer, why or shadows or one.description
    if isinstance(one, PluginRow):
        return "plugin", one.name, one.version, one.layer, plugin_why(one)
    if isinstance(one, PluginTaskRow):
        return "task", f"{one.plugin}.{one.tool}", one.version, "", one.message
    if isinstance(one, ClientRow):
        return "client", one.principal, "", one.transport, _of_client(one)
    return one.transport, one.id, one.version, "", _of_adapter(one)


def _of_adapter(one: AdapterRow) -> str:
    server = one.server
    if server is not None and server.waiting:
        return f"{server.waiting} of {len(server.tools)} tools wait for approval"
    if one.detail:
        return one.detail
    return f"{len(server.tools)} tools" if server is not None else ", ".join(one.capabilities)


def _of_client(one: ClientRow) -> str:
    if not one.last_call:
        return f"{one.client}  no call yet"
    return f"{one.client}  last {one.last_call}{', which failed' if one.failed else ''}"


def _first(diagnostics: Sequence[Diagnostic]) -> str:
    return f"{diagnostics[0].code} {diagnostics[0].message}" if diagnostics else ""


def extension_preview(one: Extension, width: int) -> list[Line]:
    """The first two lines say the most."""
    return [part for told in _in_full(one) for part in wrap(told, width, "  ")]


def _in_full(one: Extension) -> Iterator[Line]:
    if isinstance(one, SkillRow):
        return _skill(one)
    if isinstance(one, PluginRow):
        return plugin_card(one)
    if isinstance(one, PluginTaskRow):
        return task_card(one)
    if isinstance(one, RefusedRow):
        return _refused(one)
    return _client(one) if isinstance(one, ClientRow) else _adapter(one)


def _client(one: ClientRow) -> Iterator[Line]:
    """Somebody who calls what this workspace serves as an MCP server."""
    yield join((_state(one), line((one.principal, Ink.STRONG)), line((one.client, Ink.DIM))))
    yield line(_of_client(one))
    yield EMPTY
    for name, value in (
        ("transport", one.transport),
        ("protocol", one.protocol),
        ("since", one.since),
        ("last seen", one.last_seen),
        ("calls", f"{one.calls:,}"),
        ("last call", f"{one.last_call} at {one.last_call_at}" if one.last_call else "none"),
    ):
        yield line((f"{name:<10}", Ink.DIM), value)


def _refused(one: RefusedRow) -> Iterator[Line]:
    yield join((line(("✗ refused", Ink.BAD)), line((one.path, Ink.STRONG))))
    instead = f"{one.instead} goes by its name instead" if one.instead else f"no {one.kind} goes by its name"
    yield line(instead, (f"  layer {one.layer}", Ink.DIM))
    for found in one.diagnostics:
        yield EMPTY
        yield from rendered_lines(found.rendered or f"{found.code} {found.message}")


def _skill(one: SkillRow) -> Iterator[Line]:
    why = f"missing: {', '.join(one.missing)}" if one.missing else _WHY.get(one.reason, one.reason)
    yield join((_state(one), line((one.name, Ink.STRONG)), line((one.version, Ink.DIM)), line((why, Ink.WARN))))
    yield line(one.description)
    yield EMPTY
    for name, value in (
        ("kind", one.kind),
        ("layer", one.layer),
        ("location", one.location),
        ("shadows", ", ".join(one.shadows) or "nothing"),
        ("in prompts", "always" if one.always else "by its name and description"),
        ("with tools", "yes" if one.tools else "no"),
    ):
        yield line((f"{name:<11}", Ink.DIM), value)
    for found in one.diagnostics:
        yield EMPTY
        yield from rendered_lines(found.rendered or f"{found.code} {found.message}")


def _adapter(one: AdapterRow) -> Iterator[Line]:
    waits = f"waits for {'trust (T)' if one.waits_for == 'trust' else one.waits_for}" if one.waits_for else ""
    yield join((_state(one), line((one.id, Ink.STRONG)), line((one.version, Ink.DIM)), line((waits, Ink.WARN))))
    yield line(one.detail or f"answers {', '.join(one.capabilities)}")
    yield EMPTY
    for name, value in (
        ("transport", one.transport),
        ("provides", ", ".join(one.capabilities)),
        ("effects", one.side_effects),
        ("calls", f"{one.calls:,}, {one.errors:,} failed, {one.in_flight} in flight"),
        ("manifest", one.path),
    ):
        yield line((f"{name:<10}", Ink.DIM), value)
    if one.server is not None:
        yield from _server(one.server, one.id)
    for found in one.diagnostics:
        yield EMPTY
        yield from rendered_lines(found.rendered or f"{found.code} {found.message}")


def _server(server: ServerRow, adapter_id: str) -> Iterator[Line]:
    yield EMPTY
    told = " ".join(filter(None, (server.title, server.version)))
    yield line(("server    ", Ink.DIM), server.address, (f"  {told}  {server.protocol}", Ink.DIM))
    if server.note:
        yield line((server.note, Ink.WARN))
    if server.waiting:
        how = f"eva mcp approve {adapter_id} --digest {server.digest}"
        yield line(
            (f"{server.waiting} wait for approval: ", Ink.WARN),
            ("a", Ink.KEY),
            ", approve tools, in the list, or ",
            (how, Ink.INFO),
        )
    for tool in server.tools:
        ink = _TOOLS.get(tool.state, Ink.DIM)
        yield line((f"  {tool.state:<8}", ink), tool.shown or tool.name, (f"  {tool.why or tool.description}", Ink.DIM))
        for row in tool.diff:
            yield line((f"    {row}", Ink.OK if row.startswith("+") else Ink.BAD if row.startswith("-") else Ink.DIM))


def no_extensions(known: Extensions) -> list[Line]:
    """Where they are looked for."""
    places = ", ".join(layer.folder for layer in known.layers if layer.allowed) or "skills/"
    plugins = ", ".join(layer.folder for layer in known.plugin_layers if layer.allowed) or "plugins/"
    return [
        EMPTY,
        line(("No extensions.", Ink.STRONG)),
        line("A skill is a folder with a file SKILL.md in ", (places, Ink.INFO), "."),
        line("A plugin is a folder with a manifest.json and a program in ", (plugins, Ink.INFO), "."),
        line(
            "An adapter lets something outside answer, an MCP server say: ", ("capabilities/adapters/*.yaml", Ink.INFO)
        ),
    ]
