"""The form of a call: JSON in, the answer beneath."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from rich.text import Text
from textual import events
from textual.widget import Widget
from textual.widgets import TextArea

from evatui.console.screens.confirm import Confirm
from evatui.console.screens.dialog import Dialog, choices
from evatui.console.view.answer import call_answer
from evatui.console.view.cli import command_line
from evatui.console.view.ink import Ink, Line, join, line, safe, wrap, wrapped
from evatui.console.view.payload import typed_payload
from evatui.console.view.sent import Sent
from evatui.console.view.under_way import progress_line
from evatui.console.widgets.lines import Lines
from evatui.control.commands import Danger
from evatui.control.operator import OnProgress
from evatui.control.snapshot import CapabilityRow
from evatui.kernel.model.progress import Progress

__all__ = ["CallForm", "JsonEditor"]

Send = Callable[[dict[str, Any], OnProgress], Awaitable[Sent]]
"""Makes the call with the parameters of ``capability.call``, and tells meanwhile how far it is."""

_CALLING = line(("… calling", Ink.INFO))


class JsonEditor(TextArea):
    """Draws control characters as pictures: pasted text must not reach the terminal as it is."""

    def get_line(self, line_index: int) -> Text:
        return Text(safe(self.document.get_line(line_index)), end="", no_wrap=True)


class CallForm(Dialog[str]):
    """Dismissed with the draft, which the console keeps. ``send`` makes the call and outlives the form.

    The text it opens with is selected, so that what one types or pastes takes its place.
    """

    CSS_PATH = ["dialog.tcss", "call.tcss"]  # noqa: RUF012 -- Textual's own shape
    AUTO_FOCUS = "JsonEditor"
    cancel_keys = ("escape",)
    rows_around = 13

    def __init__(self, row: CapabilityRow, draft: str, send: Send) -> None:
        foot = choices(("ctrl+s", "send"), ("esc", "back, the draft is kept"))
        super().__init__(f"Call {row.id}  {row.number or ''}  effects: {row.side_effects}", lambda width: (), foot)
        self._row = row
        self._draft = draft
        self._send = send
        self._answer: Sequence[Line] = (line(("The answer will stand here.", Ink.DIM)),)
        self._waiting = False

    def body(self) -> Sequence[Widget]:
        self._editor = JsonEditor(self._draft, soft_wrap=False, show_line_numbers=False, compact=True)
        self._editor.cursor_blink = False
        self._editor.select_all()
        self._equal = Lines(self._equal_lines, classes="equal")
        self._output = Lines(self._answer_lines, classes="body")
        return (self._editor, self._equal, self._output)

    def make_room(self, height: int) -> None:
        editor = max(3, min(12, height // 2))
        self._editor.styles.height = editor
        self._output.styles.max_height = max(3, height - editor)

    def on_text_area_changed(self) -> None:
        self._equal.show(self._equal_lines)

    def typed(self, event: events.Key) -> None:
        if event.key == "ctrl+s":
            event.stop()
            self._submit()
        elif event.key in self.cancel_keys:
            event.stop()
            self.finish(self._editor.text)
        elif event.key in ("pagedown", "pageup"):
            event.stop()
            self.step(10 if event.key == "pagedown" else -10)

    def _submit(self) -> None:
        payload = typed_payload(self._editor.text)
        if isinstance(payload, str):
            self._say([line(("✗ ", Ink.BAD), payload)])
        elif self._waiting:
            self._say([line(("the call before is still running; esc leaves it to the runtime", Ink.WARN))])
        elif self._row.side_effects == "none":
            self._start(payload)
        else:
            self._ask(payload)

    def _ask(self, payload: dict[str, Any]) -> None:
        question = (
            line((self._row.id, Ink.STRONG), " has side effects: ", (self._row.side_effects, Ink.WARN)),
            line((command_line("capability.call", self._params(payload)), Ink.DIM)),
        )

        def answered(sure: bool | None) -> None:
            if sure:
                self._start(payload)

        form = Confirm("Call it?", wrapped(question), "call", Danger.PLAN)
        self.app.push_screen(form, answered)

    def _start(self, payload: dict[str, Any]) -> None:
        self._waiting = True
        self._say([_CALLING])
        self.run_worker(self._call(payload), exit_on_error=False)

    async def _call(self, payload: dict[str, Any]) -> None:
        sent = await self._send(self._params(payload), self._progressed)
        self._waiting = False
        self._say(call_answer(sent))

    def _progressed(self, progress: Progress) -> None:
        if self._waiting and self.is_attached:
            self._say([join((_CALLING, progress_line(progress)))])

    def _params(self, payload: dict[str, Any]) -> dict[str, Any]:
        name = self._row.capabilities[0] if self._row.capabilities else self._row.id
        return {"name": name, "provider": self._row.id, "payload": payload}

    def _say(self, lines: Sequence[Line]) -> None:
        self._answer = lines
        self._output.show(self._answer_lines)

    def _answer_lines(self, width: int) -> list[Line]:
        return wrapped(self._answer)(width)

    def _equal_lines(self, width: int) -> list[Line]:
        payload = typed_payload(self._editor.text)
        if isinstance(payload, str):
            return [line((payload, Ink.WARN))]
        equal = command_line("capability.call", self._params(payload))
        return list(wrap(line((equal[: 4 * width], Ink.DIM)), width))[:3]
