"""``eva trust``."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import click

from evatui.cli.answer import Answer
from evatui.cli.folder import Folder
from evatui.cli.options import Settings, Word
from evatui.cli.screen import Screen
from evatui.control.powers import power_lines

__all__ = ["trust"]

_SHORT = 16
_SIGNS = {"trusted": "●", "held": "◌", "changed": "◌"}


@click.command(cls=Word)
@click.argument("directory", metavar="[DIR]", type=Folder(), required=False)
@click.option("--revoke", is_flag=True, help="Trust it with nothing any more.")
@click.option("--dry-run", is_flag=True, help="Only say what there is to trust.")
@click.option("--digest", metavar="D", help="Refuse unless the list is still the one with this digest.")
@click.pass_obj
def trust(settings: Settings, directory: Path | None, revoke: bool, dry_run: bool, digest: str | None) -> Answer:
    """Trust a workspace with all in it that starts processes, connects or uses secrets; lists it."""
    if directory is not None:
        settings.workspace = directory
    if dry_run:
        data = settings.ask("trust.show")
    elif revoke:
        data = settings.ask("trust.revoke")
    else:
        data = settings.ask("trust.give", **({"digest": digest} if digest else {}))
    return Answer(data, partial(_show, data=data))


def _show(screen: Screen, data: dict[str, Any]) -> None:
    if not data["parts"]:
        screen.line("Nothing here starts processes, connects or uses secrets.")
    for part in data["parts"]:
        screen.line(f"{_SIGNS[part['status']]} {part['name']}  {part['status']}", "bold")
        for what, said in power_lines(part["power"]):
            screen.line(f"  {what:<13} {said}")
        for path, digest in part["files"].items():
            screen.line(f"  {digest[:_SHORT]}  {path}", "dim")
        for line in part["changed"]:
            screen.line(f"  changed: {line}", "yellow")
    for waits in data.get("waiting") or ():
        screen.line(f"◌ {waits['id']} still waits ({waits['reason']}): eva capability explain-rejected {waits['id']}")
    if data["vouched"]:
        screen.line("Trusted as it is: whoever opened it vouches for it.", "dim")
    screen.line(f"list {data['digest']}", "dim")
