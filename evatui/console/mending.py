"""The action that writes a repair which needs no thought: shown first, and only into the file that was shown."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from evatui.console.view.ink import EMPTY, Ink, Line, line
from evatui.console.view.mending import edits_of, mended, repair_lines
from evatui.control.commands import Danger
from evatui.control.failing import CommandFailed
from evatui.control.opening import workspace_root
from evatui.control.snapshot import RejectionRow

if TYPE_CHECKING:
    from evatui.console.stage import Stage

__all__ = ["Mending"]

_MAX_BYTES = 1 << 20


class Mending:
    def __init__(self, app: Stage) -> None:
        self._app = app
        self.handlers: dict[str, Callable[[], None]] = {"fix": self._fix}

    def _fix(self) -> None:
        row = self._app.pane.subject()
        assert isinstance(row, RejectionRow)  # the table enables it for nothing else
        self._app.fetch(self._offer(row), "reading the file")

    async def _offer(self, row: RejectionRow) -> None:
        from evatui.console.screens.confirm import Confirm

        edits = edits_of(row.diagnostics)
        before = await asyncio.to_thread(self._read, tuple(edits))
        after = {file: new for file, text in before.items() if (new := mended(text, edits[file])) is not None}
        if before.keys() != edits.keys() or after.keys() != edits.keys():
            self._app.say(line(("✗ ", Ink.BAD), "the file is another one by now: r reads it again, e opens the editor"))
            return

        def source(width: int) -> list[Line]:
            said = line(("It is read again by itself as soon as it is written.", Ink.DIM))
            return [*repair_lines(before, after, width), EMPTY, said]

        def answered(sure: bool | None) -> None:
            if sure:
                self._app.run_worker(self._write(before, after), exit_on_error=False, group="fix")
            else:
                self._app.say(line(("not done: fix", Ink.DIM)))

        self._app.push_screen(Confirm(f"Mend {row.key}?", source, "write it", Danger.PLAN), answered)

    async def _write(self, before: Mapping[str, str], after: Mapping[str, str]) -> None:
        try:
            moved = await asyncio.to_thread(self._replace_all, before, after)
        except OSError as problem:
            why = os.strerror(problem.errno or 0).lower()
            self._app.say(line(("✗ ", Ink.BAD), f"it cannot be written: {why}"))
            return
        if moved:
            self._app.say(line(("✗ Conflict ", Ink.BAD), f"{moved} changed since you looked: review again"))
        else:
            self._app.say(line(("✓ ", Ink.OK), f"mended {', '.join(after)}; it is read by itself"))

    def _read(self, files: tuple[str, ...]) -> dict[str, str]:
        """What can be read of them, as text. Blocking."""
        found = {}
        for file in files:
            try:
                data = self._path(file).read_bytes()
                if len(data) <= _MAX_BYTES:
                    found[file] = data.decode("utf-8")
            except (OSError, ValueError, CommandFailed):
                continue
        return found

    def _replace_all(self, before: Mapping[str, str], after: Mapping[str, str]) -> str:
        """Writes them; or none of them, and returns the first that is not what it was. Blocking."""
        now = self._read(tuple(before))
        moved = next((file for file, text in before.items() if now.get(file) != text), "")
        if not moved:
            for file, text in after.items():
                _replace(self._path(file), text.encode("utf-8"))
        return moved

    def _path(self, file: str) -> Path:
        """Raises `ValueError` for what lies outside the workspace, by a link as well."""
        root = workspace_root(self._app.workspace).resolve()
        path = (root / file).resolve()
        path.relative_to(root)
        return path


def _replace(path: Path, data: bytes) -> None:
    """In one step, with its mode: whoever reads it meanwhile has either the old or the new one."""
    descriptor, beside = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        Path(beside).chmod(path.stat().st_mode & 0o7777)
        Path(beside).replace(path)
    except BaseException:
        Path(beside).unlink(missing_ok=True)
        raise
