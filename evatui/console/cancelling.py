"""The end of calls in flight, and of tools in the background: one, those that are marked, or all of a generation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from evatui.console.asking import Asking
from evatui.console.view.effects import many
from evatui.console.view.in_flight import cut_at, effects_of
from evatui.console.view.ink import EMPTY, Ink, Line, line, wrapped
from evatui.console.view.words import clock
from evatui.control.commands import Danger
from evatui.control.extensions import PluginTaskRow
from evatui.control.snapshot import CallRow, ConsoleSnapshot

if TYPE_CHECKING:
    from evatui.console.stage import Stage

__all__ = ["Cancelling"]

_NAMED = 12


class Cancelling:
    """What has no side effects is confirmed by enter, anything else, and more than one, by ``y``."""

    def __init__(self, app: Stage, asking: Asking) -> None:
        self._app = app
        self._asking = asking
        self.handlers: dict[str, Callable[[], None]] = {"cancel": self._cancel, "cancel-all": self._cancel_all}

    def _cancel(self) -> None:
        if isinstance(self._app.pane.subject(), PluginTaskRow):
            self._cancel_tasks()
            return
        snapshot, marks = self._snapshot(), self._app.pane.rows.marks
        marked = [call for call in snapshot.calls if call.request_id in marks]
        if marked:
            self._ask_each("call", [call.request_id for call in marked], self._lines(marked, snapshot))
            return
        call = self._call()
        harmless = effects_of(call, snapshot) == "none"
        self._asking.confirm(
            "call.cancel",
            {"what": call.request_id},
            f"Cancel the call of {call.capability_id}?",
            wrapped(self._lines([call], snapshot)),
            "cancel it",
            danger=Danger.PLAN if harmless else Danger.DIALOG,
            keep="keep it",
        )

    def _cancel_tasks(self) -> None:
        """What a program of its own does is not known: each takes a ``y``."""
        tasks, marks = self._snapshot().extensions.tasks, self._app.pane.rows.marks
        marked = [task for task in tasks if f"task {task.handle}" in marks and not task.ended]
        if marked:
            self._ask_each("task", [task.handle for task in marked], _lines_of(marked))
            return
        task = self._app.pane.subject()
        assert isinstance(task, PluginTaskRow)
        title, source = f"Cancel {task.plugin}.{task.tool} in the background?", wrapped(_lines_of([task]))
        params = {"what": task.handle}
        self._asking.confirm("call.cancel", params, title, source, "cancel it", danger=Danger.DIALOG, keep="keep it")

    def _cancel_all(self) -> None:
        snapshot, number = self._snapshot(), self._call().number
        calls = [call for call in snapshot.calls if call.number == number]
        title = f"Cancel all {many(len(calls), 'call')} on {number}?"
        lines = wrapped(self._lines(calls, snapshot))
        params = {"what": number}
        self._asking.confirm("call.cancel", params, title, lines, "cancel all", danger=Danger.DIALOG, keep="keep them")

    def _ask_each(self, noun: str, whats: Sequence[str], lines: Sequence[Line]) -> None:
        from evatui.console.screens.confirm import Confirm

        def answered(sure: bool | None) -> None:
            if sure:
                self._app.run_worker(self._each(noun, whats), exit_on_error=False)
            else:
                self._app.say(line(("not done: cancel", Ink.DIM)))

        title = f"Cancel {many(len(whats), f'marked {noun}')}?"
        self._app.push_screen(Confirm(title, wrapped(lines), "cancel all", Danger.DIALOG, keep="keep them"), answered)

    async def _each(self, noun: str, whats: Sequence[str]) -> None:
        """One that has ended by now holds up no other."""
        sent = [await self._asking.send("call.cancel", what=what) for what in whats]
        ended = sum(one.failed is not None for one in sent)
        self._app.pane.rows.mark(frozenset())
        beside = f", {ended} had ended by then" if ended else ""
        self._app.say(line(("✓ ", Ink.OK), f"cancelled {many(len(sent) - ended, noun)}{beside}"))

    def _lines(self, calls: Sequence[CallRow], snapshot: ConsoleSnapshot) -> list[Line]:
        lines = []
        for call in calls[:_NAMED]:
            look = self._app.look
            where = call.number or ("in line" if call.queued else "outside")
            times = f"since {clock(call.started_at, look)}, its deadline is {clock(cut_at(call), look)}"
            lines.append(line((call.capability_id, Ink.STRONG), f" {where}  {times}", f"  for {call.caller}"))
        if len(calls) > _NAMED:
            lines.append(line((f"and {len(calls) - _NAMED} more", Ink.DIM)))
        doing = sorted({effects_of(call, snapshot) for call in calls} - {"none"})
        if doing:
            lines.append(line((f"Side effects: {', '.join(doing)}. What is done by now stays done.", Ink.WARN)))
        whose = "Its caller gets" if len(calls) == 1 else "Their callers get"
        return [*lines, EMPTY, line((f"{whose} Cancelled, and it is on record who did it.", Ink.DIM))]

    def _call(self) -> CallRow:
        call = self._app.pane.subject()
        assert isinstance(call, CallRow)  # the table enables these for nothing else
        return call

    def _snapshot(self) -> ConsoleSnapshot:
        assert self._app.snapshot is not None  # there is a call of it
        return self._app.snapshot


def _lines_of(tasks: Sequence[PluginTaskRow]) -> list[Line]:
    shown = [
        line((f"{task.plugin}.{task.tool}", Ink.STRONG), f" {task.version}  since {task.began}", f"  {task.message}")
        for task in tasks[:_NAMED]
    ]
    more = [line((f"and {len(tasks) - _NAMED} more", Ink.DIM))] if len(tasks) > _NAMED else []
    ends = "It and all that it started are killed, and it is on record who did it. What is done by now stays done."
    return [*shown, *more, EMPTY, line((ends, Ink.DIM))]
