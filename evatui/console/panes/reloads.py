"""The view Reloads: what was loaded, refused, held, tried out, rolled back and removed, newest last."""

from __future__ import annotations

from collections.abc import Sequence, Set

from evatui.console.panes.pane import Opened
from evatui.console.panes.stream import StreamPane
from evatui.console.view.actions import View
from evatui.console.view.canary import canary_brief, canary_lines, live_canary
from evatui.console.view.empty import EMPTY_RELOADS, NOT_FOUND
from evatui.console.view.ink import Line, plain, wrap
from evatui.console.view.numbers import Numbers
from evatui.console.view.older import Older, past_reloads
from evatui.console.view.reloads import RELOAD_COLUMNS, reload_brief, reload_preview, reload_row
from evatui.console.view.table import Row
from evatui.console.view.timeline import Reload, Timeline
from evatui.console.view.words import Look
from evatui.control.snapshot import AuditRow, ConsoleSnapshot

__all__ = ["ReloadsPane"]


class ReloadsPane(StreamPane):
    view = View.RELOADS
    columns = RELOAD_COLUMNS
    nouns = ("reload", "reloads")
    codes = ("capability", "canary")

    def __init__(self, look: Look, numbers: Numbers) -> None:
        super().__init__(look, numbers)
        self._timeline = Timeline()
        self._past: dict[str, Reload] = {}
        """From records of earlier runs; the events of this one tell more."""
        self._lines: dict[str, Row] = {}
        self._exhausted = False
        self._judged = False
        """Have records been seen that tell whether there are older ones?"""
        self._elapsed = 0.0

    def gather(self, snapshot: ConsoleSnapshot) -> None:
        if not self._judged and snapshot.audit:
            self._judged = True
            self._exhausted = snapshot.audit[0].seq == 1  # the log begins with this run
        self.snapshot = snapshot
        touched = self._timeline.add(snapshot.events)
        if not touched and self._lines:
            return
        self._changed(touched)

    def _changed(self, touched: Set[str]) -> None:
        came = len(touched - self._lines.keys() - self._past.keys())
        self._lines = {
            key: self._line(reload) if key in touched or key not in self._lines else self._lines[key]
            for known in (self._past, self._timeline.reloads)
            for key, reload in known.items()
        }
        self.grown(list(self._lines.values()), came, NOT_FOUND if self._lines else EMPTY_RELOADS)

    def show(self, snapshot: ConsoleSnapshot, elapsed: float) -> None:
        self._elapsed = elapsed
        self.cursor_moved()

    def goes_on(self, elapsed: float) -> bool:
        reload = self._reload()
        return reload is not None and live_canary(self.snapshot, reload.target) is not None

    @property
    def until(self) -> str:
        if self._exhausted or not self._judged or self.snapshot is None:
            return ""
        return next((reload.at for reload in self._past.values()), self.snapshot.runtime.since)

    def add_older(self, rows: Sequence[AuditRow], *, more: bool) -> int:
        until = self.until
        fresh = {one.key: one for one in past_reloads(rows) if one.at <= until and one.key not in self._past}
        self._exhausted = not more or not fresh
        self._past = fresh | self._past
        self._changed(frozenset())
        return len(fresh)

    def _line(self, reload: Reload) -> Row:
        return reload_row(reload, self.numbers.known, self.look)

    def subject(self) -> Reload | Older | None:
        return self.older or self._reload()

    def _reload(self) -> Reload | None:
        key = self.rows.key or ""
        return self._timeline.reloads.get(key) or self._past.get(key)

    def preview_lines(self, width: int) -> list[Line]:
        reload = self._reload()
        if reload is None:
            return []
        canary = live_canary(self.snapshot, reload.target)
        if not self.wide:
            first, second = reload_brief(reload, self.numbers.known, width, self.look)
            return [first, canary_brief(canary, self._elapsed) if canary else second]
        told = (
            [part for row in canary_lines(canary, self._elapsed) for part in wrap(row, width, "  ")] if canary else []
        )
        lines = reload_preview(reload, self.numbers.known, width, self.look)
        return [*lines[:3], *told, *lines[3:]]

    def opened(self) -> Opened | None:
        return None  # its page has to be asked for

    def copied(self) -> str:
        reload = self._reload()
        lines = reload_preview(reload, self.numbers.known, 200, self.look) if reload else ()
        return "\n".join(plain(part) for part in lines)
