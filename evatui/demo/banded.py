"""The console with a band above everything: what is said of the tour, and how the load fares."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path

from textual.widget import Widget

from evatui.console import app as console
from evatui.console.app import ConsoleApp
from evatui.console.view.ink import Line, plain
from evatui.console.widgets.lines import Lines
from evatui.console.widgets.row_list import RowList
from evatui.demo.band import Caption, board_line, caption_line
from evatui.demo.load import Load

__all__ = ["Band", "BandedConsole"]


class Band(Lines):
    """Two lines that are on every screen."""

    DEFAULT_CSS = """
    Band { dock: top; height: 2; padding: 0 1 0 0; background: $panel; }
    """


class BandedConsole(ConsoleApp):
    """``load`` is None until there is one."""

    CSS_PATH = str(Path(console.__file__).with_name("app.tcss"))

    said = Caption(text="Starting a runtime in a temporary workspace")
    load: Load | None = None

    def banner(self) -> Iterable[Widget]:
        yield Band(self._band)

    def _band(self, width: int) -> tuple[Line, ...]:
        load = self.load
        if load is None:
            return (caption_line(self.said, width, self.look), ())
        rate = None if load.steps else load.tally.rate(time.monotonic())
        board = board_line(load.tally, rate, self.numbers.known, width, self.look)
        return (caption_line(self.said, width, self.look), board)

    def caption(self, caption: Caption) -> None:
        self.said = caption
        self.refresh_band()

    def refresh_band(self) -> None:
        for screen in self.screen_stack:
            for band in screen.query(Band):
                band.ask_again()

    def shows(self, *words: str) -> bool:
        """Whether lines and lists of the screen in front have all of these."""
        told = [plain(part) for lines in self.screen.query(Lines) for part in lines.lines]
        rows = (row for rows in self.screen.query(RowList) if rows.region for row in rows.shown)
        told += [" ".join(plain(cell) for cell in row.cells) for row in rows]
        return all(any(word in text for text in told) for word in words)
