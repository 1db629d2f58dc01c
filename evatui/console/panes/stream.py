"""A list that grows at its end, and whose beginning lies on disk."""

from __future__ import annotations

from collections.abc import Sequence

from evatui.console.panes.pane import Pane
from evatui.console.view.ink import EMPTY, Ink, Line, join, line
from evatui.console.view.numbers import Numbers
from evatui.console.view.older import OLDER_AT_ONCE, Older
from evatui.console.view.table import Row
from evatui.console.view.words import Look
from evatui.control.snapshot import AuditRow

__all__ = ["StreamPane"]

_OLDER = "older"
"""The key of the row that loads older ones."""


class StreamPane(Pane):
    """Following, the cursor stays on the last row; else it is said how many came since one looked."""

    def __init__(self, look: Look, numbers: Numbers) -> None:
        super().__init__(look, numbers)
        self.rows.follow = True
        self._came = 0
        self._seen = 0
        self._held = False
        self._waiting: tuple[Sequence[Row], Sequence[Line]] | None = None

    codes: tuple[str, ...]
    """Of the records that are asked for, the first part; none for all."""

    @property
    def until(self) -> str:
        """When the oldest of its rows happened, empty where nothing older is to be had."""
        raise NotImplementedError

    def add_older(self, rows: Sequence[AuditRow], *, more: bool) -> int:
        """Records from before those that are there; how many of them were new. ``more``: there are others."""
        raise NotImplementedError

    @property
    def older(self) -> Older | None:
        """What enter loads, where the cursor stands on that row."""
        return Older(self.until) if self.rows.key == _OLDER else None

    def grown(self, rows: Sequence[Row], came: int, empty: Sequence[Line]) -> None:
        """``rows`` with ``came`` new ones at their end."""
        self._came += came
        if self._held:
            self._waiting = (rows, empty)
            return
        said = line((f"older on disk: enter loads {OLDER_AT_ONCE:,} more", Ink.INFO))
        self.rows.lead = Row(key=_OLDER, cells=(), order=(), whole=said) if self.until else None
        self.fill(rows, empty)
        self._look()

    def hold(self, held: bool) -> None:
        self._held = held
        if not held and self._waiting is not None:
            rows, empty = self._waiting
            self._waiting = None
            self.grown(rows, 0, empty)

    def cursor_moved(self) -> None:
        self._look()
        super().cursor_moved()

    def follow(self) -> None:
        super().follow()
        self._look()

    def trail(self) -> Line:
        if self.snapshot is None:
            return EMPTY
        unseen = self._came - self._seen
        said = f"+{unseen:,} new, f" if unseen else "f follows"
        following = line(
            ("● follow", Ink.OK) if self.rows.follow and not self._held else (said, Ink.WARN if unseen else Ink.DIM)
        )
        return join((super().trail(), following))

    def _look(self) -> None:
        if self.rows.follow and not self._held:
            self._seen = self._came
