"""The view Registry: the state machine with its generations, the capabilities, and the selected one."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable

from textual.widget import Widget

from evatui.console.panes.pane import Opened, Pane
from evatui.console.view.actions import View
from evatui.console.view.detail import brief, last_transition, path_of, preview
from evatui.console.view.empty import empty_registry
from evatui.console.view.ink import EMPTY, Line, line, plain
from evatui.console.view.machine import Edge, draw
from evatui.console.view.numbers import Numbers
from evatui.console.view.rows import REGISTRY_COLUMNS, RegistryRows, counts_down
from evatui.console.view.trend import Trends, trend_lines
from evatui.console.view.words import Look
from evatui.console.widgets.lines import Lines
from evatui.control.snapshot import CallRow, CapabilityRow, ConsoleSnapshot

__all__ = ["LIT_S", "RegistryPane", "lit_edges"]

LIT_S = 3.0
"""How long a transition lights its edge."""


def lit_edges(snapshot: ConsoleSnapshot, elapsed: float) -> frozenset[Edge]:
    """The edges that were taken in the last seconds, by the clock of the runtime."""
    now = dt.datetime.fromisoformat(snapshot.at) + dt.timedelta(seconds=elapsed)
    since = now - dt.timedelta(seconds=LIT_S)
    return frozenset(
        (step.old, step.new)
        for step in snapshot.transitions
        if step.old is not None and dt.datetime.fromisoformat(step.at) > since
    )


class RegistryPane(Pane):
    view = View.REGISTRY
    columns = REGISTRY_COLUMNS
    nouns = ("capability", "capabilities")

    def __init__(self, look: Look, numbers: Numbers) -> None:
        super().__init__(look, numbers)
        self._trends = Trends()
        self._made = RegistryRows(look)

    def gather(self, snapshot: ConsoleSnapshot) -> None:
        self._trends.learn(snapshot.at, snapshot.capabilities, snapshot.audit)

    def above(self) -> Iterable[Widget]:
        self._machine = Lines(self._machine_lines, classes="machine")
        self._note = Lines(self._note_lines, classes="note")
        self._elapsed = 0.0
        return (self._machine, self._note)

    def show(self, snapshot: ConsoleSnapshot, elapsed: float) -> None:
        self.snapshot, self._elapsed = snapshot, elapsed
        self.fill(self._made.of(snapshot, elapsed), empty_registry(snapshot))
        self._machine.show(self._machine_lines)
        self.cursor_moved()

    def cursor_moved(self) -> None:
        self._note.show(self._note_lines)
        super().cursor_moved()

    def goes_on(self, elapsed: float) -> bool:
        snapshot = self.snapshot
        return snapshot is not None and (counts_down(snapshot) or bool(lit_edges(snapshot, elapsed)))

    def subject(self) -> CapabilityRow | None:
        if self.snapshot is None:
            return None
        return next((row for row in self.snapshot.capabilities if row.id == self.rows.key), None)

    def opened(self) -> Opened | None:
        row = self.subject()
        if row is None:
            return None
        elapsed, calls, trend = self._elapsed, self._calls(row), trend_lines(row, self._trends)
        text = "\n".join(plain(part) for part in preview(row, 100, self.look, elapsed, calls, trend))
        return Opened(row.id, lambda width: preview(row, width, self.look, elapsed, calls, trend), text)

    def copied(self) -> str:
        return self.rows.key or ""

    def _machine_lines(self, width: int) -> tuple[Line, ...]:
        if self.snapshot is None:
            return draw({}, (), width, self.look)
        return draw(self.snapshot.counts, lit_edges(self.snapshot, self._elapsed), width, self.look)

    def _note_lines(self, width: int) -> tuple[Line, ...]:
        if self.snapshot is None:
            return (EMPTY,)
        row = self.subject()
        newest = self.snapshot.transitions[-1] if self.snapshot.transitions else None
        own = row is not None and newest is not None and newest.id != row.id and row.trail
        shown = path_of(row, self.look) if own and row else last_transition(self.snapshot, self.look)
        return (line(" ", *shown),)

    def preview_lines(self, width: int) -> list[Line]:
        row = self.subject()
        if row is None:
            return [EMPTY, EMPTY]
        if self.wide:
            return preview(row, width, self.look, self._elapsed, self._calls(row), trend_lines(row, self._trends))
        return brief(row, width, self.look, self._elapsed, self._calls(row))

    def _calls(self, row: CapabilityRow) -> list[CallRow]:
        calls = self.snapshot.calls if self.snapshot is not None else ()
        return [call for call in calls if call.capability_id == row.id]
