"""The console itself: its theme, and that it only looks from now on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from evatui.console.theme import theme_names
from evatui.console.view.actions import Actions
from evatui.console.view.ink import Ink, line

if TYPE_CHECKING:
    from evatui.console.stage import Stage

__all__ = ["Settling"]

_SHORT = {"dark": "evatui-dark", "light": "evatui-light"}


class Settling:
    def __init__(self, app: Stage) -> None:
        self._app = app
        self.handlers: dict[str, Callable[[], None]] = {"theme": self._next_theme, "readonly": self._readonly}
        self.worded: dict[str, Callable[[str], None]] = {"theme": self._named_theme}

    def _next_theme(self) -> None:
        names = theme_names()
        self._wear(names[(names.index(self._app.theme) + 1) % len(names)])

    def _named_theme(self, name: str) -> None:
        wanted = _SHORT.get(name, name)
        if wanted in theme_names():
            self._wear(wanted)
        else:
            self._app.say(line(("✗ ", Ink.BAD), f"no theme {name}; tab shows what there is"))

    def _wear(self, name: str) -> None:
        self._app.theme = name
        self._app.say(line(("✓ ", Ink.OK), f"theme {name}"))

    def _readonly(self) -> None:
        """One way: what changes or calls is gone from every list, and the operator refuses it as well."""
        app = self._app
        app.actions = Actions(readonly=True, keymap=app.actions.keymap)
        app.refuse_changes()
        app.frame.link = replace(app.frame.link, readonly=True)
        app.say(line(("READ-ONLY ", Ink.WARN), "from now on this console only looks"))
