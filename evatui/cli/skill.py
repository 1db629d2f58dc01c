"""``eva skill …``."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import click
from rich.text import Text

from evatui.cli.answer import Answer
from evatui.cli.completing import SkillName
from evatui.cli.options import Settings, Words
from evatui.cli.screen import Screen
from evatui.cli.show import show_diagnostics

__all__ = ["skill"]

_REASONS = {"policy_denied": "the policy keeps it from use", "runtime_worker": "a runtime worker, never offered"}
_SHORT = 100


@click.group(cls=Words)
def skill() -> None:
    """See the skills that agents are told of."""


@skill.command("list")
@click.pass_obj
def list_(settings: Settings) -> Answer:
    """Every skill by name: whether it can be used, the layer that it comes from, what it keeps from sight."""
    data = settings.ask("skill.list")
    return Answer(data, partial(_show_list, data=data))


@skill.command()
@click.argument("name", type=SkillName())
@click.pass_obj
def show(settings: Settings, name: str) -> Answer:
    """One skill: its fields, what it needs, its other copies, its text."""
    data = settings.ask("skill.show", name=name)
    return Answer(data, partial(_show_one, data=data))


@skill.command()
@click.pass_obj
def index(settings: Settings) -> Answer:
    """The index of skills, in XML, as an agent's system prompt gets it; nothing where there are no skills."""
    data = settings.ask("skill.index")
    return Answer(data, lambda screen: screen.document(data["index"]))


@skill.command()
@click.pass_obj
def context(settings: Settings) -> Answer:
    """All that a system prompt gets: the index, and the texts of the skills that are always wanted."""
    data = settings.ask("skill.context")
    return Answer(data, lambda screen: screen.document(data["text"]))


@skill.command()
@click.pass_obj
def doctor(settings: Settings) -> Answer:
    """The layers from the highest to the lowest, what is refused or missing, and what to do.

    Exit code 0 also where something is wrong: `ok` in the JSON says that.
    """
    data = settings.ask("skill.doctor")
    return Answer(data, partial(_show_doctor, data=data))


def _show_list(screen: Screen, data: Mapping[str, Any]) -> None:
    rows = [
        (_sign(row), row["name"], row["layer"], _remarks(row), row["description"][:_SHORT]) for row in data["skills"]
    ]
    if rows:
        screen.table(("", "NAME", "LAYER", "", "DESCRIPTION"), rows)
    elif not data["rejected"]:
        screen.line("There are no skills.")
    _show_shadows(screen, data["skills"])
    for row in data["skills"]:
        for found in row["diagnostics"]:
            screen.line(f"! {row['name']}  {found['code']} {found['message']}", "yellow")
    _show_refused(screen, data["rejected"])


def _show_shadows(screen: Screen, rows: list[Mapping[str, Any]]) -> None:
    for row in rows:
        if row["shadows"]:
            screen.line(f"{row['name']}: {row['location']} is used, not {', '.join(row['shadows'])}", "dim")


def _show_refused(screen: Screen, rejected: list[Mapping[str, Any]]) -> None:
    for row in rejected:
        screen.line(f"✗ {row['path']}", "bold red")
        if row["instead"]:
            screen.line(f"{row['instead']} is used instead", "dim")
        show_diagnostics(screen, row["diagnostics"])


def _show_one(screen: Screen, data: Mapping[str, Any]) -> None:
    title = Text.assemble(_sign(data), f" {data['name']}", style="bold")
    screen.show(title)
    for name, value in _facts(data):
        screen.line(f"  {name:<16}{value}")
    rows = [
        (copy["layer"], copy["location"], copy["version"], "the same" if copy["same"] else "")
        for copy in data["copies"]
    ]
    if rows:
        screen.line("SHADOWED", "bold")
        screen.table(("LAYER", "LOCATION", "VERSION", ""), rows)
    show_diagnostics(screen, data["diagnostics"])
    screen.line("")
    screen.document(data["body"])


def _facts(data: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield "what", data["description"]
    yield "lies in", f"{data['layer']}, {data['location']}"
    if not data["available"]:
        yield "not usable", _remarks(data)
    for name, value in data["fields"].items():
        if name not in ("name", "description"):
            yield name, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _show_doctor(screen: Screen, data: Mapping[str, Any]) -> None:
    rows = [
        (row["name"], row["folder"], str(row["skills"]), "" if row["allowed"] else "not in use by policy")
        for row in data["layers"]
    ]
    screen.table(("LAYER", "FOLDER", "SKILLS", ""), rows)
    for row in data["skills"]:
        if not row["available"]:
            screen.line(f"○ {row['name']}: {_remarks(row)}", "yellow")
        show_diagnostics(screen, row["diagnostics"])
    _show_refused(screen, data["rejected"])
    show_diagnostics(screen, data["problems"])
    counts = data["counts"]
    said = f"{counts['available']} of {counts['skills']} skills can be used, {counts['rejected']} files are refused"
    screen.line(said if not data["ok"] else f"all well: {said}", "bold")


def _sign(row: Mapping[str, Any]) -> Text:
    return Text("●", "green") if row["available"] else Text("○", "yellow")


def _remarks(row: Mapping[str, Any]) -> str:
    parts = [word for word, holds in (("always", row["always"]), ("by hand only", row["by_hand"])) if holds]
    if row["missing"]:
        parts.append(f"missing {', '.join(row['missing'])}")
    if row["reason"] in _REASONS:
        parts.append(_REASONS[row["reason"]])
    return ", ".join(parts)
