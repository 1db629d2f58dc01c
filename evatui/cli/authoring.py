"""``eva schema …``, ``eva capability render`` and ``new``: for whoever writes a capability."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from functools import partial
from typing import Any

import click

from evatui.cli.answer import Answer
from evatui.cli.completing import CapabilityId
from evatui.cli.options import Settings, Words
from evatui.cli.screen import Screen
from evatui.cli.show import show_diagnostics
from evatui.control.failing import CommandFailed
from evatui.control.opening import OpenMode, workspace_root
from evatui.control.operator import Operator
from evatui.kernel.model.lifecycle import State
from evatui.kernel.model.manifest import Kind

__all__ = ["add_authoring", "schema"]

_LOOKS, _LOOK_S = 200, 0.05
"""What a runtime takes in by itself it takes in sooner, or not at all."""


@click.group(cls=Words)
def schema() -> None:
    """JSON Schemas of the files that people write."""


@schema.command("print")
@click.argument("name", required=False)
def print_(name: str | None) -> Answer:
    """The JSON Schema called NAME; without it, which there are."""
    from evatui.control.schemas import schema_list, schema_text

    if name is None:
        found = schema_list()
        rows = [(entry["name"], entry["title"]) for entry in found]
        return Answer({"schemas": found}, lambda screen: screen.table(("NAME", "OF"), rows))
    text = schema_text(name)
    return Answer({"name": name, "schema": json.loads(text)}, lambda screen: screen.write(text))


def add_authoring(capability: click.Group) -> None:
    """The words of this file under ``eva capability``."""

    @capability.command()
    @click.argument("id", type=CapabilityId())
    @click.pass_obj
    def render(settings: Settings, id: str) -> Answer:
        """The manifest as it is understood: defaults filled in, and where each value comes from."""
        data = settings.ask("capability.render", id=id)
        return Answer(data, partial(_show_rendered, data=data))

    @capability.command()
    @click.argument("kind", type=click.Choice([kind.value for kind in Kind]))
    @click.argument("id")
    @click.pass_obj
    def new(settings: Settings, kind: str, id: str) -> Answer:
        """Write a new capability that works: manifest, script, schemas, an example, types for editors."""
        from evatui.control.scaffold.new import new_capability

        made = new_capability(workspace_root(settings.workspace), settings.state_dir, kind, id)
        data = made | _judged(settings, id)
        data["next"] = _next(data)
        if data["admitted"]:
            from evatui.cli.session import finish

            finish(_until_served(settings, id))
        return Answer(data, partial(_show_new, data=data))


def _judged(settings: Settings, id: str) -> dict[str, Any]:
    """What a reload would make of it: would it be served, and if not, why not."""
    try:
        (change,) = settings.ask("capability.plan", ids=[id])["changes"]
    except (CommandFailed, ValueError) as problem:
        return {"admitted": None, "diagnostics": [], "reason": str(problem)}
    return {
        "admitted": change["action"] in ("add", "update", "unchanged"),
        "diagnostics": [*change["diagnostics"], *change["warnings"]],
        "reason": change["reason"],
    }


async def _until_served(settings: Settings, id: str) -> None:
    """Where a runtime holds the workspace, it takes the files in by itself, and what is typed next must not come before
    that."""
    try:
        operator = await settings.connect(OpenMode.ATTACH, settings.workspace, settings.state_dir)
    except CommandFailed:
        return
    try:
        told = await operator.run("status")
        if told["frozen"] or not told["watch"]["ok"]:
            return
        for _ in range(_LOOKS):
            if await _decided(operator, id):
                return
            await asyncio.sleep(_LOOK_S)
    except CommandFailed:
        pass
    finally:
        await operator.close()


async def _decided(operator: Operator, id: str) -> bool:
    """It serves, or it was refused after all."""
    rows = (await operator.run("capability.list"))["capabilities"]
    row = next((row for row in rows if row["id"] == id), None)
    return row is not None and (row["active"]["digest"] is not None or row["state"] == State.REJECTED)


def _next(data: Mapping[str, Any]) -> list[str]:
    if data["admitted"]:
        word = f"""eva capability call {data["name"]} --payload '{{"name": "Ada"}}'"""
        return [word, f"edit {data['script']}: what you save is taken in", "eva capability list"]
    return ["change the policy as said above", f"eva capability explain-rejected {data['id']}"]


def _show_new(screen: Screen, data: Mapping[str, Any]) -> None:
    for path in data["files"]:
        screen.line(f"+ {path}", "green")
    for path in data["kept"]:
        screen.line(f"= {path}  (was there already)", "dim")
    show_diagnostics(screen, data["diagnostics"])
    if data["reason"]:
        screen.note(data["reason"], "yellow")
    for step in data["next"]:
        screen.note(f"next: {step}", "")


def _show_rendered(screen: Screen, data: Mapping[str, Any]) -> None:
    screen.line(f"{data['id']}  {data['path']}", "bold")
    rows = [(_dotted(entry["pointer"]), _said(entry["value"]), _origin(entry["origin"])) for entry in data["values"]]
    screen.table(("KEY", "VALUE", "FROM"), rows)
    for problem in data["problems"]:
        screen.line(f"✗ {problem}", "red")


def _dotted(pointer: str) -> str:
    steps = pointer.split("/")[1:]
    return ".".join(step.replace("~1", "/").replace("~0", "~") for step in steps)


def _said(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 200 else f"{text[:199]}…"


def _origin(origin: Any) -> str:
    return origin if isinstance(origin, str) else f"line {origin['line']}"
