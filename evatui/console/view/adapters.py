"""Adapters as rows and as lines: how each is, why it is not up, and of an MCP server its tools and what changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from evatui.console.view.ink import EMPTY, Ink, Line, join, line, wrap
from evatui.console.view.rows import folded
from evatui.console.view.table import Level, Row
from evatui.console.view.words import Look, clock
from evatui.control.adapter_rows import AdapterRow, ServerRow, ToolRow
from evatui.control.client_sessions import ClientRow

__all__ = ["adapter_brief", "adapter_preview", "adapter_row", "client_lines", "waiting_lines"]

_STATES = {
    "up": ("●", "up", Ink.OK),
    "idle": ("●", "idle", Ink.PLAIN),
    "starting": ("◌", "starting", Ink.INFO),
    "down": ("✗", "down", Ink.BAD),
    "held": ("◌", "held", Ink.WARN),
    "disabled": ("⊘", "disabled", Ink.DIM),
    "denied": ("⊘", "by policy", Ink.DIM),
    "unsupported": ("·", "no use", Ink.DIM),
}
_TOOLS = {
    "ready": ("●", Ink.OK),
    "new": ("◌", Ink.WARN),
    "changed": ("◌", Ink.WARN),
    "hidden": ("○", Ink.DIM),
    "skipped": ("✗", Ink.BAD),
    "gone": ("○", Ink.DIM),
}
_ORDER = ("changed", "new", "skipped", "ready", "gone", "hidden")
_WAITING = ("new", "changed")
_UNWELL = {"down": Level.ERROR, "held": Level.WARN}


def adapter_row(row: AdapterRow, look: Look) -> Row:
    """The cells of the view Extensions: state, kind, name, version, layer, and what is to be said."""
    said = _remark(row)
    words = (row.id, row.name, row.transport, row.state, row.detail, *row.capabilities)
    return Row(
        key=row.key,
        cells=(
            _state(row, look),
            line((row.transport, Ink.DIM)),
            line((row.id, Ink.STRONG)),
            line((row.version, Ink.DIM)),
            line(("adapter", Ink.DIM)),
            said,
        ),
        order=(row.state, row.transport, row.id, row.version, "adapter", "".join(text for text, _ in said)),
        folded=folded(*words),
        level=max(_UNWELL.get(row.state, Level.INFO), Level.WARN if _waits(row) else Level.INFO),
    )


def adapter_preview(row: AdapterRow, width: int, look: Look) -> list[Line]:
    """How it is and why, what it provides, and of a server each tool, those that wait first."""
    lines = [*_head(row, look), *_facts(row)]
    if row.server is not None:
        lines += [EMPTY, *_server(row.server, look)]
    return [part for each in lines for part in wrap(each, width, "    ")]


def adapter_brief(row: AdapterRow, look: Look) -> list[Line]:
    """The preview of a short screen: two lines."""
    return [join((_state(row, look), line((row.id, Ink.STRONG)), _remark(row))), line((row.detail, Ink.DIM))]


def waiting_lines(server: ServerRow) -> list[Line]:
    """The tools that an approval is asked for, each with what it says of itself or what changed in it."""
    lines: list[Line] = [line((server.address, Ink.DIM))]
    for tool in server.tools:
        if tool.state in _WAITING:
            lines += [EMPTY, line((tool.shown, Ink.STRONG), (f"  {tool.state}", Ink.WARN)), line(tool.description)]
            lines += _difference(tool)
    return lines


def client_lines(clients: Sequence[ClientRow], look: Look) -> list[Line]:
    """Who is connected to this workspace as an MCP client, the last call of each."""
    return [
        line(
            (f"{one.principal} ", Ink.STRONG),
            (f"{one.transport}  {one.client}  ", Ink.DIM),
            f"{one.calls} calls",
            (f", last {one.last_call} at {clock(one.last_call_at, look)}", Ink.BAD if one.failed else Ink.DIM)
            if one.last_call
            else "",
        )
        for one in clients
    ]


def _state(row: AdapterRow, look: Look) -> Line:
    sign, word, ink = _STATES.get(row.state, ("·", row.state, Ink.DIM))
    return line((f"{look.text(sign)} {word}", ink))


def _waits(row: AdapterRow) -> bool:
    return bool(row.waits_for) or (row.server is not None and row.server.waiting > 0)


def _remark(row: AdapterRow) -> Line:
    server = row.server
    ready = sum(tool.state == "ready" for tool in server.tools) if server is not None else 0
    return join(
        (
            line((f"waits for {row.waits_for}", Ink.WARN)) if row.waits_for else EMPTY,
            line((f"{server.waiting} wait", Ink.WARN)) if server is not None and server.waiting else EMPTY,
            line((row.detail, Ink.BAD if row.state == "down" else Ink.DIM)) if row.detail else EMPTY,
            line((f"{ready} tools", Ink.PLAIN)) if server is not None and not row.detail else EMPTY,
            line((f"{row.in_flight} in flight", Ink.INFO)) if row.in_flight else EMPTY,
        )
    )


def _head(row: AdapterRow, look: Look) -> Iterator[Line]:
    yield join((_state(row, look), line((row.id, Ink.STRONG)), line((f"{row.version}  {row.path}", Ink.DIM))))
    if row.detail:
        yield line((row.detail, Ink.BAD if row.state == "down" else Ink.WARN))
    if row.waits_for == "trust":
        yield line(("T", Ink.KEY), " trusts the workspace with it")
    if row.waits_for == "restart":
        yield line("Once the workspace is trusted with it (", ("T", Ink.KEY), "), it takes effect with a restart.")


def _facts(row: AdapterRow) -> Iterator[Line]:
    yield line(("provides  ", Ink.DIM), ", ".join(row.capabilities) or "nothing")
    effects = {"none": "changes nothing", "idempotent": "may be done twice", "mutating": "is never done twice"}
    yield line(("priority  ", Ink.DIM), f"{row.priority}, what it does {effects[row.side_effects]}")
    yield line(("calls     ", Ink.DIM), f"{row.calls}, {row.errors} failed, {row.in_flight} in flight")


def _server(server: ServerRow, look: Look) -> Iterator[Line]:
    yield line(("at        ", Ink.DIM), server.address)
    if server.protocol:
        yield line(("speaks    ", Ink.DIM), f"{server.title} {server.version}, protocol {server.protocol}")
    if server.listed_at:
        yield line(("listed    ", Ink.DIM), clock(server.listed_at, look))
    if server.note:
        yield line((f"! {server.note}", Ink.WARN))
    if server.waiting:
        yield line((f"{server.waiting} tools wait: ", Ink.WARN), ("a", Ink.KEY), " approve shows and approves them")
    for tool in sorted(server.tools, key=lambda tool: (_ORDER.index(tool.state), tool.name)):
        sign, ink = _TOOLS[tool.state]
        said = tool.why or tool.description
        yield line(
            (f"{look.text(sign)} ", ink), (tool.shown, Ink.STRONG), (f"  {tool.state}", ink), (f"  {said}", Ink.DIM)
        )
        yield from _difference(tool)


def _difference(tool: ToolRow) -> Iterator[Line]:
    for text in tool.diff:
        yield line((f"    {text}", {"+": Ink.OK, "-": Ink.BAD}.get(text[:1], Ink.DIM)))
