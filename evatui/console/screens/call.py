"""Calling a capability: fields where its schema comes to some, else JSON; the answer beneath."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from textual import events
from textual.timer import Timer
from textual.widget import Widget

from evatui.console.screens.calls import Calls
from evatui.console.screens.choose import Choose
from evatui.console.screens.confirm import Confirm
from evatui.console.screens.dialog import Dialog, choices
from evatui.console.screens.name import Name
from evatui.console.view.answer import call_answer
from evatui.console.view.cli import command_line
from evatui.console.view.form.draft import Draft
from evatui.console.view.form.earlier import EARLIER_COLUMNS, earlier_rows
from evatui.console.view.form.equal import equal_lines
from evatui.console.view.form.payload import Entries, entries_of
from evatui.console.view.form.plan import Form, TooRich
from evatui.console.view.ink import Ink, Line, join, line, wrap, wrapped
from evatui.console.view.payload import pretty, typed_payload
from evatui.console.view.under_way import progress_line
from evatui.console.widgets.editor import PlainEditor
from evatui.console.widgets.field_row import FieldRow
from evatui.console.widgets.fields_box import FieldsBox
from evatui.console.widgets.lines import Lines
from evatui.control.commands import Danger
from evatui.control.snapshot import CapabilityRow
from evatui.kernel.model.progress import Progress

__all__ = ["CallForm"]

_CALLING = line(("… calling", Ink.INFO))
_TALL, _BESIDE, _EQUAL = 20, 4, 5  # lines: below so many an answer takes those of what equals the form
_CHECK_S = 0.3
"""After the last key, until the runtime is asked whether it fits."""


class CallForm(Dialog[Draft]):
    """Dismissed with the draft, which the console keeps."""

    CSS_PATH = ["dialog.tcss", "call.tcss"]  # noqa: RUF012 -- Textual's own shape
    cancel_keys = ("escape",)
    rows_around = 14
    scrolls_by_keys = False

    def __init__(self, row: CapabilityRow, planned: Form | TooRich, draft: Draft, calls: Calls) -> None:
        foot = choices(
            ("ctrl+s", "send"), ("ctrl+t", "JSON"), ("ctrl+r", "earlier"), ("ctrl+o", "save"), ("esc", "back")
        )
        super().__init__(f"Call {row.id}  {row.number or ''}  effects: {row.side_effects}", lambda width: (), foot)
        self._row = row
        self._form = planned if isinstance(planned, Form) else None
        self._draft = draft
        self._calls = calls
        self._note = self._about(planned)
        self._answer: Sequence[Line] = (line(("The answer will stand here.", Ink.DIM)),)
        self._waiting = self._answered = False
        self._problems: Sequence[str] = ()
        self._check_soon: Timer | None = None

    def _about(self, planned: Form | TooRich) -> Line:
        if isinstance(planned, TooRich):
            return line(("No form: ", Ink.DIM), planned.because)
        if planned.left_out:
            return line(("Only as JSON (ctrl+t): ", Ink.DIM), "; ".join(planned.left_out))
        return () if planned.fields else line(("It takes nothing: ctrl+s calls it.", Ink.DIM))

    def body(self) -> Sequence[Widget]:
        self._editor = PlainEditor(self._draft.text, id="json")
        self._editor.select_all()
        payload = typed_payload(self._draft.text)
        entries = self._held(payload) if isinstance(payload, dict) else payload
        fits = self._form is not None and not isinstance(entries, str) and not self._draft.as_json
        self._fields = FieldsBox(self._form or Form(()), {} if isinstance(entries, str) else entries)
        self._fields.display = fits
        self._editor.display = not fits
        self._about_lines = Lines(lambda width: list(wrap(self._note, width))[:2] if self._note else [], classes="note")
        self._equal = Lines(self._equal_lines, classes="equal")
        self._output = Lines(lambda width: wrapped(self._answer)(width), classes="body")
        return (self._about_lines, self._fields, self._editor, self._equal, self._output)

    def on_mount(self) -> None:
        self._take_focus()
        self._edited()

    def _take_focus(self) -> None:
        self.set_focus(self._editor) if self._editor.display else self._fields.take_focus()

    def make_room(self, height: int) -> None:
        editor = max(3, min(12, height // 2))
        above = editor if self._editor.display else max(2, min(16, height * 3 // 5, self._fields.wanted))
        hides = self._answered and height < _TALL
        if hides:
            editor, above, height = min(editor, _BESIDE), min(above, _BESIDE), height + _EQUAL
        self._equal.display = not hides
        self._editor.styles.height = editor
        self._fields.styles.max_height = above
        self._output.styles.max_height = max(3, height - above)

    # --- what is typed ----------------------------------------------------------------------------

    def typed(self, event: events.Key) -> None:
        work: dict[str, Callable[[], None]] = {
            "ctrl+s": self._submit,
            "ctrl+t": self._turn,
            "ctrl+r": self._choose_earlier,
            "ctrl+o": self._name_example,
            "escape": self._leave,
            "pagedown": partial(self.step, 10),
            "pageup": partial(self.step, -10),
        }
        if event.key in work:
            event.stop()
            work[event.key]()

    def _leave(self) -> None:
        self.finish(Draft(self._text(), self._editor.display))

    def on_text_area_changed(self) -> None:
        self._edited()

    def on_field_row_edited(self, message: FieldRow.Edited) -> None:
        self._fields.choose()
        self.refit()
        self._edited()

    def _edited(self) -> None:
        if self._answered:
            self._answered = False
            self.refit()
        self._equal.show(self._equal_lines)
        if self._check_soon is not None:
            self._check_soon.stop()
        self._check_soon = self.set_timer(_CHECK_S, self._check)

    def _payload(self) -> dict[str, Any] | str:
        return typed_payload(self._editor.text) if self._editor.display else self._fields.payload()

    def _text(self) -> str:
        payload = self._payload()
        return self._editor.text if self._editor.display or isinstance(payload, str) else pretty(payload)

    def _check(self) -> None:
        if isinstance(payload := self._payload(), dict):
            self.run_worker(self._judge(payload), exit_on_error=False, group="check", exclusive=True)

    async def _judge(self, payload: Mapping[str, Any]) -> None:
        problems = await self._calls.problems(payload)
        rest = (
            [f"{pointer}: {what}" if pointer else what for pointer, what in problems.items()]
            if self._editor.display
            else self._fields.complain(problems)
        )
        self._problems = rest
        self._equal.show(self._equal_lines)

    # --- form or JSON -----------------------------------------------------------------------------

    def _turn(self) -> None:
        if self._editor.display:
            self._to_form()
        else:
            payload = self._payload()
            if isinstance(payload, str):
                self._say([line(("✗ ", Ink.BAD), payload)])
                return
            self._to_json(payload)

    def _to_json(self, payload: Mapping[str, Any]) -> None:
        self._editor.text = pretty(payload)
        self._editor.select_all()
        self._editor.display, self._fields.display = True, False
        self.refit()
        self._take_focus()

    def _to_form(self) -> None:
        payload = typed_payload(self._editor.text)
        fields = payload if isinstance(payload, str) else self._held(payload)
        if isinstance(fields, str):
            self._say([line(("stays JSON: ", Ink.WARN), fields)])
        else:
            self._show_fields(fields)

    def _held(self, payload: Mapping[str, Any]) -> Entries | str:
        """The fields that make this payload, or why there are none."""
        return entries_of(self._form, payload) if self._form is not None else "there is no form for it"

    def _show_fields(self, entries: Entries) -> None:
        self._fields.empty()
        self._fields.fill(entries)
        self._editor.display, self._fields.display = False, True
        self.refit()
        self._take_focus()
        self._edited()

    # --- earlier calls and examples ---------------------------------------------------------------

    def _choose_earlier(self) -> None:
        earlier = self._calls.earlier
        if not earlier:
            self._say([line(("no call of it was made from here yet", Ink.DIM))])
            return

        def chosen(key: str | None) -> None:
            if key is None:
                return
            payload = earlier[int(key)].payload
            entries = self._held(payload)
            if isinstance(entries, str):
                self._to_json(payload)
            else:
                self._show_fields(entries)

        rows = earlier_rows(earlier, self.app.look)
        self.app.push_screen(Choose("Earlier calls from here, the newest first", EARLIER_COLUMNS, rows), chosen)

    def _name_example(self) -> None:
        payload = self._payload()
        if isinstance(payload, str):
            self._say([line(("✗ ", Ink.BAD), payload)])
            return

        def named(name: str | None) -> None:
            if name:
                self.run_worker(self._keep(name, payload), exit_on_error=False)

        said = (
            line("It is written as an example of ", (self._row.id, Ink.STRONG), ", in a file of that name."),
            line(("No file is written over; eva capability test runs it.", Ink.DIM)),
        )
        self.app.push_screen(Name("Save as an example", wrapped(said), "save"), named)

    async def _keep(self, name: str, payload: Mapping[str, Any]) -> None:
        sent = await self._calls.keep(name, payload)
        if sent.failed is not None:
            self._say([line((f"✗ {sent.failed.kind} ", Ink.BAD), sent.failed.message)])
        else:
            self._say([line(("✓ ", Ink.OK), f"saved {(sent.data or {}).get('path')}")])

    # --- the call ---------------------------------------------------------------------------------

    def _submit(self) -> None:
        payload = self._payload()
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

        self.app.push_screen(Confirm("Call it?", wrapped(question), "call", Danger.PLAN), answered)

    def _start(self, payload: dict[str, Any]) -> None:
        self._waiting = True
        self._say([_CALLING])
        self.run_worker(self._call(payload), exit_on_error=False)

    async def _call(self, payload: dict[str, Any]) -> None:
        sent = await self._calls.send(self._params(payload), self._progressed)
        self._waiting, self._answered = False, True
        self._say(call_answer(sent))
        self.refit()

    def _progressed(self, progress: Progress) -> None:
        if self._waiting and self.is_attached:
            self._say([join((_CALLING, progress_line(progress)))])

    def _params(self, payload: Mapping[str, Any]) -> dict[str, Any]:
        name = self._row.capabilities[0] if self._row.capabilities else self._row.id
        return {"name": name, "provider": self._row.id, "payload": payload}

    def _say(self, lines: Sequence[Line]) -> None:
        self._answer = lines
        self._output.ask_again()

    def _equal_lines(self, width: int) -> Sequence[Line]:
        """The payload, what is wrong with it, and the ``eva`` line: they change with every key."""
        payload = self._payload()
        if isinstance(payload, str):
            return [line((payload, Ink.WARN))]
        with_payload = not self._editor.display
        return equal_lines(self._params(payload), self._problems, width, with_payload=with_payload)
