"""``eva doctor``: this terminal, this machine and, where there is one, this workspace."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import click
from rich.text import Text

from evatui.cli.answer import Answer
from evatui.cli.options import Settings, Word
from evatui.cli.screen import Screen
from evatui.cli.session import finish
from evatui.cli.terminal import check_terminal, terminal
from evatui.control.failing import CommandFailed
from evatui.control.layouts import layout_of
from evatui.control.opening import workspace_root
from evatui.kernel.model.text import clean_line

__all__ = ["doctor"]


@click.command(cls=Word)
@click.pass_obj
def doctor(settings: Settings) -> Answer:
    """Look at the terminal, the sandbox, limits, permissions, libraries and devices, and say what to do.

    Works without a workspace too. Exit code 0 also where a check failed: `ok` in the JSON says that.
    """
    from evatui.control.doctor.examine import with_checks

    shown = terminal()
    data = {"terminal": shown, **with_checks(_found(settings), check_terminal(shown))}
    return Answer(data, partial(_show, data=data))


def _found(settings: Settings) -> dict[str, Any]:
    """What a runtime of the workspace says; where there is none to be had, what can be seen from here."""
    from evatui.control.doctor.check import Check
    from evatui.control.doctor.examine import with_checks
    from evatui.control.doctor.local import examine_here

    try:
        root = workspace_root(settings.workspace)
    except CommandFailed:
        if settings.workspace is not None:
            raise
        return finish(examine_here(None))
    try:
        return settings.ask("doctor")
    except CommandFailed as failed:
        unfit = Check("runtime", False, failed.message, failed.suggestion or "Repair that, and look again.")
    try:
        layout = layout_of(root, settings.state_dir)
    except CommandFailed:
        layout = None
    return with_checks(finish(examine_here(layout)), [unfit])


def _show(screen: Screen, data: Mapping[str, Any]) -> None:
    screen.table(("", "CHECK", "FOUND"), [_row(check) for check in data["checks"]])
    failed = [check for check in data["checks"] if not check["ok"]]
    for check in failed:
        screen.line(f"{check['name']}: {check['fix']}", "yellow")
    system, python = data["platform"], data["libraries"]["python"]["version"]
    here = f"evatui {data['version']} on {system['system']} {system['release']}, Python {python}"
    screen.line(f"{len(failed)} of {len(data['checks'])} failed; {here}" if failed else f"all well; {here}", "bold")


def _row(check: Mapping[str, Any]) -> tuple[Text, str, str]:
    sign = Text("●", "green") if check["ok"] else Text("✗", "red")
    return sign, check["name"], clean_line(check["detail"], 300)
