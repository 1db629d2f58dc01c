"""From the id of an action to what it does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from evatui.console.view.actions import VIEWS, View
from evatui.console.view.ink import EMPTY, Ink, line

if TYPE_CHECKING:
    from evatui.console.commanding import Commanding
    from evatui.console.exporting import Exporting
    from evatui.console.settling import Settling
    from evatui.console.stage import Stage
    from evatui.console.telling import Telling
    from evatui.console.view.actions import Action

__all__ = ["Dispatch"]


class Dispatch:
    """Moving, finding and switching views here; reading and changing in rooms of their own.

    ``act`` is what a chosen entry of a menu comes to: the same as its key.
    """

    def __init__(self, app: Stage, act: Callable[[str, str], None]) -> None:
        self._app = app
        self._act = act
        self._before = app.view
        self._own: dict[str, Callable[[], None]] = {
            **{f"view.{view.value}": self._view(view) for view in VIEWS},
            "view.last": self._last_view,
            "zoom": self._zoom,
            "move.down": self._moving(lambda: app.pane.rows.move(1)),
            "move.up": self._moving(lambda: app.pane.rows.move(-1)),
            "move.top": self._moving(lambda: app.pane.rows.move_to_end(last=False)),
            "move.end": self._moving(lambda: app.pane.rows.move_to_end(last=True)),
            "move.page_down": self._moving(lambda: app.pane.rows.page(1)),
            "move.page_up": self._moving(lambda: app.pane.rows.page(-1)),
            "back": self._back,
            "filter": app.frame.open_prompt,
            "match.next": lambda: self._match(1),
            "match.previous": lambda: self._match(-1),
            "sort": self._sort,
            "sort.reverse": self._reverse,
            "follow": self._follow,
            "hold": self._hold,
        }

    @cached_property
    def handlers(self) -> Mapping[str, Callable[[], None]]:
        """By the id of the action. The other rooms are entered with the first key that needs them."""
        from evatui.console.asking import Asking
        from evatui.console.bulk import Bulk
        from evatui.console.calling import Calling
        from evatui.console.cancelling import Cancelling
        from evatui.console.changing import Changing
        from evatui.console.comparing import Comparing
        from evatui.console.deciding import Deciding
        from evatui.console.holding import Holding
        from evatui.console.listing import Listing
        from evatui.console.mending import Mending
        from evatui.console.outside import Outside
        from evatui.console.reading import Reading
        from evatui.console.restarting import Restarting
        from evatui.console.restoring import Restoring
        from evatui.console.rolling import Rolling

        asking, comparing = Asking(self._app), Comparing(self._app)
        changing = Changing(self._app, asking)
        self._bulk = Bulk(self._app, asking, changing)
        return {
            **self._own,
            **self.commanding.handlers,
            **Listing(self._app, comparing, self._act).handlers,
            **Cancelling(self._app, asking).handlers,
            **Holding(self._app, asking).handlers,
            **Mending(self._app).handlers,
            **comparing.handlers,
            **self.telling.handlers,
            **self.settling.handlers,
            **self.exporting.handlers,
            **Reading(self._app, self._act).handlers,
            **Calling(self._app, asking).handlers,
            **changing.handlers,
            **Restoring(self._app, asking).handlers,
            **Deciding(self._app, asking).handlers,
            **Outside(self._app, asking).handlers,
            **Rolling(self._app, asking, self._act).handlers,
            **Restarting(self._app, asking).handlers,
        }

    @cached_property
    def commanding(self) -> Commanding:
        from evatui.console.commanding import Commanding

        return Commanding(self._app, self._act)

    @cached_property
    def settling(self) -> Settling:
        from evatui.console.settling import Settling

        return Settling(self._app)

    @cached_property
    def exporting(self) -> Exporting:
        from evatui.console.exporting import Exporting

        return Exporting(self._app)

    @cached_property
    def telling(self) -> Telling:
        from evatui.console.telling import Telling

        return Telling(self._app, self._act)

    def run(self, action_id: str, argument: str = "") -> None:
        """``argument`` is what was typed after the word, where the action takes any."""
        if argument and action_id in self.worded:
            self.worded[action_id](argument)
        else:
            (self._own.get(action_id) or self.handlers[action_id])()

    @property
    def worded(self) -> Mapping[str, Callable[[str], None]]:
        """What takes a text, by the id of the action."""
        rooms = (self.settling, self.telling, self.exporting)
        return {"filter": self._filter, **{word: work for room in rooms for word, work in room.worded.items()}}

    def _filter(self, text: str) -> None:
        self._app.pane.rows.filter(text)
        self._app.say(EMPTY)

    def run_on_marked(self, action: Action) -> None:
        rows, snapshot = self._app.pane.rows, self._app.snapshot
        if snapshot is not None and self.handlers:
            self._bulk.run(action, snapshot, rows.marks)

    def _view(self, view: View) -> Callable[[], None]:
        def show() -> None:
            if view is not self._app.view:
                self._before = self._app.view
                self._app.show_view(view)

        return show

    def _last_view(self) -> None:
        self._view(self._before)()

    def _zoom(self) -> None:
        self._app.screen.toggle_class("-zoomed")

    def _moving(self, move: Callable[[], None]) -> Callable[[], None]:
        def moved() -> None:
            move()
            self._app.say(EMPTY)

        return moved

    def _back(self) -> None:
        rows = self._app.pane.rows
        if rows.query_text:
            rows.filter("")
        elif self._app.screen.has_class("-zoomed"):
            self._zoom()
        else:
            self._app.say(line("nothing above this; ", ("q", Ink.KEY), " leaves"))
            return
        self._app.say(EMPTY)

    def _match(self, step: int) -> None:
        found = self._app.pane.rows.step_match(step)
        self._app.say(EMPTY if found else line("no match; ", ("/", Ink.KEY), " sets what to look for"))

    def _sort(self) -> None:
        self._app.pane.rows.sort_next()
        self._app.frame.refresh()

    def _reverse(self) -> None:
        rows = self._app.pane.rows
        if rows.sorted_by is None:
            self._app.say(line("the order is the runtime's; ", ("s", Ink.KEY), " sorts by a column"))
        else:
            rows.sort(rows.sorted_by, reverse=not rows.reverse)

    def _hold(self) -> None:
        held = self._app.toggle_hold()
        self._app.say(line("the screen stands still, ", ("p", Ink.KEY), " lets it go on") if held else EMPTY)

    def _follow(self) -> None:
        self._app.pane.follow()
        self._app.frame.refresh()
