"""A picture of a view without a terminal."""

from __future__ import annotations

import os
from pathlib import Path

from textual.pilot import Pilot

from evatui.console.app import ConsoleApp
from evatui.console.launch import pose, say
from evatui.console.rest import at_rest

__all__ = ["take_screenshot"]


def take_screenshot(app: ConsoleApp, file: Path, size: tuple[int, int]) -> int:
    """Writes ``file`` as SVG and returns the exit code. Equal state gives equal bytes."""
    picture: list[str] = []

    async def take(pilot: Pilot[object]) -> None:
        await app.first_snapshot.wait()
        if app.snapshot is None:
            return
        await pilot.pause()
        await at_rest(app)  # of a view that asks for its rows
        await pilot.pause()
        picture.append(app.export_screenshot(title="evatui", simplify=True))
        app.exit()

    code = pose(app, size, take)
    if not picture:
        return code
    try:
        file.write_text(picture[0], encoding="utf-8")
    except OSError as problem:
        say(f"error: {file.name} cannot be written: {os.strerror(problem.errno or 0)}")
        return 2
    return code
