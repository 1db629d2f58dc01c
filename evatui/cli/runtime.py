"""``eva runtime``."""

from __future__ import annotations

from functools import partial
from typing import Any

import click

from evatui.cli.answer import Answer
from evatui.cli.options import Settings, Word, Words
from evatui.cli.screen import Screen
from evatui.cli.show import show_changes

__all__ = ["freeze", "runtime", "thaw"]


@click.group(cls=Words)
def runtime() -> None:
    """Operate the runtime itself."""


@runtime.command()
@click.pass_obj
def restart(settings: Settings) -> Answer:
    """Let calls end, build the runtime anew in its process, and apply what waited for that."""
    data = settings.ask("runtime.restart")
    return Answer(data, partial(_show, data=data))


@click.command(cls=Word)
@click.pass_obj
def freeze(settings: Settings) -> Answer:
    """Let what changes by itself wait until thaw: files are judged and shown, not published; no canary is promoted.

    It holds over restarts. What somebody orders is done, and what fails is still taken back.
    """
    data = settings.ask("runtime.freeze")
    since = f"● frozen since {data['frozen']['at']} by {data['frozen']['actor']}"
    return Answer(data, lambda screen: screen.line(since, "bold"))


@click.command(cls=Word)
@click.pass_obj
def thaw(settings: Settings) -> Answer:
    """Publish what has waited since freeze, and go on."""
    data = settings.ask("runtime.thaw")
    return Answer(data, partial(_show_thawed, data=data))


def _show_thawed(screen: Screen, data: dict[str, Any]) -> None:
    screen.line("● thawed", "bold")
    show_changes(screen, data["changes"])


def _show(screen: Screen, data: dict[str, Any]) -> None:
    cut = f", {data['cut']} calls cut" if data["cut"] else ""
    screen.line(f"● restarted as pid {data['pid']}{cut}  ({data['duration_ms']} ms)", "bold")
    for name in data["applied"]:
        screen.line(f"● {name}  had waited for this, and serves", "green")
    for name in data["waiting"]:
        screen.line(f"◌ {name}  still waits: eva capability explain-rejected {name}", "yellow")
    if data["settings"]:
        screen.line(f"· eva.yaml changed: {', '.join(data['settings'])}", "dim")
