"""``eva hardware …``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import click
from rich.text import Text

from evatui.cli.answer import Answer
from evatui.cli.following import follow as follow_items
from evatui.cli.monitoring import Shown, pattern_of
from evatui.cli.options import Settings, Words
from evatui.cli.screen import Screen
from evatui.control.device_frames import Form
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
@click.argument("key")
@click.pass_obj
def plan(settings: Settings, key: str) -> Answer:
    """What whoever wants to use a device would meet: policy, access, lease, other programs. Nothing is opened."""
    data = settings.ask("hardware.plan", key=key)
    return Answer(data, partial(_show_plan, data=data))


@hardware.command()
@click.argument("key")
@click.option("--force", is_flag=True, help="Also where another operator has it.")
@click.option("--again", is_flag=True, help="And anew, within 30 s, when it went away and comes back.")
@click.pass_obj
def claim(settings: Settings, key: str, force: bool, again: bool) -> Answer:
    """Open a device and have it to yourself until you release it; calls are refused meanwhile. On record.

    It ends with release, when the device goes away, and with the runtime.
    """
    asked = {name: True for name, given in (("force", force), ("again", again)) if given}
    data = settings.ask("hardware.claim", key=key, **asked)
    return Answer(data, lambda screen: screen.line(f"● {data['key']} is yours  ({data['lease']['lease_id']})"))


@hardware.command()
@click.argument("key")
@click.option("--force", is_flag=True, help="Also where another operator has it.")
@click.pass_obj
def release(settings: Settings, key: str, force: bool) -> Answer:
    """Let go of a device that was claimed; it is closed, and calls reach it again. On record."""
    data = settings.ask("hardware.release", key=key, **({"force": True} if force else {}))
    return Answer(data, lambda screen: screen.line(f"● {data['key']} is free again"))


@hardware.command()
@click.argument("key")
@click.option(
    "--as",
    "form",
    type=click.Choice([one.value for one in Form]),
    default=Form.MIXED.value,
    show_default=True,
    help="How.",
)
@click.option("--match", "pattern", metavar="REGEX", help="Only what has this, as text or in hexadecimal.")
@click.option("--limit", type=click.IntRange(1, 1_000), default=50, show_default=True, help="How many of the past.")
@click.option("--follow", is_flag=True, help="Go on with what is said from now on, until ctrl+c.")
@click.pass_obj
def monitor(settings: Settings, key: str, form: str, pattern: str | None, limit: int, follow: bool) -> Answer | None:
    """What was said to a device and by it. Nothing is opened for that, and nothing is sent.

    The newest 64 KiB are kept; with -o json and --follow one object a line, and {"dropped": n} where some were lost.
    """
    shown = Shown(Form(form), pattern_of(pattern))
    if follow:
        follow_items(settings, "hardware.monitor", "heard", "since", shown.line, key=key, limit=limit)
        return None
    data = settings.ask("hardware.monitor", key=key, limit=limit)
    return Answer(data, partial(shown.all, data=data))


@hardware.command()
@click.argument("key")
@click.option("--off", is_flag=True, help="No more.")
@click.pass_obj
def log(settings: Settings, key: str, off: bool) -> Answer:
    """Write what is said to a device and by it to a file in the state folder, at most 3 of 8 MiB. On record."""
    data = settings.ask("hardware.log", key=key, **({"off": True} if off else {}))
    said = f"{data['key']} goes to {data['log']} of the state folder" if data["log"] else f"{data['key']} is not logged"
    return Answer(data, lambda screen: screen.line(f"● {said}"))


@hardware.command()
@click.argument("name")
@click.argument("fault")
@click.pass_obj
def simulate(settings: Settings, name: str, fault: str) -> Answer:
    """Script what a simulated device (scale, relay, scanner, panel) does, until it is told otherwise.

    FAULT is none, unplug, flap, mute, garbage, partial, slow, twin, denied or busy.
    """
    data = settings.ask("hardware.simulate", name=name, fault=fault)
    return Answer(data, lambda screen: screen.line(f"● SIM {data['name']}: {data['fault']}"))


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
        columns = ("", "NAME", "KEY", "WHAT", "STATE", "GEN", "IDENTITY", "OWNER", "WHY")
        screen.table(columns, [_row(row) for row in rows], ("GEN", "IDENTITY", "WHAT"))
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
        row["owner"]["who"] if row["owner"] else "",
        row["reason"],
    )


def _owner(owner: Mapping[str, Any] | None) -> str:
    return f"{owner['who']} since {owner['since']}, epoch {owner['epoch']}" if owner else ""


def _show_plan(screen: Screen, data: Mapping[str, Any]) -> None:
    screen.table(("", "STEP", ""), [_step(step) for step in data["steps"]])
    for step in data["steps"]:
        if step["fix"]:
            screen.block(step["fix"])
    said = "it could be used" if data["ok"] else "it could not be used"
    screen.line(f"{data['logical_id'] or data['key']}: {said}", "bold")


def _step(step: Mapping[str, Any]) -> Sequence[str | Text]:
    sign = Text("●", "green") if step["ok"] else Text("✗", "red")
    return sign, step["step"], step["detail"]


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
        "owner": _owner(data["owner"]),
        "why": data["reason"],
    }
    screen.table(("", ""), [(name, str(value)) for name, value in facts.items() if value])
    for link in data["history"]:
        ended = f"until {link['detached']}  {link['reason']}" if link["detached"] else "plugged in since then"
        screen.line(f"generation {link['generation']}  {link['attached']}  {ended}", "dim")
    if data["fix"]:
        screen.block(data["fix"])
