"""What stands round every view: header, tabs, status line and footer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from evatui.console.view.actions import VIEWS, Actions, View
from evatui.console.view.foot import footer, keys_line
from evatui.console.view.header import Link, header, tabs
from evatui.console.view.ink import EMPTY, Line, fit, line, wrap
from evatui.console.view.words import Look
from evatui.console.widgets.command import CommandLine
from evatui.console.widgets.lines import Lines
from evatui.console.widgets.prompt import Prompt

if TYPE_CHECKING:
    from textual.screen import Screen

    from evatui.console.panes.pane import Pane
    from evatui.control.snapshot import ConsoleSnapshot

__all__ = ["Frame", "Scene"]

_MOST = 3
"""Lines of what is said on the status line; the sentence of the selected thing has one."""


_TYPING = (("tab", "completes"), ("enter", "does it"), ("↑ ↓", "typed before"), ("esc", "back"))
_FILTERING = (("enter", "keeps it"), ("esc", "shows all"))


class Scene(Protocol):
    """What the frame is drawn from."""

    look: Look
    actions: Actions
    view: View
    snapshot: ConsoleSnapshot | None

    @property
    def pane(self) -> Pane: ...

    @property
    def screen(self) -> Screen[object]: ...

    @property
    def shown(self) -> Pane | None:
        """The same, None before there are panes."""
        ...


class Frame:
    """``link`` is how the console stands to the runtime; set it and `refresh`."""

    def __init__(self, scene: Scene, link: Link) -> None:
        self._scene = scene
        self.link = link
        self.message: Line = EMPTY
        """On the status line instead of the selected thing, until the cursor is moved."""
        self.header = Lines(lambda width: (header(scene.snapshot, self.link, width, scene.look),), id="header")
        self.tabs = Lines(self._tabs, id="tabs")
        self.prompt = Prompt(id="prompt")
        self.command = CommandLine(id="command")
        self.status = Lines(self._status, id="status")
        self.footer = Lines(self._footer, id="footer")

    def open_command(self) -> None:
        self.command.open()
        self.refresh()

    def open_prompt(self) -> None:
        """With the filter that is on, to be changed."""
        self.prompt.value = self._scene.pane.rows.query_text.text
        self.prompt.add_class("-shown")
        self._scene.screen.set_focus(self.prompt)  # at once: the next key may be on its way already
        self.refresh()

    def close_prompt(self) -> None:
        self.prompt.remove_class("-shown")
        self._scene.pane.rows.filter(self.prompt.value)
        self._scene.screen.set_focus(self._scene.pane.rows)
        self.refresh()

    @property
    def types(self) -> bool:
        """Whether keys go to one of the two lines."""
        return self.prompt.is_open or self.command.is_open

    def close_command(self) -> None:
        self.command.close()
        self._scene.screen.set_focus(self._scene.pane.rows)

    def refresh(self) -> None:
        """All four, as far as they differ."""
        for part in (self.header, self.tabs, self.status, self.footer):
            part.ask_again()

    def _tabs(self, width: int) -> tuple[Line, ...]:
        snapshot = self._scene.snapshot
        badges = (
            {View.REJECTED: len(snapshot.rejections) + len(snapshot.held), View.IN_FLIGHT: len(snapshot.calls)}
            if snapshot
            else {}
        )
        views = [(key, title, badges.get(view, 0)) for view, (key, title) in VIEWS.items()]
        shown = self._scene.shown
        return (tabs(views, VIEWS[self._scene.view][1], shown.trail() if shown else EMPTY, width),)

    def _status(self, width: int) -> tuple[Line, ...]:
        if self.message:
            rows = wrap(self.message, width)
            return (*rows[: _MOST - 1], fit(line(*rows[_MOST - 1], "  …"), width)) if len(rows) > _MOST else tuple(rows)
        shown = self._scene.shown
        if shown is None:
            return (fit(EMPTY, width),)
        from evatui.console.view.sentence import sentence

        return (sentence(shown.subject(), self._scene.look, width),)

    def _footer(self, width: int) -> tuple[Line, ...]:
        scene = self._scene
        if self.types:
            return (keys_line(_TYPING if self.command.is_open else _FILTERING),)
        return (
            footer(scene.actions, scene.view, scene.snapshot, scene.shown.subject() if scene.shown else None, width),
        )
