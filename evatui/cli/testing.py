"""``eva capability test``: the examples, run."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import click

from evatui.cli.answer import Answer, failed_response
from evatui.cli.completing import CapabilityId
from evatui.cli.options import Settings, Word
from evatui.cli.screen import Screen
from evatui.cli.show import show_diagnostics
from evatui.control.exits import Exit, exit_for

__all__ = ["test"]


@click.command(cls=Word)
@click.argument("id", type=CapabilityId(), required=False)
@click.pass_obj
def test(settings: Settings, id: str | None) -> Answer:
    """Run the examples of one capability, or of all: each is a call like any other, with its effects."""
    data = settings.ask("capability.test", **({"id": id} if id is not None else {}))
    failed = None
    if data["failed"]:
        failed = failed_response({"message": f"{data['failed']} of the examples failed"}, data)
    return Answer(data, partial(_show, data=data), exit_for(failed) if failed else Exit.OK, failed)


def _show(screen: Screen, data: Mapping[str, Any]) -> None:
    for row in data["capabilities"]:
        for example in row["examples"]:
            glyph, style = ("✓", "green") if example["ok"] else ("✗", "red")
            screen.line(f"{glyph} {row['id']}: {example['name']}", style)
        problems = [example["problem"] for example in row["examples"] if example["problem"]]
        show_diagnostics(screen, [*row["diagnostics"], *problems])
    if not any(row["examples"] or row["diagnostics"] for row in data["capabilities"]):
        screen.line("There are no examples: write one as capabilities/examples/<id>/<name>.yaml")
    screen.line(f"{data['passed']} passed, {data['failed']} failed", "bold")
