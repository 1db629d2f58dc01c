"""Why something is as it is, and what was done in this session."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from evatui.console.view.ink import Ink, line, plain, wrapped
from evatui.console.view.session import Session
from evatui.console.view.story import story_lines
from evatui.control.snapshot import AuditRow

if TYPE_CHECKING:
    from evatui.console.screens.session import Picked
    from evatui.console.stage import Stage
    from evatui.console.view.sent import Sent

__all__ = ["Telling"]


class Telling:
    def __init__(self, app: Stage, act: Callable[[str, str], None]) -> None:
        self._app = app
        self._act = act
        self._session = Session()
        self.handlers: dict[str, Callable[[], None]] = {"why": self._why, "session": self._open}
        self.worded: dict[str, Callable[[str], None]] = {"why": self.why}

    # --- why --------------------------------------------------------------------------------------

    def _why(self) -> None:
        if wanted := about(self._app.pane.subject()):
            self.why(wanted)

    def why(self, wanted: str) -> None:
        """The story of a capability, a generation or a request."""
        self._app.fetch(self._tell(wanted), "looking up the records")

    async def _tell(self, wanted: str) -> None:
        from evatui.console.screens.page import Page

        assert self._app.commands is not None  # enabled only where there is a snapshot
        sent = await self._app.commands.run("why", what=wanted)
        if sent.data is not None:
            lines = story_lines(sent.data, self._app.look)
            text = "\n".join(plain(row) for row in lines)
            self._app.push_screen(Page(f"Why {wanted}", wrapped([*lines, (), line((sent.line, Ink.DIM))]), text))

    # --- the session ------------------------------------------------------------------------------

    def note(self, sent: Sent) -> None:
        self._session.add(sent, dt.datetime.now(dt.UTC).isoformat())
        self._refresh()

    def learn(self, rows: Iterable[AuditRow]) -> None:
        self._session.learn(rows)
        self._refresh()

    def _refresh(self) -> None:
        from evatui.console.screens.session import SessionLog

        if isinstance(self._app.screen, SessionLog):
            self._app.screen.refresh_rows()

    def _open(self) -> None:
        from evatui.console.screens.session import SessionLog

        self._app.push_screen(SessionLog("Session: what was ordered and called", self._session), self._picked)

    def _picked(self, picked: Picked | None) -> None:
        done = self._session.find(picked.request_id) if picked is not None else None
        if picked is None or done is None:
            return
        if picked.what == "why":
            self.why(done.request_id)
        elif picked.what == "copy":
            self._app.copy(done.command, done.command)
        elif done.undo is not None:
            self._app.offered = None
            self._act(done.undo.action, done.undo.thing)
        else:
            self._app.say(line(("nothing to undo: ", Ink.WARN), f"{done.what} {done.target}".rstrip()))


def about(subject: object) -> str:
    """What ``why`` asks about: the request of a record or a call, else the capability."""
    request = getattr(subject, "request_id", "")
    return str(request or getattr(subject, "id", None) or getattr(subject, "capability_id", None) or "")
