"""``eva audit …``."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import Any

import click

from evatui.cli.answer import Answer
from evatui.cli.filters import filtered, given
from evatui.cli.following import follow as follow_items
from evatui.cli.options import Settings, Words
from evatui.cli.screen import Screen
from evatui.cli.show import audit_cells, show_audit
from evatui.cli.streams import silence_stdout
from evatui.control.exits import Exit
from evatui.control.failing import CommandFailed
from evatui.control.layouts import layout_of
from evatui.control.opening import operator_home, workspace_root
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
        follow_items(settings, "audit.tail", "records", "since_seq", _line, limit=limit, **wanted)
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


def _line(screen: Screen, record: dict[str, Any]) -> None:
    screen.line("  ".join(audit_cells(record)))
