"""Actions that change nothing: describe, copy, edit, help, leave."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from textual.app import SuspendNotSupported

from evatui.console.view.answer import described
from evatui.console.view.editor import Editable, editor_argv, place_of
from evatui.console.view.foot import menu_line
from evatui.console.view.ink import EMPTY, Ink, line, wrapped
from evatui.console.view.leaving import what_stops
from evatui.console.view.older import Older
from evatui.console.view.payload import pretty
from evatui.console.view.table import Column, Row
from evatui.control.commands import Danger
from evatui.control.opening import workspace_root
from evatui.control.snapshot import AuditRow, CallRow

if TYPE_CHECKING:
    from evatui.console.stage import Stage

__all__ = ["Reading"]

# Dialogs are imported when they are first opened: the first frame does not wait for them.


class Reading:
    def __init__(self, app: Stage, act: Callable[[str, str], None]) -> None:
        self._app = app
        self._act = act
        self.handlers: dict[str, Callable[[], None]] = {
            "menu": self._menu,
            "describe": self._describe,
            "edit": self._edit,
            "leave": self._leave,
        }

    def _menu(self) -> None:
        """What can be done to it, then to the whole, and after that what cannot be done, and why."""
        from evatui.console.screens.choose import Choose

        app = self._app
        subject = app.pane.subject()
        rows: list[Row] = []
        shortcuts: dict[str, str] = {}
        for action in sorted(app.actions.menu(), key=lambda action: (app.why_not(action) is not None, action.whole)):
            rows.append(Row(key=action.id, cells=tuple(menu_line(action, app.why_not(action))), order=()))
            if action.key and (app.view in action.views or not set(action.key.split(",")) & shortcuts.keys()):
                shortcuts |= dict.fromkeys(action.key.split(","), action.id)
        columns = (Column(title="KEY", width=3), Column(title="ACTION", width=10), Column(title="", width=20, flex=1))
        dialog = Choose(f"Actions on {_name(subject)}", columns, rows, shortcuts=shortcuts, told=app.told)
        app.push_screen(dialog, lambda chosen: self._act(chosen, "") if chosen else None)

    def _describe(self) -> None:
        subject = self._app.pane.subject()
        known = subject.capability_id if isinstance(subject, AuditRow) else getattr(subject, "id", None)
        if known is not None:
            self._app.fetch(self._inspect(known), "looking it up")

    async def _inspect(self, capability_id: str) -> None:
        from evatui.console.screens.page import Page

        assert self._app.commands is not None  # enabled only where there is a snapshot
        sent = await self._app.commands.run("capability.inspect", id=capability_id)
        if sent.data is not None:
            data = sent.data
            lines = [*described(data), EMPTY, line((sent.line, Ink.DIM))]
            self._app.push_screen(Page(capability_id, wrapped(lines), pretty(data)))

    def _leave(self) -> None:
        app = self._app
        lines = what_stops(app.snapshot)
        if not lines:
            app.exit()
            return
        from evatui.console.screens.confirm import Confirm

        dialog = Confirm("Leave?", lambda width: lines, "leave", Danger.PLAN, keep="stay")
        app.push_screen(dialog, lambda sure: app.exit() if sure else None)

    def _edit(self) -> None:
        subject = self._app.pane.subject()
        place = place_of(subject) if isinstance(subject, Editable) else None
        file = workspace_root(self._app.workspace) / place[0] if place else None
        editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
        try:
            words = shlex.split(editor)
        except ValueError:
            words = []
        if place is None or file is None or not file.is_file() or not words:
            missing = "EDITOR cannot be read" if not words else "the file is not on this machine"
            self._app.say(line(("✗ ", Ink.BAD), missing))
            return
        self._run_editor(editor_argv(words, str(file), place[1]))

    def _run_editor(self, argv: list[str]) -> None:
        app = self._app
        try:
            with app.suspend():
                started = self._waited_for(argv)
        except SuspendNotSupported:
            started = False
        if started:
            app.say(line(("✓ ", Ink.OK), "back from the editor; saved files are read by themselves"))
        else:
            app.say(line(("✗ ", Ink.BAD), f"{argv[0]} cannot be started here; EDITOR names another one"))

    def _waited_for(self, argv: list[str]) -> bool:
        """Whether it could be started. Raises nothing: Textual would stay suspended, before a blank screen."""
        try:
            # The standard streams are not the terminal while the screen is on.
            screen = sys.__stderr__
            environment = _environment(no_color=self._app.no_color)
            child = subprocess.Popen(argv, env=environment, stdout=screen, stderr=screen)
        except (OSError, ValueError):
            return False
        with self._app.guard_child(child):
            child.wait()
        return True


def _environment(*, no_color: bool) -> dict[str, str]:
    """Textual takes NO_COLOR out of the environment; what is started from here should know of it."""
    return {**os.environ, "NO_COLOR": "1"} if no_color else dict(os.environ)


def _name(subject: object) -> str:
    if isinstance(subject, AuditRow):
        return f"record {subject.seq}"
    if isinstance(subject, CallRow):
        return f"the call of {subject.capability_id or 'a name that nothing answers'}"
    if isinstance(subject, Older):
        return "older records"
    names = (getattr(subject, part, None) for part in ("id", "label", "key", "name", "path"))
    return next((str(name) for name in names if name), "nothing")
