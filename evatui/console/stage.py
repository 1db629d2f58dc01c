"""The stage: what the parts of the console share, and all that a key may use to act."""

from __future__ import annotations

import contextlib
import subprocess
import time
from collections.abc import Callable, Coroutine, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.timer import Timer
from textual.worker import Worker, get_current_worker

from evatui.console.frame import Frame
from evatui.console.settings import Settings
from evatui.console.theme import ThemedApp, theme_names
from evatui.console.view.actions import VIEWS, Action, Actions, View
from evatui.console.view.header import Link
from evatui.console.view.ink import EMPTY, Ink, Line, line
from evatui.console.view.numbers import Numbers
from evatui.console.view.words import Look

if TYPE_CHECKING:
    from evatui.console.commands import Commands
    from evatui.console.panes.pane import Pane
    from evatui.console.view.undo import Undo
    from evatui.control.snapshot import ConsoleSnapshot

__all__ = ["GuardChild", "Stage"]

GuardChild = Callable[["subprocess.Popen[bytes]"], AbstractContextManager[object]]
"""Lets the guard know of an editor while it runs."""


class Stage(ThemedApp):
    """Panes in their frame, the snapshot that they show, and the commands that may be sent."""

    def __init__(
        self,
        *,
        readonly: bool,
        look: Look,
        settings: Settings,
        keymap: Mapping[str, str],
        workspace: Path | None,
    ) -> None:
        super().__init__(look, settings.theme if settings.theme in theme_names() else None)
        self.actions = Actions(readonly=readonly, keymap=keymap)
        self.view = settings.view or View.REGISTRY
        self._settings = settings
        self.workspace = workspace
        self.guard_child: GuardChild = contextlib.nullcontext
        self.commands: Commands | None = None
        self.snapshot: ConsoleSnapshot | None = None
        self.panes: dict[View, Pane] = {}
        self.numbers = Numbers()
        self.frame = Frame(self, Link(readonly=readonly))
        self.offered: Undo | None = None
        self._held: ConsoleSnapshot | None = None
        """What the screen shows while it stands still."""
        self._received = 0.0
        self._tick: Timer | None = None
        self._fetches: Worker[None] | None = None
        self._awaits: Line = EMPTY

    def compose(self) -> ComposeResult:
        yield from self.banner()
        yield self.frame.header
        yield self.frame.tabs
        yield Vertical(id="panes")
        yield self.frame.prompt
        yield self.frame.command
        yield self.frame.status
        yield self.frame.footer

    async def set_up(self) -> None:
        """Brings the panes, which the first frame does without: they are imported and mounted after it."""
        from evatui.console.panes import all_panes

        self.panes = {pane.view: pane for pane in all_panes(self.look, self.numbers)}
        await self.query_one("#panes").mount_all(self.panes.values())
        for view, (title, reverse) in self._settings.sorts.items():
            self.panes[view].sort_by(title, reverse=reverse)
        self.show_view(self.view)

    @property
    def settings(self) -> Settings:
        """As they are by now, to begin with the next time."""
        if not self.panes:
            return self._settings
        sorts = {view: sort for view, pane in self.panes.items() if (sort := pane.sorting) is not None}
        return Settings(theme=self.theme, view=self.view, sorts=sorts)

    @property
    def shown(self) -> Pane | None:
        return self.panes.get(self.view)

    @property
    def pane(self) -> Pane:
        """The view that is on. Raises `KeyError` before `set_up`."""
        return self.panes[self.view]

    def show(self, snapshot: ConsoleSnapshot) -> None:
        if self.snapshot is None:
            self.frame.message = EMPTY  # what was said while there was nothing to act on
        elif snapshot.dropped:  # not of the first: what went by before it was nobody's to read
            self.frame.link = replace(self.frame.link, dropped=self.frame.link.dropped + snapshot.dropped)
        self.snapshot = snapshot
        self._received = time.monotonic()
        self.numbers.learn(snapshot)
        for pane in self.panes.values():
            pane.gather(snapshot)
        self._show_pane(0.0)

    def _show_pane(self, elapsed: float) -> None:
        if self.snapshot is None or not self.panes:
            return
        if self._held is not None:
            self.pane.show(self._held, 0.0)
            self.frame.refresh()
            return
        self.pane.show(self.snapshot, elapsed)
        self.ask_for(self.pane)
        self.frame.refresh()
        if self._tick is None and self.pane.goes_on(elapsed):
            self._tick = self.set_timer(1.0, self._ticked)

    def ask_for(self, pane: Pane) -> None:
        """Brings what a view has to ask the runtime for, where that may be another one by now."""
        raise NotImplementedError

    # --- what a dialog waits for ------------------------------------------------------------------

    def fetch(self, work: Coroutine[Any, Any, None], said: str) -> None:
        """Does the ``work`` that ends in a dialog. Keys are that dialog's as soon as it is asked for: until it is there
        they do nothing to the list behind, and esc leaves it."""
        self._awaits = line(("… ", Ink.INFO), f"{said}  ", ("esc", Ink.KEY), (" leaves it", Ink.DIM))
        self.say(self._awaits)
        self._fetches = self.run_worker(self._fetched(work), exit_on_error=False, group="look", exclusive=True)

    async def _fetched(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        finally:
            if self._fetches is get_current_worker():
                self._fetches = None
                if self.frame.message is self._awaits:
                    self.say(EMPTY)

    @property
    def fetches(self) -> bool:
        """Whether a dialog is on its way."""
        return self._fetches is not None

    def leave_fetch(self) -> None:
        if self._fetches is not None:
            self._fetches.cancel()

    def toggle_hold(self) -> bool:
        """Whether the screen stands still from now on; what comes meanwhile is kept."""
        self._held = self.snapshot if self._held is None else None
        held = self._held is not None
        self.frame.link = replace(self.frame.link, held=held)
        for pane in self.panes.values():
            pane.hold(held)
        self._show_pane(time.monotonic() - self._received)
        return held

    def _ticked(self) -> None:
        self._tick = None
        self._show_pane(time.monotonic() - self._received)

    def show_view(self, view: View) -> None:
        if self.frame.prompt.is_open:
            self.frame.close_prompt()
        if self.frame.command.is_open:
            self.frame.close_command()
        self.view = view
        for pane in self.panes.values():
            pane.display = pane.view is view  # as a class it would be looked up in the style sheet, for all in it
        self.pane.rows.focus()
        self.say(EMPTY)
        self._show_pane(time.monotonic() - self._received)

    def why_not(self, action: Action) -> str | None:
        """Why it cannot be done here and now, None where it can."""
        if action.id == "undo" and self.offered is not None:
            return None
        if self.view not in action.views:
            places = ", ".join(f"{VIEWS[view][1]} ({VIEWS[view][0]})" for view in VIEWS if view in action.views)
            return f"works in: {places}"
        return action.enabled(self.snapshot, self.pane.subject())

    def told(self, action_id: str) -> Line:
        """What an action does, or why it cannot; nothing of what is none."""
        action = self.actions.find(action_id)
        if action is None:
            return EMPTY
        why_not = self.why_not(action)
        return line((why_not or action.help, Ink.WARN if why_not else Ink.PLAIN))

    @property
    def whereabouts(self) -> str:
        return VIEWS[self.view][1]

    def things(self) -> tuple[str, ...]:
        """What can be named: capabilities, and what is refused or waits under another name."""
        if self.snapshot is None:
            return ()
        snapshot = self.snapshot
        names = (*(row.id for row in snapshot.capabilities), *(row.key for row in snapshot.rejections))
        return tuple(dict.fromkeys((*names, *(row.key for row in snapshot.held))))

    def select(self, thing: str, action: Action | None = None) -> bool:
        """Puts the cursor on its row, in the view that is on or else where it has one; false where it has none.

        With an ``action``, rather where that can be done to it.
        """
        here = [view for view in dict.fromkeys((self.view, *VIEWS)) if self.panes[view].select(thing)]
        if not here:
            return False
        fit = (view for view in here if action is None or self._fits(action, view))
        if (view := next(fit, here[0])) is not self.view:
            self.show_view(view)
        self.say(EMPTY)
        return True

    def _fits(self, action: Action, view: View) -> bool:
        return view in action.views and not action.enabled(self.snapshot, self.panes[view].subject())

    def refuse_changes(self) -> None:
        """From now on its operator is read-only."""
        raise NotImplementedError

    def say(self, message: Line, undo: Undo | None = None) -> None:
        """On the status line, until the cursor is moved; an empty one brings back the selected thing.

        As long as it stands there, ``undo`` is what ``z`` does.
        """
        self.frame.message, self.offered = message, undo
        self.frame.refresh()
