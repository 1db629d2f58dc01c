"""``eva capability promote | abort | pause | resume | undo | route``: trying versions out, and taking things back."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import click

from evatui.cli.answer import Answer
from evatui.cli.completing import CapabilityId, CapabilityName
from evatui.cli.given import GUARD, Tag
from evatui.cli.options import Settings, Word
from evatui.cli.screen import Screen
from evatui.cli.show import show_receipt

__all__ = ["add_rollout"]

_ORDERS = {
    "promote": "Let the version that is tried out take all calls, whatever its verdict.",
    "abort": "Take the version that is tried out back; it is not tried again until it changes, or retry.",
    "pause": "Let the time of the canary stand still; one that fails is taken back all the same.",
    "resume": "Let the time of the canary go on; one that was held gets all of it again.",
}


def add_rollout(group: click.Group) -> None:
    for word, about in _ORDERS.items():
        group.add_command(_order(word, about))
    group.add_command(undo)
    group.add_command(route)


def _order(word: str, about: str) -> click.Command:
    @click.command(word, help=about, cls=Word)
    @click.argument("id", type=CapabilityId())
    @GUARD
    @click.pass_obj
    def order(settings: Settings, id: str, if_generation: str | None) -> Answer:
        guard = {"if_generation": if_generation} if if_generation is not None else {}
        data = settings.ask(f"capability.{word}", id=id, **guard)
        return Answer(data, partial(show_receipt, data=data))

    return order


@click.command(cls=Word)
@click.argument("id", type=CapabilityId())
@click.option("--dry-run", is_flag=True, help="Say what would be undone, and how; nothing is changed.")
@GUARD
@click.pass_obj
def undo(settings: Settings, id: str, dry_run: bool, if_generation: str | None) -> Answer:
    """Undo what was ordered last of a capability, while nothing else has happened to it."""
    guard = {"if_generation": if_generation} if if_generation is not None else {}
    if not dry_run:
        data = settings.ask("capability.undo", id=id, **guard)
        return Answer(data, partial(show_receipt, data=data))
    data = settings.ask("capability.undo_plan", id=id, **guard)
    return Answer(data, partial(_show_undo, data=data))


def _show_undo(screen: Screen, data: Mapping[str, Any]) -> None:
    did = data["undoes"]
    screen.line(f"would undo the {did['action']} of {did['at']} by {did['actor']}: {data['by']}")


@click.command(cls=Word)
@click.argument("name", type=CapabilityName())
@click.option("--provider", metavar="ID", help="The capability that is to answer.")
@click.option("--user", help="In whose name the call would be made.")
@click.option("--tag", "tags", type=Tag(), multiple=True, help="A tag of the request; may be repeated.")
@click.pass_obj
def route(settings: Settings, /, name: str, tags: tuple[tuple[str, str], ...], **given: str | None) -> Answer:
    """Who would answer a call, on which generation, and why; nothing is called."""
    params = {key: value for key, value in given.items() if value is not None}
    data = settings.ask("capability.route", name=name, tags=dict(tags), **params)
    return Answer(data, partial(_show_route, data=data))


def _show_route(screen: Screen, data: Mapping[str, Any]) -> None:
    screen.line(f"{data['name']} → {data['generation']}{'  (canary)' if data['canary'] else ''}", "bold")
    for why in data["why"]:
        screen.line(why)
