"""``eva hardware …``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import click
from rich.text import Text

from evatui.cli.answer import Answer
from evatui.cli.options import Settings, Words
from evatui.cli.screen import Screen
from evatui.kernel.model.text import clean_line

__all__ = ["hardware"]

_SIGNS = {
    "authorized": ("●", "green"),
    "online": ("●", "green"),
    "degraded": ("◐", "yellow"),
    "lost": ("◐", "yellow"),
    "quarantined": ("▲", "yellow"),
    "ambiguous": ("▲", "yellow"),
    "denied": ("✗", "red"),
    "no_access": ("✗", "red"),
}


@click.group(cls=Words)
def hardware() -> None:
    """See devices, and say which is which. Looking never opens one."""


@hardware.command("list")
@click.pass_obj
def list_(settings: Settings) -> Answer:
    """Every device that is plugged in, and those that have a name; what cannot be used says why."""
    data = settings.ask("hardware.list")
    return Answer(data, partial(_show_list, data=data))


@hardware.command()
@click.argument("key")
@click.pass_obj
def inspect(settings: Settings, key: str) -> Answer:
    """One device, by its key or its name: who it is, when it was plugged in, and what to do where it cannot be used."""
    data = settings.ask("hardware.inspect", key=key)
    return Answer(data, partial(_show_one, data=data))


@hardware.command()
@click.pass_obj
def rescan(settings: Settings) -> Answer:
    """Look for devices now, and list them."""
    data = settings.ask("hardware.rescan")
    return Answer(data, partial(_show_list, data=data))


@hardware.command()
@click.argument("key")
@click.argument("name", required=False, metavar="[NAME]")
@click.option("--remove", is_flag=True, help="Take the name away again.")
@click.pass_obj
def bind(settings: Settings, key: str, name: str | None, remove: bool) -> Answer:
    """Say that NAME means this device; on record in the audit log.

    A device without a serial number is then known by where it is plugged in.
    """
    if (name is None) is not remove:
        raise click.UsageError("give a NAME, or --remove")
    data = settings.ask("hardware.bind", key=key, **({"remove": True} if name is None else {"name": name}))
    said = f"● {data['logical_id']} is {data['key']}" if data["logical_id"] else f"● {data['key']} has no name any more"
    return Answer(data, lambda screen: screen.line(said))


def _show_list(screen: Screen, data: Mapping[str, Any]) -> None:
    rows = data["devices"]
    if rows:
        screen.table(("", "NAME", "KEY", "WHAT", "STATE", "GEN", "IDENTITY", "WHY"), [_row(row) for row in rows])
    else:
        screen.line("no devices", "dim")
    for source in data["sources"]:
        if source["problem"]:
            screen.note(f"{source['name']} cannot look: {source['problem']}; what it saw last is shown", "yellow")
    if any(row["fix"] for row in rows):
        screen.note("what to do: eva hardware inspect KEY")


def _row(row: Mapping[str, Any]) -> Sequence[str | Text]:
    sign, style = _SIGNS.get(row["state"], ("◌", "dim"))
    what = f"{'SIM ' if row['simulated'] else ''}{row['name']}"
    name = row["logical_id"] or "–"
    return (
        Text(sign, style),
        name,
        row["key"],
        what,
        row["state"],
        str(row["generation"]),
        row["strength"] or "–",
        row["reason"],
    )


def _show_one(screen: Screen, data: Mapping[str, Any]) -> None:
    sign, style = _SIGNS.get(data["state"], ("◌", "dim"))
    badge = "SIM  " if data["simulated"] else ""
    screen.show(Text(clean_line(f"{sign} {badge}{data['logical_id'] or data['key']}  {data['state']}"), style))
    facts = {
        "key": data["key"],
        "what": " ".join(filter(None, (data["maker"], data["name"]))),
        "bus": data["bus"],
        "identity": data["strength"],
        "serial": data["serial"],
        "plugged into": data["topology"],
        "owner": data["owner"],
        "why": data["reason"],
    }
    screen.table(("", ""), [(name, str(value)) for name, value in facts.items() if value])
    for link in data["history"]:
        ended = f"until {link['detached']}  {link['reason']}" if link["detached"] else "plugged in since then"
        screen.line(f"generation {link['generation']}  {link['attached']}  {ended}", "dim")
    if data["fix"]:
        screen.block(data["fix"])
