"""``eva cancel``: the end of calls in flight, and of what runs in the background."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import click

from evatui.cli.answer import Answer
from evatui.cli.options import Settings, Word
from evatui.cli.screen import Screen

__all__ = ["cancel"]


@click.command(cls=Word)
@click.argument("what", metavar="REQUEST|GENERATION|TASK")
@click.pass_obj
def cancel(settings: Settings, what: str) -> Answer:
    """End a call in flight by its request id, or all that run on a generation: their callers get Cancelled.

    A tool of a plugin that runs in the background is ended by the handle of its task, or by the request that began it.
    What was done by then stays done.
    """
    data = settings.ask("call.cancel", what=what)
    return Answer(data, partial(_show, data=data))


def _show(screen: Screen, data: Mapping[str, Any]) -> None:
    for call in data["cancelled"]:
        where = call["generation"] or ", ".join(filter(None, (call["capability_id"], "in line")))
        what = call["task"] or call["request_id"]
        screen.line(f"cancelled {what}  {where}  of {call['caller']}  after {call['elapsed_ms']} ms")
