"""Actions on a list and its rows: open one, and bring what lies on disk before them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from evatui.console.panes.pane import Pane
from evatui.console.panes.stream import StreamPane
from evatui.console.view.action import View
from evatui.console.view.ink import EMPTY, Ink, line
from evatui.console.view.older import OLDER_AT_ONCE, Older
from evatui.console.view.related import Jump, jumps
from evatui.console.view.table import Column, Level, Row
from evatui.console.view.timeline import Reload
from evatui.control.audit_rows import audit_row
from evatui.control.extensions import SkillRow
from evatui.kernel.model.text import clean

if TYPE_CHECKING:
    from evatui.console.comparing import Comparing
    from evatui.console.stage import Stage

__all__ = ["Listing"]

_LEVELS = {
    Level.DETAIL: "everything",
    Level.INFO: "all but details",
    Level.WARN: "warnings and errors",
    Level.ERROR: "errors",
}

# Dialogs are imported when they are first opened: the first frame does not wait for them.


class Listing:
    def __init__(self, app: Stage, comparing: Comparing, act: Callable[[str, str], None]) -> None:
        self._app = app
        self._act = act
        self._comparing = comparing
        self.handlers: dict[str, Callable[[], None]] = {
            "open": self._open,
            "related": self._related,
            "mark": self._mark,
            "mark.shown": self._mark_shown,
            "unmark": self._unmark,
            "level": self._level,
        }

    def _open(self) -> None:
        from evatui.console.screens.page import Page

        pane = self._app.pane
        if isinstance(pane, StreamPane) and pane.older is not None:
            self._app.say(line(("… ", Ink.INFO), "reading the disk"))
            self._app.run_worker(self._load_older(pane, pane.older), exit_on_error=False, group="look", exclusive=True)
            return
        subject = pane.subject()
        if isinstance(subject, Reload):
            self._comparing.open_reload(subject)
            return
        if isinstance(subject, SkillRow):
            self._app.fetch(self._read_skill(subject), "reading the skill")
            return
        if pane.view is View.DEVICES:
            self._watch(pane)
            return
        opened = pane.opened()
        if opened is not None:
            self._app.push_screen(Page(opened.title, opened.source, opened.text))

    def _watch(self, pane: Pane) -> None:
        from evatui.console.panes.devices import DevicesPane
        from evatui.console.screens.device import DeviceScreen

        assert isinstance(pane, DevicesPane)  # it is the view
        assert self._app.commands is not None  # there is a snapshot
        device = pane.subject()
        if device is not None:
            self._app.push_screen(DeviceScreen(device, pane.known, self._app.commands.run))

    async def _read_skill(self, row: SkillRow) -> None:
        from evatui.console.screens.page import Page
        from evatui.console.view.skill_text import skill_text

        assert self._app.commands is not None  # there is a snapshot
        sent = await self._app.commands.run("skill.show", name=row.name)
        if sent.data is not None:
            body = str(sent.data["body"])
            text = clean(body, len(body) + 1)
            self._app.push_screen(Page(f"{row.name}   {sent.line}", lambda width: skill_text(row, body, width), text))

    def _related(self) -> None:
        from evatui.console.screens.choose import Choose

        app = self._app
        assert app.snapshot is not None  # something is selected
        found = jumps(app.pane.subject(), app.snapshot, app.numbers.known, app.view)
        if not found:
            app.say(line(("related: ", Ink.WARN), "nothing else is known of it"))
            return
        rows = [
            Row(key=str(place), cells=(line((str(place), Ink.KEY)), line(jump.label)), order=())
            for place, jump in enumerate(found, 1)
        ]
        keys = {str(place): str(place) for place in range(1, min(len(found), 9) + 1)}
        columns = (Column(title="KEY", width=3), Column(title="WHERE TO", width=20, flex=1))

        def chosen(key: str | None) -> None:
            if key is not None:
                self._go(found[int(key) - 1])

        app.push_screen(Choose("Related", columns, rows, shortcuts=keys), chosen)

    def _go(self, jump: Jump) -> None:
        app = self._app
        self._act(f"view.{jump.view.value}", "")
        if jump.thing:
            app.pane.select(jump.thing)
            app.say(EMPTY)
        else:
            app.pane.rows.show_from(Level.DETAIL)
            app.pane.rows.filter(jump.words)
            back = (("-", Ink.KEY), " goes back, ", ("esc", Ink.KEY), " shows all")
            app.say(line((jump.what, Ink.STRONG), f": {len(app.pane.found):,} rows; ", *back))

    def _mark(self) -> None:
        self._app.pane.rows.mark_here()
        self._app.say(EMPTY)

    def _mark_shown(self) -> None:
        self._app.pane.rows.mark_shown()
        self._app.say(EMPTY)

    def _unmark(self) -> None:
        self._app.pane.rows.mark(frozenset())
        self._app.say(EMPTY)

    def _level(self) -> None:
        rows = self._app.pane.rows
        level = Level((rows.level + 1) % len(Level))
        rows.show_from(level)
        self._app.say(line("shows ", (_LEVELS[level], Ink.KEY)))

    async def _load_older(self, pane: StreamPane, older: Older) -> None:
        assert self._app.commands is not None  # enabled only where there is a snapshot
        records: list[Mapping[str, Any]] = []
        more = False
        for code in pane.codes or ("",):
            wanted: dict[str, Any] = {"until": older.until, "limit": OLDER_AT_ONCE} | ({"code": code} if code else {})
            sent = await self._app.commands.run("audit.query", **wanted)
            if sent.data is None:
                return
            records += sent.data["records"]
            more |= bool(sent.data.get("more"))
        rows = await asyncio.to_thread(lambda: sorted(map(audit_row, records), key=lambda row: row.seq))
        found = pane.add_older(rows, more=more)
        rest = "" if pane.until else ", and that is all that is kept"
        self._app.say(line(("✓ ", Ink.OK), f"{found:,} older from disk{rest}"))
        self._app.frame.refresh()
