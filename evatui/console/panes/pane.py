"""What the app asks of every view."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.widget import Widget

from evatui.console.view.actions import View
from evatui.console.view.ink import EMPTY, Ink, Line, join, line
from evatui.console.view.numbers import Numbers
from evatui.console.view.table import Column, Level, Row
from evatui.console.view.words import Look
from evatui.console.widgets.lines import Lines, Source
from evatui.console.widgets.row_list import RowList
from evatui.control.snapshot import ConsoleSnapshot

if TYPE_CHECKING:
    from evatui.console.view.enabled import Subject

__all__ = ["WIDE", "Opened", "Pane"]

WIDE = 118
"""Columns of a screen from which on the preview stands beside the list."""


@dataclass(frozen=True, slots=True)
class Opened:
    """The page that ``enter`` shows: its title, its lines, and what is copied from it."""

    title: str
    source: Source
    text: str


class Pane(Vertical):
    """A list, the preview of the selected thing beside or beneath it, and what stands above both."""

    view: View
    columns: tuple[Column, ...]
    nouns: tuple[str, str]
    """What one of its rows is, and what several are."""

    def __init__(self, look: Look, numbers: Numbers) -> None:
        super().__init__(id=self.view.value)
        self.display = False
        self.look = look
        self.numbers = numbers
        self.rows = RowList(self.columns, id=f"{self.view.value}-rows")
        self.preview = Lines(self.preview_lines, classes="preview")
        self.snapshot: ConsoleSnapshot | None = None

    def compose(self) -> ComposeResult:
        yield from self.above()
        with Horizontal(classes="body"):
            yield self.rows
            yield self.preview

    def above(self) -> Iterable[Widget]:
        return ()

    def gather(self, snapshot: ConsoleSnapshot) -> None:
        """Keeps what the next snapshot will not hold; also while another view is on."""

    def hold(self, held: bool) -> None:
        """Nothing of it moves until it is let go again."""

    def show(self, snapshot: ConsoleSnapshot, elapsed: float) -> None:
        """Paints what changed; ``elapsed`` is the snapshot's age in seconds."""
        raise NotImplementedError

    def fill(self, rows: Sequence[Row], empty: Sequence[Line]) -> None:
        """The rows of the list, or what stands there where there are none."""
        self.rows.set_rows(rows, empty)
        self.set_class(not rows, "-empty")

    def subject(self) -> Subject:
        """The thing under the cursor, as the newest snapshot has it."""
        raise NotImplementedError

    def opened(self) -> Opened | None:
        """What there is to read of the selected thing."""
        raise NotImplementedError

    def copied(self) -> str:
        """What ``C`` puts on the clipboard."""
        raise NotImplementedError

    def preview_lines(self, width: int) -> list[Line]:
        """The selected thing, the most important first: a short screen has room for two lines."""
        return []

    @property
    def wide(self) -> bool:
        """Does the preview stand beside the list, with room for all of it?"""
        return self.app.size.width >= WIDE

    @property
    def found(self) -> Sequence[Row]:
        """The rows that pass the filter."""
        return self.rows.shown[1:] if self.rows.lead is not None else self.rows.shown

    @property
    def sorting(self) -> tuple[str, bool] | None:
        """The title of the column that the list is sorted by, and whether it is turned round."""
        rows = self.rows
        return (self.columns[rows.sorted_by].title, rows.reverse) if rows.sorted_by is not None else None

    def sort_by(self, title: str, *, reverse: bool) -> None:
        """A column that is not there any more sorts nothing."""
        for index, column in enumerate(self.columns):
            if column.title == title:
                self.rows.sort(index, reverse=reverse)

    def exported(self) -> Sequence[Mapping[str, Any]]:
        """The records that are shown, in their order, of a view that has any."""
        return ()

    def cursor_moved(self) -> None:
        """The list's cursor stands elsewhere."""
        self.preview.show(self.preview_lines)

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
        """How many rows, through which filter, from which level on, and how many are marked."""
        rows = self.rows
        if self.snapshot is None:
            return EMPTY
        filtered = bool(rows.query_text) or rows.level > Level.DETAIL
        shown, noun = len(self.found), self.nouns[rows.total != 1]
        return join(
            (
                line((f"/{rows.query_text.text}/", Ink.KEY)) if rows.query_text else EMPTY,
                line((f"≥ {rows.level.name.lower()}", Ink.KEY)) if rows.level > Level.DETAIL else EMPTY,
                line((f"{len(rows.marks):,} marked", Ink.KEY)) if rows.marks else EMPTY,
                line((f"{shown:,} of {rows.total:,}" if filtered else f"{rows.total:,} {noun}", Ink.DIM)),
            )
        )
