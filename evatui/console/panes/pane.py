"""What the app asks of every view."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.containers import Vertical

from evatui.console.view.actions import View
from evatui.console.view.ink import EMPTY, Ink, Line, join, line
from evatui.console.view.table import Column
from evatui.console.view.words import Look
from evatui.console.widgets.lines import Source
from evatui.console.widgets.row_list import RowList
from evatui.control.snapshot import ConsoleSnapshot

if TYPE_CHECKING:
    from evatui.console.view.enabled import Subject

__all__ = ["Opened", "Pane"]


@dataclass(frozen=True, slots=True)
class Opened:
    """The page that ``enter`` shows: its title, its lines, and what is copied from it."""

    title: str
    source: Source
    text: str


class Pane(Vertical):
    """A list and what stands round it."""

    view: View
    columns: tuple[Column, ...]
    noun: str
    """What its rows are."""

    def __init__(self, look: Look) -> None:
        super().__init__(id=self.view.value)
        self.look = look
        self.rows = RowList(self.columns, id=f"{self.view.value}-rows")
        self.snapshot: ConsoleSnapshot | None = None

    def show(self, snapshot: ConsoleSnapshot, elapsed: float) -> None:
        """Paints what changed; ``elapsed`` is the snapshot's age in seconds."""
        raise NotImplementedError

    def subject(self) -> Subject:
        """The thing under the cursor, as the newest snapshot has it."""
        raise NotImplementedError

    def opened(self) -> Opened | None:
        """What there is to read of the selected thing."""
        raise NotImplementedError

    def copied(self) -> str:
        """What ``C`` puts on the clipboard."""
        raise NotImplementedError

    def cursor_moved(self) -> None:
        """The list's cursor stands elsewhere."""

    def select(self, thing: str) -> bool:
        """Puts the cursor on the row of ``thing``, past a filter that hides it; false where there is none."""
        before = self.rows.query_text.text
        if self.rows.move_to(thing):
            return True
        self.rows.filter("")
        if self.rows.move_to(thing):
            return True
        self.rows.filter(before)
        return False

    def goes_on(self, elapsed: float) -> bool:
        """Must it be painted again in a second, though nothing changes: something counts down or fades."""
        return False

    def follow(self) -> None:
        """Stays at the newest row, or stops to."""
        self.rows.set_follow(not self.rows.follow)

    def trail(self) -> Line:
        """How many rows, and through which filter."""
        rows = self.rows
        if self.snapshot is None:
            return EMPTY
        if not rows.query_text:
            return line((f"{rows.total:,} {self.noun}", Ink.DIM))
        return join(
            (line((f"/{rows.query_text.text}/", Ink.KEY)), line((f"{len(rows.shown):,} of {rows.total:,}", Ink.DIM)))
        )
