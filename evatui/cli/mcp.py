"""``eva mcp …``."""

from __future__ import annotations

from functools import partial
from typing import Any

import click

from evatui.cli.answer import Answer
from evatui.cli.mcp_servers import add_servers, show_servers
from evatui.cli.options import Settings, Words
from evatui.cli.screen import Screen
from evatui.control.opening import workspace_root

__all__ = ["mcp"]


def _checked(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    host, _, port = (value or "").rpartition(":")
    if value is not None and not (host and port.isdecimal() and int(port) <= 65_535):
        raise click.BadParameter(f"{value!r} is no HOST:PORT")
    return value


@click.group(cls=Words)
def mcp() -> None:
    """Serve capabilities to MCP clients, and see who uses them."""


@mcp.command()
@click.option("--stdio", is_flag=True, help="Over standard input and output, for a client that starts this command.")
@click.option("--http", is_flag=True, help="Over HTTP, for clients that have the token.")
@click.option("--bind", metavar="HOST:PORT", callback=_checked, help="Where; default: mcp_server.bind of eva.yaml.")
@click.pass_obj
def serve(settings: Settings, stdio: bool, http: bool, bind: str | None) -> int:
    """Serve what the policy exposes to MCP clients.

    Whoever holds the workspace answers; where nobody does, a runtime is started, and ends once nobody needs it.
    """
    if stdio == http:
        raise click.UsageError("say how: --stdio or --http")
    if stdio:
        from evatui.mcp.stdio import serve_stdio

        settings.output = "text"  # standard output is the client's, also where this fails
        return serve_stdio(workspace_root(settings.workspace), settings.state_dir)
    from evatui.mcp.serving import serve_http

    screen = Screen(color=not settings.no_color)
    tell = screen.object if settings.json else partial(_show_step, screen)
    return serve_http(workspace_root(settings.workspace), settings.state_dir, bind, tell)


def _show_step(screen: Screen, step: dict[str, Any]) -> None:
    if step["event"] == "serving":
        screen.note(f"● MCP clients at {step['url']}, with the token in {step['token_file']}; ctrl+c ends it", "")
    else:
        screen.note("· stopped", "")


@mcp.command("list")
@click.pass_obj
def list_(settings: Settings) -> Answer:
    """What MCP clients may see of this workspace, what they do not and why, who is connected; and the MCP servers that
    handlers may call, with their tools."""
    data = {"server": settings.ask("mcp.server"), **settings.ask("mcp.servers")}
    return Answer(data, partial(_show_all, data=data))


def _show_all(screen: Screen, data: dict[str, Any]) -> None:
    _show_server(screen, data["server"])
    show_servers(screen, data["servers"])


def _show_server(screen: Screen, data: dict[str, Any]) -> None:
    for tool in data["tools"]:
        screen.line(f"● {tool['name']}  {tool['provider']}  {tool['description'].splitlines()[0]}")
    for one in data["hidden"]:
        screen.line(f"○ {one['called']}  {one['id']}  not seen: {one['why']}", "yellow")
    if not data["tools"]:
        screen.line("MCP clients see nothing: the policy exposes nothing that serves")
    for row in data["sessions"]:
        last = f"last {row['last_call']} at {row['last_call_at']}" if row["last_call"] else "no call yet"
        screen.line(f"· {row['principal']}  {row['transport']}  {row['client']}  {row['calls']} calls, {last}")


add_servers(mcp)
