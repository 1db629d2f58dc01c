"""``eva runtime``."""

from __future__ import annotations

from functools import partial
from typing import Any

import click

from evatui.cli.answer import Answer
from evatui.cli.options import Settings, Words
from evatui.cli.screen import Screen

__all__ = ["runtime"]


@click.group(cls=Words)
def runtime() -> None:
    """Operate the runtime itself."""


@runtime.command()
@click.pass_obj
def restart(settings: Settings) -> Answer:
    """Let calls end, build the runtime anew in its process, and apply what waited for that."""
    data = settings.ask("runtime.restart")
    return Answer(data, partial(_show, data=data))


def _show(screen: Screen, data: dict[str, Any]) -> None:
    cut = f", {data['cut']} calls cut" if data["cut"] else ""
    screen.line(f"● restarted as pid {data['pid']}{cut}  ({data['duration_ms']} ms)", "bold")
    for name in data["applied"]:
        screen.line(f"● {name}  had waited for this, and serves", "green")
    for name in data["waiting"]:
        screen.line(f"◌ {name}  still waits: eva capability explain-rejected {name}", "yellow")
    if data["settings"]:
        screen.line(f"· eva.yaml changed: {', '.join(data['settings'])}", "dim")
