"""``eva mcp probe | approve``: other people's MCP servers, and which of their tools may be called."""

from __future__ import annotations

from functools import partial
from typing import Any

import click

from evatui.cli.answer import Answer
from evatui.cli.options import Settings, Word
from evatui.cli.screen import Screen

__all__ = ["add_servers", "show_servers"]

_SIGNS = {"ready": "●", "new": "◌", "changed": "◌", "hidden": "○", "skipped": "✗", "gone": "○"}
_STYLES = {"new": "yellow", "changed": "yellow", "skipped": "red", "hidden": "dim", "gone": "dim"}
_WELL = ("up", "idle")


def add_servers(group: click.Group) -> None:
    group.add_command(probe)
    group.add_command(approve)


@click.command(cls=Word)
@click.argument("server")
@click.pass_obj
def probe(settings: Settings, server: str) -> Answer:
    """Connect to an MCP server of an adapter, and list its tools with what was approved of them."""
    data = settings.ask("mcp.probe", server=server)
    return Answer(data, partial(show_servers, servers=[data], diffs=True))


@click.command(cls=Word)
@click.argument("server")
@click.argument("tools", nargs=-1)
@click.option("--digest", metavar="D", help="Refuse unless what waits is still the list with this digest.")
@click.option("--revoke", is_flag=True, help="Take the approval back, of these tools or of all.")
@click.pass_obj
def approve(settings: Settings, server: str, tools: tuple[str, ...], digest: str | None, revoke: bool) -> Answer:
    """Let tools of an MCP server be called as they are now: these, or all that wait."""
    if revoke and digest:
        raise click.UsageError("--digest is for an approval")
    if revoke:
        data = settings.ask("mcp.revoke", server=server, tools=list(tools))
    else:
        data = settings.ask("mcp.approve", server=server, tools=list(tools), **({"digest": digest} if digest else {}))
    return Answer(data, partial(_show_decided, data=data))


def _show_decided(screen: Screen, data: dict[str, Any]) -> None:
    for name in data.get("approved", ()):
        screen.line(f"● {name} may be called")
    for name in data.get("revoked", ()):
        screen.line(f"○ {name} may not be called any more")
    if not data.get("approved") and not data.get("revoked"):
        screen.line("Nothing waited.")


def show_servers(screen: Screen, servers: list[dict[str, Any]], diffs: bool = False) -> None:
    for server in servers:
        said = f"  {server['detail']}" if server["detail"] else ""
        style = "bold" if server["state"] in _WELL else "bold red"
        screen.line(f"{server['server']}  {server['state']}{said}", style)
        screen.line(f"  {server['address']}", "dim")
        if server["protocol"]:
            screen.line(f"  {server['title']} {server['version']}, protocol {server['protocol']}", "dim")
        if server["note"]:
            screen.line(f"  ! {server['note']}", "yellow")
        for tool in server["tools"]:
            _show_tool(screen, tool, diffs)
        if server["waiting"]:
            screen.line(f"  {server['waiting']} wait: eva mcp approve {server['server']} --digest {server['digest']}")


def _show_tool(screen: Screen, tool: dict[str, Any], diffs: bool) -> None:
    why = f"  {tool['why']}" if tool["why"] else f"  {tool['description']}"
    screen.line(f"  {_SIGNS[tool['state']]} {tool['shown']}  {tool['state']}{why}", _STYLES.get(tool["state"], ""))
    for line in tool["diff"] if diffs else ():
        screen.line(f"      {line}", "green" if line.startswith("+") else "red" if line.startswith("-") else "dim")
