"""The view In-flight: every call that runs or waits in line, the oldest first."""

from __future__ import annotations

from evatui.console.panes.pane import Opened, Pane
from evatui.console.view.actions import View
from evatui.console.view.empty import EMPTY_IN_FLIGHT, NOT_FOUND
from evatui.console.view.in_flight import CALL_COLUMNS, call_preview, call_rows
from evatui.console.view.ink import Line, plain
from evatui.control.snapshot import CallRow, ConsoleSnapshot

__all__ = ["InFlightPane"]


class InFlightPane(Pane):
    view = View.IN_FLIGHT
    columns = CALL_COLUMNS
    nouns = ("call in flight", "calls in flight")
    _elapsed = 0.0

    def show(self, snapshot: ConsoleSnapshot, elapsed: float) -> None:
        self.snapshot, self._elapsed = snapshot, elapsed
        rows = call_rows(snapshot, self.look, elapsed)
        self.fill(rows, NOT_FOUND if rows else EMPTY_IN_FLIGHT)
        self.cursor_moved()

    def goes_on(self, elapsed: float) -> bool:
        return self.snapshot is not None and bool(self.snapshot.calls)

    def subject(self) -> CallRow | None:
        calls = self.snapshot.calls if self.snapshot is not None else ()
        return next((call for call in calls if call.request_id == self.rows.key), None)

    def preview_lines(self, width: int) -> list[Line]:
        return self._told(width) if self.wide else self._told(width)[2:4]

    def _told(self, width: int) -> list[Line]:
        call = self.subject()
        if call is None or self.snapshot is None:
            return []
        return call_preview(call, self.snapshot, width, self.look, self._elapsed)

    def opened(self) -> Opened | None:
        call, snapshot = self.subject(), self.snapshot
        if call is None or snapshot is None:
            return None
        look, elapsed = self.look, self._elapsed
        return Opened(
            f"Call {call.request_id}",
            lambda width: call_preview(call, snapshot, width, look, elapsed),
            self.copied(),
        )

    def copied(self) -> str:
        return "\n".join(plain(part) for part in self._told(200))
