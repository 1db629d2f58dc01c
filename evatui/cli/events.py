"""``eva events``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from typing import Any

import click

from evatui.cli.answer import Answer
from evatui.cli.following import follow as follow_items
from evatui.cli.options import Settings, Word
from evatui.cli.screen import Screen
from evatui.cli.show import who

__all__ = ["events"]

_MAX_SAID = 200


@click.command(cls=Word)
@click.option("--topic", metavar="PATTERN", help="Only these: * is one segment, a last ** any number: /capability/*")
@click.option("--follow", is_flag=True, help="Go on with each new event until ctrl+c.")
@click.option("--limit", type=click.IntRange(1, 1_000), default=100, show_default=True, help="How many of the past.")
@click.pass_obj
def events(settings: Settings, topic: str | None, follow: bool, limit: int) -> Answer | None:
    """The newest events, oldest first.

    With --follow each new one as it comes; with -o json one object a line, and {"dropped": n} where some were lost.
    """
    asked: dict[str, Any] = {"limit": limit} | ({"topic": topic} if topic is not None else {})
    if follow:
        follow_items(settings, "events", "events", "since", _line, **asked)
        return None
    data = settings.ask("events", **asked)
    return Answer(data, partial(_show, data=data))


def _show(screen: Screen, data: Mapping[str, Any]) -> None:
    if not data["live"]:
        screen.note("no runtime holds this workspace; these are the events of a start that was made to answer")
    columns = ("SEQ", "AT", "TOPIC", "ACTOR", "CAUSE", "WHAT")
    screen.table(columns, [_cells(event) for event in data["events"]], ("CAUSE", "ACTOR"))
    if data["more"]:
        screen.note("there are older ones: --limit shows more")


def _line(screen: Screen, event: Mapping[str, Any]) -> None:
    screen.line("  ".join(_cells(event)))


def _cells(event: Mapping[str, Any]) -> tuple[str, ...]:
    about = event["payload"]
    what = _change(about) if event["topic"].startswith("/capability/") else json.dumps(about, ensure_ascii=False)
    return str(event["seq"]), event["at"], event["topic"], who(event["actor"]), event["cause"] or "–", _cut(what)


def _change(about: Mapping[str, Any]) -> str:
    """Which capability, from which generation to which, and why."""
    way = " → ".join(about[key] for key in ("from_generation", "generation") if about.get(key))
    said = [about.get("id"), way, about.get("reason"), *(one["message"] for one in about.get("diagnostics") or ())]
    return "  ".join(str(part) for part in said if part)


def _cut(text: str) -> str:
    return text if len(text) <= _MAX_SAID else f"{text[:_MAX_SAID]}…"
