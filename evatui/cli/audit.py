"""``eva audit …``."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

import click

from evatui.cli.answer import Answer
from evatui.cli.options import Settings, Words
from evatui.cli.screen import Screen
from evatui.cli.session import finish
from evatui.cli.show import audit_cells, show_audit
from evatui.control.exits import Exit
from evatui.control.opening import OpenMode
from evatui.control.operator import CommandFailed, Operator
from evatui.control.snapshot import Cursor
from evatui.kernel.model.errors import ErrorKind

__all__ = ["audit"]


@click.group(cls=Words)
def audit() -> None:
    """Read what happened."""


@audit.command()
@click.option("--limit", type=click.IntRange(1, 10_000), default=20, show_default=True, help="How many records.")
@click.option("--follow", is_flag=True, help="Go on with each new record until ctrl+c.")
@click.pass_obj
def tail(settings: Settings, limit: int, follow: bool) -> Answer | None:
    """The newest records, oldest first."""
    if follow:
        finish(_follow(settings, limit))
        return None
    data = settings.ask("audit.tail", limit=limit)
    return Answer(data, partial(_show, data=data))


@audit.command()
@click.pass_obj
def verify(settings: Settings) -> Answer:
    """Check the chain of records; repairs nothing. Exit code 2 on the first bad record."""
    data = settings.ask("audit.verify")
    bad = data["first_bad"]
    if bad is None:
        return Answer(data, partial(_show_sound, data=data))
    place = f"record {bad['seq']}, {bad['file']} line {bad['line']}"
    failed = CommandFailed(ErrorKind.CONFLICT, f"{bad['kind']} at {place}: {bad['message']}", data=data)
    return Answer(data, lambda screen: None, Exit.INVALID, failed)


def _show_sound(screen: Screen, data: dict[str, Any]) -> None:
    screen.line(f"✓ {data['records']} records, each in its place")
    signed = data["signed"]
    if signed is None:
        screen.line("· nothing is signed: what was cut off at the end would leave no trace", "yellow")
        return
    screen.line(f"✓ signed up to record {signed['seq']} at {signed['at']}, key {signed['key'][:16]}")
    for count, what in (
        (data["past_head"], "follow the signed head"),
        (data["unsealed"], "were taken over unsigned after a run that did not end well"),
        (data["pruned"], "before the first were pruned"),
    ):
        if count:
            screen.line(f"· {count} records {what}", "dim")


def _show(screen: Screen, data: dict[str, Any]) -> None:
    show_audit(screen, data["records"])


async def _follow(settings: Settings, limit: int) -> None:
    """The tail, then each record as it is written, until the reader goes away or the runtime ends."""
    screen = Screen(color=not settings.no_color)
    operator = await settings.connect(OpenMode.ATTACH, settings.workspace, settings.state_dir)
    try:
        records = (await operator.run("audit.tail", limit=limit))["records"]
        for record in records:
            _write(settings, screen, record)
        await _follow_from(settings, screen, operator, max((record["seq"] for record in records), default=0))
    finally:
        await operator.close()


async def _follow_from(settings: Settings, screen: Screen, operator: Operator, seq: int) -> None:
    changed = asyncio.Event()
    loop = asyncio.get_running_loop()

    def notify() -> None:
        loop.call_soon_threadsafe(changed.set)

    operator.on_change(notify)
    cursor = Cursor(audit=seq)
    while not screen.closed:
        try:
            snapshot = await operator.snapshot(cursor)
        except CommandFailed as failed:
            if not failed.context.get("stopped"):
                raise
            screen.note("· the runtime stopped", "")
            return
        for row in snapshot.audit:
            _write(settings, screen, dict(row.record))
        cursor = snapshot.cursor
        await changed.wait()
        changed.clear()


def _write(settings: Settings, screen: Screen, record: dict[str, Any]) -> None:
    if settings.json:
        screen.object(record)
    else:
        screen.line("  ".join(audit_cells(record)))
