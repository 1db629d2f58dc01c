"""``eva init`` and ``eva serve``."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

import click

from evatui.cli.answer import Answer
from evatui.cli.folder import Folder
from evatui.cli.options import Settings, Word
from evatui.cli.screen import Screen
from evatui.control.opening import operator_home, workspace_root

if TYPE_CHECKING:
    from evatui.control.kernel import Kernel

__all__ = ["init", "serve"]

_STDOUT = 1


@click.command(cls=Word)
@click.argument("directory", metavar="DIR", type=Folder())
@click.option("--empty", is_flag=True, help="Without the samples, and with a policy that grants nothing.")
def init(directory: Path, empty: bool) -> Answer:
    """Make a workspace from the bundled samples."""
    from evatui.control.bundle import init_workspace
    from evatui.control.vouching import vouch

    data = init_workspace(directory, empty=empty)
    data["trusted"] = vouch(directory, data["files"], operator_home())
    return Answer(data, partial(_show_init, data=data))


def _show_init(screen: Screen, data: dict[str, Any]) -> None:
    screen.line(f"made a workspace in {data['directory']}: {len(data['files'])} files")
    for name in data["trusted"]:
        screen.line(f"● {name}  trusted as it was written", "dim")
    place = quote(data["directory"])
    screen.note(f"try: evatui {place}  or  eva -w {place} capability list", "")


@click.command(cls=Word)
@click.option(
    "--idle-exit", type=click.FloatRange(min=0, min_open=True), metavar="SECONDS", help="End when nobody is attached."
)
@click.option("--audit-stdout", is_flag=True, help="Write each audit record to standard output too; no call without.")
@click.option(
    "--metrics", metavar="[HOST:]PORT", help="Serve metrics over HTTP; on the loopback unless HOST says else."
)
@click.option("--mcp-http", is_flag=True, help="Serve MCP clients over HTTP as well, where eva.yaml says.")
@click.pass_obj
def serve(settings: Settings, idle_exit: float | None, audit_stdout: bool, metrics: str | None, mcp_http: bool) -> int:
    """Hold the workspace without a console, until ctrl+c or SIGTERM."""
    from evatui.control.metering import read_address
    from evatui.control.serving import serve as hold

    if idle_exit is not None and math.isnan(idle_exit):
        raise click.BadParameter("nan is no number of seconds", param_hint="'--idle-exit'")
    screen = Screen(color=not settings.no_color)
    tell = screen.object if settings.json else partial(_show_step, screen)
    root = workspace_root(settings.workspace)
    try:
        address = read_address(metrics) if metrics is not None else None
    except ValueError as problem:
        raise click.BadParameter(str(problem), param_hint="'--metrics'") from None
    audit_fd = _STDOUT if audit_stdout else None
    return hold(
        root,
        settings.state_dir,
        home=operator_home(),
        idle_exit_s=idle_exit,
        tell=tell,
        audit_fd=audit_fd,
        metrics=address,
        beside=_mcp if mcp_http else None,
    )


def _mcp(kernel: Kernel) -> tuple[dict[str, str], Callable[[], None]]:
    from evatui.mcp.serving import serve_beside

    server = serve_beside(kernel)
    return {"mcp": server.url}, server.stop


def _show_step(screen: Screen, step: Mapping[str, Any]) -> None:
    match step["event"]:
        case "serving":
            screen.note(f"● serving as pid {step['pid']}; ctrl+c ends it", "")
            if "mcp" in step:
                screen.note(f"● MCP clients at {step['mcp']}", "")
        case "restarted":
            screen.note(f"● restarted, serving as pid {step['pid']}", "")
        case "down":
            screen.note(f"✗ {step['cause']}; nothing serves until eva runtime restart succeeds", "bold red")
        case "lost":
            screen.note(f"✗ {step['cause']}: this runtime ends", "bold red")
        case "draining":
            screen.note(f"◐ draining {step['calls']} calls, at most {step['at_most_s']:.0f} s; ctrl+c cuts them", "")
        case "stopped":
            screen.note("· stopped", "")
