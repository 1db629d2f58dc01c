"""What is typed: ``:`` with its line, ``?`` and the palette. Each ends in an action, or says why in none."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from evatui.console.theme import theme_names
from evatui.console.view.action import VIEWS
from evatui.console.view.foot import ACTION_COLUMNS, GO_TO, action_rows, thing_rows
from evatui.console.view.ink import EMPTY, Ink, line
from evatui.console.view.table import Row
from evatui.console.view.typed import candidates, completed, hint, understood

if TYPE_CHECKING:
    from evatui.console.stage import Stage

__all__ = ["Commanding"]


class Commanding:
    """``act`` is what an action comes to, the same as its key; the second argument is what was typed after it."""

    def __init__(self, app: Stage, act: Callable[[str, str], None]) -> None:
        self._app = app
        self._act = act
        self._base = ""
        """What was typed by hand; tab goes through what this can become."""
        self._put = ""
        self.handlers: dict[str, Callable[[], None]] = {
            "command": self._open,
            "help": self._help,
            "palette": self._palette,
        }

    # --- the line ---------------------------------------------------------------------------------

    def _open(self) -> None:
        self._base = self._put = ""
        self._app.frame.open_command()
        self.changed("")

    def changed(self, text: str) -> None:
        if text != self._put:
            self._base = text
        self._app.say(line(" ", *hint(text, self._candidates(self._base), self._app.actions)))

    def complete(self, step: int) -> None:
        command = self._app.frame.command
        self._put = completed(command.value, self._candidates(self._base), step)
        command.put(self._put)

    def _candidates(self, text: str) -> tuple[str, ...]:
        return candidates(text, self._app.actions, self._app.things(), theme_names())

    def close(self) -> None:
        self._app.frame.close_command()
        self._app.say(EMPTY)

    def entered(self, text: str) -> None:
        """Enter: the row that is named is selected, then the action is done to it."""
        self._app.frame.command.remember(text)
        self.close()
        typed = understood(text, self._app.actions)
        if isinstance(typed, str):
            if text.strip():
                self._app.say(line(("✗ ", Ink.BAD), typed))
            return
        self._act(typed.action.id, typed.argument)

    # --- the lists --------------------------------------------------------------------------------

    def _help(self) -> None:
        rows = action_rows(self._app.actions.all, self._app.why_not)
        self._find(f"Keys and commands, in {VIEWS[self._app.view][1]}", rows)

    def _palette(self) -> None:
        """What can be done now, then where one can go."""
        app = self._app
        possible = [one for one in app.actions.all if one.group != "Moving" and not app.why_not(one)]
        self._find("Palette", [*action_rows(possible, lambda _: None), *thing_rows(app.things())])

    def _find(self, title: str, rows: list[Row]) -> None:
        from evatui.console.screens.finder import Finder

        self._app.push_screen(Finder(title, ACTION_COLUMNS, rows, self._app.told), self._chosen)

    def _chosen(self, key: str | None) -> None:
        if key is None:
            return
        if key.startswith(GO_TO):
            self._app.select(key.removeprefix(GO_TO))
        else:
            self._act(key, "")
