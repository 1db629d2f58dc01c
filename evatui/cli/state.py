"""``eva state …``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from typing import Any

import click

from evatui.cli.answer import Answer
from evatui.cli.completing import CapabilityId
from evatui.cli.given import GUARD
from evatui.cli.options import Settings, Words
from evatui.cli.screen import Screen
from evatui.kernel.model.text import clean

__all__ = ["state"]


@click.group(cls=Words)
def state() -> None:
    """See and delete what capabilities have stored."""


@state.command("list")
@click.argument("id", type=CapabilityId(), required=False, metavar="[ID]")
@click.pass_obj
def list_(settings: Settings, id: str | None) -> Answer:
    """The keys of a capability with version, bytes and schema; without ID, how much each has."""
    if id is None:
        data = settings.ask("state.list")
        return Answer(data, partial(_show_all, data=data))
    data = settings.ask("state.list", id=id)
    return Answer(data, partial(_show_one, data=data))


@state.command()
@click.argument("id", type=CapabilityId())
@click.argument("key")
@click.option(
    "--schema", type=click.IntRange(min=1), metavar="N", help="Of an older schema; default: the one in force."
)
@click.pass_obj
def get(settings: Settings, id: str, key: str, schema: int | None) -> Answer:
    """A stored value."""
    data = settings.ask("state.get", id=id, key=key, **({"schema": schema} if schema is not None else {}))
    return Answer(data, partial(_show_value, data=data))


@state.command()
@click.argument("id", type=CapabilityId())
@click.argument("key", required=False, metavar="[KEY]")
@click.option("--all", "every", is_flag=True, help="Every key of the schema in force.")
@GUARD
@click.pass_obj
def delete(settings: Settings, id: str, key: str | None, every: bool, if_generation: str | None) -> Answer:
    """Delete a key, or with --all every one; on record in the audit log. Older schemas are left as they are."""
    if (key is None) is not every:
        raise click.UsageError("give a KEY, or --all")
    what: dict[str, Any] = {"all": True} if key is None else {"key": key}
    guard = {"if_generation": if_generation} if if_generation is not None else {}
    data = settings.ask("state.delete", id=id, **what, **guard)
    keys = "1 key" if data["deleted"] == 1 else f"{data['deleted']} keys"
    return Answer(data, lambda screen: screen.line(f"● deleted {keys} of {id}, schema {data['schema_version']}"))


def _show_all(screen: Screen, data: Mapping[str, Any]) -> None:
    columns = ("ID", "SCHEMA", "KEYS", "BYTES", "LIMIT", "")
    screen.table(columns, [_size(row) for row in data["capabilities"]])


def _size(row: Mapping[str, Any]) -> tuple[str, ...]:
    limit = str(row["limit_bytes"]) if row["limit_bytes"] is not None else "–"
    return row["id"], str(row["schema_version"]), str(row["keys"]), str(row["bytes"]), limit, _said(row)


def _show_one(screen: Screen, data: Mapping[str, Any]) -> None:
    rows = [
        (row["key"], str(row["version"]), str(row["bytes"]), str(row["schema_version"]), _said(row))
        for row in data["rows"]
    ]
    screen.table(("KEY", "VERSION", "BYTES", "SCHEMA", ""), rows)


def _said(row: Mapping[str, Any]) -> str:
    return "" if row["in_force"] else "not in force, read-only"


def _show_value(screen: Screen, data: Mapping[str, Any]) -> None:
    for line in clean(json.dumps(data["value"], ensure_ascii=False, indent=2)).splitlines():
        screen.line(line)
    screen.note(f"version {data['version']}, {data['bytes']} bytes, schema {data['schema_version']}", "")
