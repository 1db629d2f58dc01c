"""``eva bundle FILE``."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import click

from evatui.cli.answer import Answer
from evatui.cli.options import Settings, Word
from evatui.cli.progress import waited_for
from evatui.cli.screen import Screen
from evatui.cli.session import finish
from evatui.cli.terminal import terminal
from evatui.control.failing import CommandFailed
from evatui.control.opening import OpenMode, workspace_root
from evatui.kernel.model.errors import ErrorKind

__all__ = ["bundle"]

_PICTURE_S = 60.0


@click.command(cls=Word)
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--no-picture", is_flag=True, help="Without a picture of the console.")
@click.pass_obj
def bundle(settings: Settings, file: Path, no_picture: bool) -> Answer:
    """Write all that somebody who is to help needs into one archive: a zip, with secrets cleaned.

    It holds status, doctor, capabilities, plan, diagnostics, graph, the last audit records and events, metrics and a
    picture of the console. What cannot be had is said in its place. Look into it before you send it on.
    """
    from evatui.control.bundling import cleaned, write_archive

    if os.path.lexists(file):
        raise CommandFailed(ErrorKind.CONFLICT, f"{file.name} exists: nothing is overwritten")
    try:
        root = workspace_root(settings.workspace)
    except CommandFailed:
        if settings.workspace is not None:
            raise
        root = None
    found = finish(waited_for(settings, "eva bundle", _found(settings))) | {"terminal.json": terminal()}
    if root is not None and not no_picture:
        found |= _picture(settings, root)
    folders = {"workspace": root, "state folder": settings.state_dir}
    parts = {name: cleaned(part, folders, os.environ) for name, part in found.items()}
    write_archive(file, parts)
    missing = sorted(name for name, part in found.items() if isinstance(part, dict) and "error" in part)
    data = {"file": str(file), "parts": {name: len(part) for name, part in parts.items()}, "missing": missing}
    return Answer(data, partial(_show, data=data))


async def _found(settings: Settings) -> dict[str, Any]:
    """Of a runtime; where there is none to be had, why, and what can be seen from here."""
    from evatui.control.bundling import collected
    from evatui.control.doctor.local import examine_here

    try:
        operator = await settings.connect(OpenMode.READ, settings.workspace, settings.state_dir)
    except CommandFailed as failed:
        return {"status.json": {"error": failed.to_json()}, "doctor.json": await examine_here(None)}
    try:
        return await collected(operator)
    finally:
        await operator.close()


def _picture(settings: Settings, root: Path) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "console.svg"
        words = [sys.executable, "-m", "evatui", str(root), "--screenshot", str(file)]
        if settings.state_dir is not None:
            words += ["--state-dir", str(settings.state_dir)]
        try:
            subprocess.run(words, capture_output=True, timeout=_PICTURE_S, check=True)
            return {"console.svg": file.read_text(encoding="utf-8")}
        except (OSError, subprocess.SubprocessError):
            return {"console.svg.json": {"error": "no picture of the console could be made"}}


def _show(screen: Screen, data: dict[str, Any]) -> None:
    for name, size in data["parts"].items():
        screen.line(f"{'✗' if name in data['missing'] else '+'} {name}  {size:,} bytes")
    screen.line(f"wrote {data['file']}: look into it before you send it on", "bold")
