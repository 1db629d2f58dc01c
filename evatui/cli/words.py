"""The tree of words: the root, and the commands that stand directly under it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import click
from click.shell_completion import get_completion_class

from evatui import __version__
from evatui.cli.answer import Answer
from evatui.cli.audit import audit
from evatui.cli.authoring import add_authoring, schema
from evatui.cli.capability import capability
from evatui.cli.doctor import doctor
from evatui.cli.events import events
from evatui.cli.given import Folder
from evatui.cli.options import Settings, Words
from evatui.cli.rollout import add_rollout
from evatui.cli.runtime import freeze, runtime, thaw
from evatui.cli.screen import Screen
from evatui.cli.show import show_status
from evatui.cli.state import state
from evatui.cli.testing import test
from evatui.cli.trust import trust
from evatui.control.opening import operator_home, workspace_root

__all__ = ["eva"]


_STDOUT = 1


@click.group(cls=Words)
@click.version_option(__version__, prog_name="eva")
def eva() -> None:
    """Run and operate a workspace of capabilities.

    Exit codes: 0 ok, 1 internal, 2 invalid or refused, 3 policy, 4 unavailable, 5 limit or cancelled,
    6 the handler's own error, 10 something would change (--exit-code), 64 usage.
    """


eva.add_command(capability)
eva.add_command(audit)
eva.add_command(events)
eva.add_command(state)
eva.add_command(trust)
eva.add_command(schema)
eva.add_command(runtime)
eva.add_command(freeze)
eva.add_command(thaw)
add_authoring(capability)
capability.add_command(test)
add_rollout(capability)
eva.add_command(doctor)


@eva.command()
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
    screen.note(f"try: evatui {data['directory']}  or  eva -w {data['directory']} capability list", "")


@eva.command()
@click.pass_obj
def status(settings: Settings) -> Answer:
    """What holds the workspace, and how it is."""
    data = settings.ask("status")
    return Answer(data, partial(show_status, data=data))


@eva.command()
@click.option("--idle-exit", type=click.FloatRange(min=0, min_open=True), metavar="SECONDS", help="End when unused.")
@click.option("--audit-stdout", is_flag=True, help="Write each audit record to standard output too; no call without.")
@click.option(
    "--metrics", metavar="[HOST:]PORT", help="Serve metrics over HTTP; on the loopback unless HOST says else."
)
@click.pass_obj
def serve(settings: Settings, idle_exit: float | None, audit_stdout: bool, metrics: str | None) -> int:
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
    )


def _show_step(screen: Screen, step: Mapping[str, Any]) -> None:
    match step["event"]:
        case "serving":
            screen.note(f"● serving as pid {step['pid']}; ctrl+c ends it", "")
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


@eva.command("metrics")
@click.pass_obj
def metrics_text(settings: Settings) -> Answer:
    """Counts of calls, errors, loads and host calls of the runtime, as Prometheus reads them."""
    data = settings.ask("metrics")
    return Answer(data, lambda screen: screen.write(data["text"]))


@eva.command()
@click.argument("code")
def explain(code: str) -> Answer:
    """What a diagnostic code means, why its rule exists and how to fix it."""
    from evatui.control.explain import explain_code

    data = explain_code(code)
    return Answer(data, partial(_show_code, data=data))


def _show_code(screen: Screen, data: dict[str, Any]) -> None:
    screen.line(f"{data['code']}: {data['title']}  ({data['reason']})", "bold")
    screen.line(f"why: {data['why']}")
    screen.line(f"fix: {data['fix']}")


@eva.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> Answer:
    """Print what makes a shell complete these words: eval "$(eva completion bash)"."""
    found = get_completion_class(shell)
    if found is None:
        raise click.BadParameter(f"{shell} is not known here")
    script = found(eva, {}, "eva", "_EVA_COMPLETE").source()
    return Answer({"shell": shell, "script": script}, lambda screen: screen.write(script))
