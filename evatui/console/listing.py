"""Actions on a list and its rows: open one, and bring what lies on disk before them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from evatui.console.panes.stream import StreamPane
from evatui.console.view.ink import Ink, line
from evatui.console.view.older import OLDER_AT_ONCE, Older
from evatui.console.view.timeline import Reload
from evatui.control.audit_rows import audit_row

if TYPE_CHECKING:
    from evatui.console.comparing import Comparing
    from evatui.console.stage import Stage

__all__ = ["Listing"]

# Dialogs are imported when they are first opened: the first frame does not wait for them.


class Listing:
    def __init__(self, app: Stage, comparing: Comparing) -> None:
        self._app = app
        self._comparing = comparing
        self.handlers: dict[str, Callable[[], None]] = {
            "open": self._open,
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
        opened = pane.opened()
        if opened is not None:
            self._app.push_screen(Page(opened.title, opened.source, opened.text))

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
