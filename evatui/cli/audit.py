"""``eva audit …``."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import click

from evatui.cli.answer import Answer
from evatui.cli.filters import filtered, given
from evatui.cli.options import Settings, Words
from evatui.cli.screen import Screen
from evatui.cli.session import finish
from evatui.cli.show import audit_cells, show_audit
from evatui.cli.streams import silence_stdout
from evatui.control.exits import Exit
from evatui.control.opening import OpenMode, layout_of, operator_home, workspace_root
from evatui.control.operator import CommandFailed, Operator
from evatui.control.snapshot import Cursor
from evatui.kernel.model.clock import SYSTEM_CLOCK
from evatui.kernel.model.errors import ErrorKind

__all__ = ["audit"]


@click.group(cls=Words)
def audit() -> None:
    """Read what happened."""


@audit.command()
@click.option("--limit", type=click.IntRange(1, 10_000), default=20, show_default=True, help="How many records.")
@click.option("--follow", is_flag=True, help="Go on with each new record until ctrl+c.")
@filtered
@click.pass_obj
def tail(settings: Settings, /, limit: int, follow: bool, **options: Any) -> Answer | None:
    """The newest records, oldest first."""
    wanted = given(options)
    if follow:
        finish(_follow(settings, limit, wanted))
        return None
    data = settings.ask("audit.tail", limit=limit, **wanted)
    return Answer(data, partial(_show, data=data))


@audit.command()
@click.option("--limit", type=click.IntRange(1, 10_000), default=100, show_default=True, help="How many records.")
@filtered
@click.pass_obj
def query(settings: Settings, /, limit: int, **options: Any) -> Answer:
    """The newest records that match, oldest first."""
    wanted = given(options)
    if not wanted:
        raise click.UsageError("nothing is asked for; `eva audit tail` shows the newest records")
    data = settings.ask("audit.query", limit=limit, **wanted)
    return Answer(data, partial(_show, data=data))


@audit.command()
@filtered
@click.pass_obj
def export(settings: Settings, /, **options: Any) -> None:
    """Write the log as JSON lines, exact to the byte, behind its signed head; or what matches, the newest first.

    The whole can be verified anywhere: eva audit verify FILE --key KEY.
    """
    from evatui.control.audit_files import export_lines

    layout = layout_of(workspace_root(settings.workspace), settings.state_dir)
    lines = export_lines(layout, operator_home(), given(options), SYSTEM_CLOCK.now())
    out = sys.stdout.buffer
    try:
        out.writelines(lines)
        out.flush()
    except BrokenPipeError:
        silence_stdout()


@audit.command()
@click.argument("file", required=False, type=click.Path(path_type=Path))
@click.option("--key", metavar="KEY", help="The public key that must have signed FILE, in hexadecimal.")
@click.pass_obj
def verify(settings: Settings, file: Path | None, key: str | None) -> Answer:
    """Check the chain of records and its signed head, of the workspace or of an export; repairs nothing.

    Exit code 2 on the first bad record.
    """
    if key is not None and file is None:
        raise click.UsageError("--key is for FILE; a workspace is verified with the operator's own key")
    if file is not None:
        from evatui.control.audit_files import verify_file

        data = verify_file(file, key.lower() if key else None)
    else:
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
    if data.get("more"):
        screen.note("there are older ones: --limit shows more")


async def _follow(settings: Settings, limit: int, wanted: dict[str, Any]) -> None:
    """The tail, then each record as it is written, until the reader goes away or the runtime ends."""
    screen = Screen(color=not settings.no_color)
    from evatui.control.audit_files import matcher

    matches = matcher(wanted, SYSTEM_CLOCK.now())
    operator = await settings.connect(OpenMode.ATTACH, settings.workspace, settings.state_dir)
    try:
        newest = (await operator.run("audit.tail", limit=1))["records"] if wanted else ()
        seq = max((record["seq"] for record in newest), default=0)
        records = (await operator.run("audit.tail", limit=limit, **wanted))["records"]
        for record in records:
            _write(settings, screen, record)
        seq = max((record["seq"] for record in records), default=seq)
        await _follow_from(settings, screen, operator, seq, matches)
    finally:
        await operator.close()


async def _follow_from(
    settings: Settings, screen: Screen, operator: Operator, seq: int, matches: Callable[[Mapping[str, Any]], bool]
) -> None:
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
            if matches(row.record):
                _write(settings, screen, dict(row.record))
        cursor = snapshot.cursor
        await changed.wait()
        changed.clear()


def _write(settings: Settings, screen: Screen, record: dict[str, Any]) -> None:
    if settings.json:
        screen.object(record)
    else:
        screen.line("  ".join(audit_cells(record)))
