"""What leaves the console: to the clipboard, and to files that did not exist before."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evatui.console.copying import CLIP, beside, to_tmux
from evatui.console.view.ink import Ink, line

if TYPE_CHECKING:
    from evatui.console.stage import Stage

__all__ = ["Exporting", "write_new"]


class Exporting:
    def __init__(self, app: Stage) -> None:
        self._app = app
        self.handlers: dict[str, Callable[[], None]] = {"copy": self._copy, "export": self._export}
        self.worded: dict[str, Callable[[str], None]] = {"export": self._export_to}

    # --- the clipboard ----------------------------------------------------------------------------

    def _copy(self) -> None:
        text = self._app.pane.copied()
        self.copy(text, f"{len(text):,} characters" if "\n" in text else text)

    def copy(self, text: str, shown: str) -> None:
        """``shown`` is what the status line calls it."""
        self._app.copy_to_clipboard(text)
        self._app.run_worker(self._beside(text, shown), exit_on_error=False, group="copy", exclusive=True)

    async def _beside(self, text: str, shown: str) -> None:
        ways = ["OSC 52"]
        if await to_tmux(text, os.environ):
            ways.append("tmux")
        folder = _cache_folder()
        try:
            await asyncio.to_thread(beside, folder, text)
            ways.append(_short(folder / CLIP))
        except OSError:
            pass  # the terminal has it, and nobody asked for the file
        self._app.say(line(("✓ ", Ink.OK), f"copied {shown}", (f"  ({', '.join(ways)})", Ink.DIM)))

    # --- files ------------------------------------------------------------------------------------

    def _export(self) -> None:
        records = self._app.pane.exported()
        ends = (records[0].get("seq"), records[-1].get("seq")) if records else (0, 0)
        self._write(Path(f"audit-{ends[0]}-{ends[1]}.jsonl"), records)

    def _export_to(self, name: str) -> None:
        self._write(Path(name).expanduser(), self._app.pane.exported())

    def _write(self, path: Path, records: Sequence[Mapping[str, Any]]) -> None:
        if not records:
            self._app.say(line(("export: ", Ink.WARN), "no record is shown"))
            return
        lines = [json.dumps(record, ensure_ascii=False, default=str) for record in records]
        self._app.run_worker(self._written(path, lines), exit_on_error=False, group="export")

    async def _written(self, path: Path, lines: Sequence[str]) -> None:
        try:
            await asyncio.to_thread(write_new, path, "".join(f"{row}\n" for row in lines))
        except OSError as problem:
            why = os.strerror(problem.errno or 0).lower()
            self._app.say(line(("✗ ", Ink.BAD), f"{path.name} cannot be written: {why}"))
            return
        self._app.say(
            line(
                ("✓ ", Ink.OK),
                f"{len(lines):,} record{'' if len(lines) == 1 else 's'} in {path}",
                ("  the whole log, signed: eva audit export", Ink.DIM),
            )
        )


def write_new(path: Path, text: str) -> None:
    """Never over a file that is there already. Raises `OSError`."""
    with path.open("x", encoding="utf-8", errors="replace") as file:
        file.write(text)


def _cache_folder() -> Path:
    from platformdirs import user_cache_path

    return user_cache_path("evatui", appauthor=False)


def _short(path: Path) -> str:
    home = str(Path.home())
    return f"~{str(path).removeprefix(home)}" if str(path).startswith(home) else str(path)
