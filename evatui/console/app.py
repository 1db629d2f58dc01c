"""The console: where the parts stand on the screen, and how they hear of each other."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual.widgets import Input
from textual.worker import Worker, WorkerState

from evatui.console.dispatch import Dispatch
from evatui.console.keys import bindings_of
from evatui.console.settings import Settings
from evatui.console.stage import Stage
from evatui.console.view.actions import Takes
from evatui.console.view.ink import Ink, line
from evatui.console.view.words import Look
from evatui.control.commands import COMMANDS
from evatui.control.failing import CommandFailed
from evatui.control.operator import Operator

if TYPE_CHECKING:
    from evatui.console.feed import Feed
    from evatui.console.panes.asked import AskedPane
    from evatui.console.panes.pane import Pane
    from evatui.console.screens.confirm import Confirm
    from evatui.console.view.sent import Sent
    from evatui.console.widgets.command import CommandLine
    from evatui.console.widgets.row_list import RowList
    from evatui.control.snapshot import ConsoleSnapshot

__all__ = ["ConsoleApp", "OpenOperator"]

OpenOperator = Callable[[], Awaitable[Operator]]


class ConsoleApp(Stage):
    """Paints a first frame, then opens the operator. Ends with the `CommandFailed` of an operator that did not open.

    What the first frame does not show is imported after it.
    """

    TITLE = "evatui"
    CSS_PATH = "app.tcss"
    ENABLE_COMMAND_PALETTE = False
    AUTO_FOCUS = None
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (118, "-wide")]  # noqa: RUF012 -- as Textual declares them
    VERTICAL_BREAKPOINTS = [(0, "-short"), (16, "-tall")]  # noqa: RUF012

    def __init__(
        self,
        open_operator: OpenOperator,
        *,
        attach: OpenOperator | None = None,
        readonly: bool = False,
        look: Look | None = None,
        settings: Settings | None = None,
        keymap: Mapping[str, str] | None = None,
        workspace: Path | None = None,
    ) -> None:
        super().__init__(
            readonly=readonly,
            look=look or Look(),
            settings=settings or Settings(),
            keymap=keymap or {},
            workspace=workspace,
        )
        self._bindings = bindings_of(self.actions.keymap)
        self._open_operator = open_operator
        self._open_other = attach
        """Opens the runtime of whoever holds the workspace."""
        self.opening: asyncio.Future[Operator] | None = None
        self.operator: Operator | None = None
        self.feed: Feed | None = None
        self._loop_to_leave: asyncio.AbstractEventLoop | None = None
        self._leaving = False
        self.on_screen: Callable[[], None] = lambda: None
        """Called from the main thread once the screen is taken."""
        self.first_snapshot = asyncio.Event()
        """Set once a snapshot is painted, or there will be none."""
        self.dispatch_table = Dispatch(self, self.action_act)

    def on_mount(self) -> None:
        self._loop_to_leave = asyncio.get_running_loop()
        self.on_screen()
        if self._leaving:
            self.exit()
        else:
            self.call_after_refresh(self._painted_first)

    def _painted_first(self) -> None:
        self.run_worker(self._open(), exit_on_error=False, name="open")

    async def _open(self) -> None:
        await self.set_up()
        from evatui.console.commands import Commands, internal
        from evatui.console.feed import Feed

        try:
            self.operator = await self._opened(self._open_operator)
        except Exception as problem:
            self.first_snapshot.set()
            self.exit(problem if isinstance(problem, CommandFailed) else internal("the runtime did not start", problem))
            return
        self.commands = Commands(self.operator, self._command_ended)
        self.feed = Feed(self.operator, lambda snapshot: self.call_later(self.show, snapshot), self._troubled)
        self.feed.start()

    async def _opened(self, opens: OpenOperator) -> Operator:
        """Where another process holds the workspace, its runtime, if that is wanted."""
        # Shielded: whoever leaves now still has to close what comes of it.
        self.opening = asyncio.ensure_future(opens())
        try:
            return await asyncio.shield(self.opening)
        except CommandFailed as failed:
            if self._open_other in (None, opens) or not failed.context.get("holder"):
                raise
            if not await self.push_screen_wait(_offer(failed)):
                raise
        return await self._opened(self._open_other)

    def on_unmount(self) -> None:
        if self.feed is not None:
            self.feed.close()

    def leave_soon(self) -> None:
        """Asks the app to leave; from any thread, also before it has started."""
        self._leaving = True
        if self._loop_to_leave is not None:
            self._loop_to_leave.call_soon_threadsafe(self.exit)

    # --- what changed -----------------------------------------------------------------------------

    def show(self, snapshot: ConsoleSnapshot) -> None:
        first = self.snapshot is None
        before, stood = (self.snapshot.runtime, self.snapshot.standing) if self.snapshot is not None else (None, None)
        super().show(snapshot)
        if snapshot.standing != stood and snapshot.standing.word == "down":
            tries = " restart tries it again"
            self.say(line(("✗ DOWN ", Ink.BAD), snapshot.standing.detail, "  ", ("a", Ink.KEY), tries))
        if before is not None and before.pid != snapshot.runtime.pid:
            now = f"to the runtime that holds the workspace now, pid {snapshot.runtime.pid}"
            self.say(line(("● attached again ", Ink.OK), now))
        if first and snapshot.trust.waiting and self.actions.find("trust") and not self._looks_only():
            self.dispatch_table.run("trust")
        self.dispatch_table.telling.learn(snapshot.audit)
        self.first_snapshot.set()

    def copy(self, text: str, shown: str) -> None:
        self.dispatch_table.exporting.copy(text, shown)

    def refuse_changes(self) -> None:
        if self.operator is not None:
            self.operator.readonly = True

    def _looks_only(self) -> bool:
        return self.operator is None or self.operator.readonly

    def _troubled(self, lost: bool, stalled_s: int) -> None:
        self.frame.link = replace(self.frame.link, lost=lost, stalled_s=stalled_s)
        self.set_class(lost or stalled_s > 0, "-lost")
        self.frame.refresh()

    def on_row_list_moved(self, message: RowList.Moved) -> None:
        if message.row_list is self.pane.rows:
            self.pane.cursor_moved()
            self.frame.refresh()

    def on_row_list_opened(self, message: RowList.Opened) -> None:
        if message.row_list is self.pane.rows:
            self.action_act("open")

    def _command_ended(self, sent: Sent) -> None:
        from evatui.console.view.outcome import outcome
        from evatui.console.view.undo import undo_of

        self.dispatch_table.telling.note(sent)
        if sent.failed is not None or COMMANDS[sent.command].effects:  # the answer to a question is shown in full
            self.say(outcome(sent), undo_of(sent))
        if self.feed is not None:
            self.feed.pull_now()

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        if event.state is WorkerState.ERROR:
            kind = type(event.worker.error).__name__
            self.say(line(("✗ Internal ", Ink.BAD), f"the console failed at that ({kind})"))

    # --- keys -------------------------------------------------------------------------------------

    def action_leave(self) -> None:
        self.action_act("leave")

    def action_act(self, action_id: str, argument: str = "") -> None:
        """What every key, every click and every typed word comes to; ``argument`` was typed after the word."""
        if self.fetches and action_id != "leave":
            if action_id == "back":
                self.leave_fetch()
            return
        action = self.actions.find(action_id)
        if not self.panes:
            if action_id == "leave":
                self.exit()
        elif action is None:
            self.say(line(("READ-ONLY ", Ink.WARN), "this console only looks: it neither changes nor calls anything"))
        elif argument and action.takes is Takes.THING and not self.select(argument, action):
            self.say(line((f"{action.label}: ", Ink.WARN), f"nothing here is called {argument}; tab completes a name"))
        elif argument and action.takes is not Takes.THING:
            self.dispatch_table.run(action.id, argument)
        elif action.bulk and not argument and self.pane.rows.marks and self.view in action.views:
            self.dispatch_table.run_on_marked(action)
        elif why_not := self.why_not(action):
            self.say(line((f"{action.label}: ", Ink.WARN), why_not))
        else:
            self.dispatch_table.run(action.id)

    def ask_for(self, pane: Pane) -> None:
        from evatui.console.panes.asked import AskedPane

        if isinstance(pane, AskedPane) and pane.stale and self.commands is not None:
            pane.stale = False
            work: Callable[[], Awaitable[None]] = partial(self._ask, pane)  # never begun, where the app ends first
            self.run_worker(work, exit_on_error=False, group=f"ask {pane.view}", exclusive=True)

    async def _ask(self, pane: AskedPane) -> None:
        assert self.commands is not None  # nothing is asked before
        answers: dict[str, Mapping[str, Any]] = {}
        for question in pane.asks:
            sent = await self.commands.run(question)
            if sent.data is None:
                assert sent.failed is not None  # one of both is there
                pane.failed(sent.failed)
                return
            answers[question] = sent.data
        pane.answered(answers)
        self.frame.refresh()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """A letter is one where somebody types, a dialog has keys of its own, and a key that means one thing in this
        view and another one elsewhere means the former."""
        if action == "act" and (self.frame.types or len(self.screen_stack) > 1):
            return False
        known = self.actions.find(str(parameters[0])) if action == "act" and parameters else None
        if known is None or self.view in known.views:
            return True
        return not any(known.shares_key(other) and self.view in other.views for other in self.actions.all)

    def on_input_changed(self, message: Input.Changed) -> None:
        if message.input is self.frame.command:
            if self.frame.command.is_open:
                self.dispatch_table.commanding.changed(message.value)
        elif self.frame.prompt.is_open:
            self.pane.rows.filter(message.value)
            self.frame.refresh()

    def on_input_submitted(self, message: Input.Submitted) -> None:
        if message.input is self.frame.command:
            self.dispatch_table.commanding.entered(message.value)
        elif self.frame.prompt.is_open:
            self.frame.close_prompt()

    def on_command_line_asked(self, message: CommandLine.Asked) -> None:
        self.dispatch_table.commanding.complete(message.step)

    def on_command_line_left(self) -> None:
        self.dispatch_table.commanding.close()

    def _fatal_error(self) -> None:
        # Textual would print a traceback with local variables, and these may hold anything.
        self.first_snapshot.set()
        from evatui.console.commands import internal

        self.exit(internal("the console failed", self._exception), 1)
        self._close_messages_no_wait()


def _offer(failed: CommandFailed) -> Confirm:
    """Attach to the runtime that holds the workspace already?"""
    from evatui.console.screens.confirm import Confirm
    from evatui.console.view.ink import wrapped
    from evatui.control.commands import Danger

    lines = (
        line((failed.message, Ink.STRONG)),
        line("Attached to its runtime you see and do the same; leaving this console ends nothing there."),
        line(("The same at once: evatui --attach", Ink.DIM)),
    )
    return Confirm("Attach?", wrapped(lines), "attach", Danger.PLAN, keep="leave")
