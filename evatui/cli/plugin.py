"""``eva plugin …``."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import click
from rich.text import Text

from evatui.cli.answer import Answer, failed_response
from evatui.cli.completing import PluginName, PluginTool
from evatui.cli.given import Payload
from evatui.cli.options import Settings, Words
from evatui.cli.progress import progress_line
from evatui.cli.screen import Screen
from evatui.cli.show import show_diagnostics
from evatui.control.exits import Exit, exit_for
from evatui.control.failing import CommandFailed
from evatui.kernel.model.errors import ErrorKind

__all__ = ["plugin"]

_SIGNED = {"signed": "signed", "unsigned": "not signed", "unknown_key": "signed with a key that is not trusted"}
_REASONS = {
    "missing": "something is missing",
    "policy_denied": "the policy keeps it from use",
    "signature_invalid": "the policy wants a signature",
}


@click.group(cls=Words)
def plugin() -> None:
    """See, call, check and sign plugins."""


@plugin.command("list")
@click.pass_obj
def list_(settings: Settings) -> Answer:
    """Every plugin by name: its signature, its tools, what it lacks, what of it runs in the background."""
    data = settings.ask("plugin.list")
    return Answer(data, partial(_show_list, data=data))


@plugin.command()
@click.argument("tool", type=PluginTool(), metavar="PLUGIN.TOOL")
@click.option("--payload", type=Payload(), default="{}", help="Its arguments; default: {}.")
@click.option("--timeout-ms", type=click.IntRange(min=1), help="Shorten the plugin's own limit.")
@click.pass_obj
def call(settings: Settings, /, tool: str, payload: Any, timeout_ms: int | None) -> Answer:
    """Call a tool of a plugin."""
    name = tool if tool.startswith("plugin.") else f"plugin.{tool}"
    more = {"timeout_ms": timeout_ms} if timeout_ms is not None else {}
    with progress_line(settings, name) as on_progress:
        data = settings.call(on_progress, name=name, payload=payload, tags={}, **more)
    suggestion = data.pop("suggestion", "")
    response = data["response"]
    failed = None if response["ok"] else failed_response(response.get("error"), data, suggestion)
    return Answer(data, partial(_show_call, data=data), exit_for(failed) if failed else Exit.OK, failed)


@plugin.command()
@click.argument("name", type=PluginName())
@click.pass_obj
def verify(settings: Settings, name: str) -> Answer:
    """Is a plugin signed by somebody whom the policy lists, and every file as it was signed?"""
    data = settings.ask("plugin.verify", name=name)
    failed = None
    if not data["ok"]:
        said = data["diagnostics"][0]["message"] if data["diagnostics"] else f"{data['name']} is not signed"
        failed = CommandFailed(ErrorKind.INVALID_INPUT, said, data=data)
    return Answer(data, partial(_show_verified, data=data), exit_for(failed) if failed else Exit.OK, failed)


@plugin.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--key", required=True, type=click.Path(path_type=Path), metavar="FILE", help="The secret key.")
def sign(folder: Path, key: Path) -> Answer:
    """Sign every file of the plugin in FOLDER, manifest included."""
    from evatui.control.plugin_signing import sign_plugin

    data = sign_plugin(folder, key)
    line = f"signed {data['name']}: {data['files']} files with the key {data['key']}"
    return Answer(data, lambda screen: screen.line(line))


@plugin.command()
@click.argument("file", type=click.Path(path_type=Path))
def keygen(file: Path) -> Answer:
    """Make a key to sign plugins with, in FILE; what is printed is for plugins.keys in policies."""
    from evatui.control.plugin_signing import make_key

    data = make_key(file)
    return Answer(data, lambda screen: screen.line(data["key"]))


def _show_list(screen: Screen, data: Mapping[str, Any]) -> None:
    rows = [
        (_sign(row), row["name"], row["version"], _SIGNED[row["signature"]], row["layer"], _remarks(row))
        for row in data["plugins"]
    ]
    if rows:
        screen.table(("", "NAME", "VERSION", "SIGNATURE", "LAYER", ""), rows)
    elif not data["rejected"]:
        screen.line("There are no plugins.")
    for row in data["plugins"]:
        for tool in row["tools"]:
            marks = [
                word for word, holds in (("background", tool["background"]), (tool["risk"], tool["by_hand"])) if holds
            ]
            shown = f" ({', '.join(marks)})" if marks else ""
            screen.line(f"  {tool['capability']}{shown}  {tool['description']}")
        for hook in row["hooks"]:
            only = f" for {', '.join(hook['tools'])}" if hook["tools"] else ""
            screen.line(f"  {row['name']}, {hook['event']}{only}: {hook['command']}  {hook['state']}")
    for row in data["plugins"]:
        if row["shadows"]:
            screen.line(f"{row['name']}: {row['location']} is used, not {', '.join(row['shadows'])}", "dim")
        for found in row["diagnostics"]:
            screen.line(f"! {row['name']}  {found['code']} {found['message']}", "yellow")
    for row in data["rejected"]:
        screen.line(f"✗ {row['path']}", "bold red")
        if row["instead"]:
            screen.line(f"{row['instead']} is used as it was, or instead", "dim")
        show_diagnostics(screen, row["diagnostics"])
    show_diagnostics(screen, data["problems"])
    _show_tasks(screen, data["tasks"])


def _show_tasks(screen: Screen, tasks: list[Mapping[str, Any]]) -> None:
    rows = [
        (task["task"], f"{task['plugin']}.{task['tool']}", task["state"], _progress(task["progress"])) for task in tasks
    ]
    if rows:
        screen.table(("TASK", "TOOL", "STATE", "PROGRESS"), rows)


def _progress(said: Mapping[str, Any] | None) -> str:
    if said is None:
        return ""
    share = f"{int(100 * said['done'] / said['total'])} % " if said["total"] else ""
    return f"{share}{said['message']}"


def _show_call(screen: Screen, data: Mapping[str, Any]) -> None:
    response = data["response"]
    if response["ok"]:
        screen.value(response["result"])
    screen.note(f"{data.get('generation') or '–'}  {data['duration_ms']} ms  {data['request_id']}")


def _show_verified(screen: Screen, data: Mapping[str, Any]) -> None:
    if data["ok"]:
        screen.line(f"● {data['name']} is as {data['key']} has signed it", "green")
    show_diagnostics(screen, data["diagnostics"])


def _sign(row: Mapping[str, Any]) -> Text:
    usable = row["available"] and row["state"] not in ("held", "denied")
    return Text("●", "green") if usable else Text("○", "yellow")


def _remarks(row: Mapping[str, Any]) -> str:
    parts = [_REASONS[row["reason"]]] if row["reason"] else []
    if row["state"] == "held":
        parts.append("waits for trust: eva trust")
    if row["servers"]:
        parts.append(f"{row['servers']} MCP server{'s' if row['servers'] > 1 else ''}: eva mcp list")
    if row["stale"]:
        parts.append("what the disk holds is refused; this goes on")
    return ", ".join(parts)
