"""A field of a form on the screen: its label, what one types or chooses into, and what there is to say of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input, TextArea

from evatui.console.view.form.field import ABSENT, Entry, Field, Kind
from evatui.console.view.form.payload import problem_of
from evatui.console.view.ink import Ink, Line, fit, line, wrap
from evatui.console.view.payload import pretty
from evatui.console.widgets.choice import Choice
from evatui.console.widgets.editor import PlainEditor
from evatui.console.widgets.lines import Lines
from evatui.console.widgets.prompt import HARMLESS

__all__ = ["FieldRow"]

_BLANK = [Binding("ctrl+n", "blank", "empty, null or not sent", show=False)]
_SAID: dict[Entry, str] = {ABSENT: "not sent", "": 'empty: ""', (): "empty: []", None: "null"}
_LABEL = 20
_LINES = 3


class _Control(Protocol):
    @property
    def entry(self) -> Entry: ...

    def fill(self, entry: Entry) -> None: ...


class _Blank:
    """What a field stands for while nothing is typed into it; ctrl+n goes through what there is."""

    placeholder: object

    def __init__(self, field: Field, empty: Entry) -> None:
        states: list[Entry] = [ABSENT]
        states += [empty] if empty is not ABSENT else []
        states += [None] if field.nullable else []
        self.states = tuple(states)
        self.at = 0
        self._json = field.kind is Kind.JSON

    @property
    def now(self) -> Entry:
        return self.states[self.at]

    def put(self, entry: Entry) -> None:
        self.at = next((at for at, state in enumerate(self.states) if state is entry or state == entry), 0)

    def step(self) -> None:
        self.at = (self.at + 1) % len(self.states)

    def said(self, required: bool) -> str:
        said = "needed" if required and self.now is ABSENT else _SAID[self.now]
        said = f"JSON: {said}" if self._json else said
        return (
            f"{said}; ctrl+n: {_SAID[self.states[(self.at + 1) % len(self.states)]]}" if len(self.states) > 1 else said
        )


class _TextControl(Input):
    BINDINGS = _BLANK  # type: ignore[assignment]

    def __init__(self, field: Field) -> None:
        super().__init__(compact=True, select_on_focus=False, restrict=HARMLESS)
        self.cursor_blink = False
        self._field = field
        self._blank = _Blank(field, "" if field.kind is Kind.TEXT else ABSENT)
        self.placeholder = self._blank.said(field.required)

    @property
    def entry(self) -> Entry:
        return self.value or self._blank.now

    def fill(self, entry: Entry) -> None:
        self.value = entry if isinstance(entry, str) else ""
        self._blank.put(entry if not self.value else ABSENT)
        self.placeholder = self._blank.said(self._field.required)

    def action_blank(self) -> None:
        if self.value:
            self.value = ""
        else:
            self._blank.step()
        self.placeholder = self._blank.said(self._field.required)
        self.post_message(Input.Changed(self, self.value))


class _ListControl(PlainEditor):
    BINDINGS = _BLANK  # type: ignore[assignment]

    def __init__(self, field: Field) -> None:
        super().__init__()
        self._field = field
        self._blank = _Blank(field, ())
        self.placeholder = f"one a line; {self._blank.said(field.required)}"
        self.styles.height = _LINES

    @property
    def entry(self) -> Entry:
        if not self.text:
            return self._blank.now
        return tuple(self.text.removesuffix("\n").split("\n"))

    def fill(self, entry: Entry) -> None:
        lines: Sequence[str] = entry if isinstance(entry, tuple) else ()
        self.text = "\n".join(lines) + ("\n" if lines and not lines[-1] else "")
        self._blank.put(entry if not self.text else ABSENT)
        self.placeholder = f"one a line; {self._blank.said(self._field.required)}"

    def action_blank(self) -> None:
        if self.text:
            self.text = ""
        else:
            self._blank.step()
        self.placeholder = f"one a line; {self._blank.said(self._field.required)}"
        self.post_message(TextArea.Changed(self))


class _ChoiceControl(Choice):
    def __init__(self, field: Field) -> None:
        values = (True, False) if field.kind is Kind.SWITCH else field.options
        options = [(value if isinstance(value, str) else pretty(value), value) for value in values]
        options += [("null", None)] if field.nullable else []
        super().__init__([("not sent", ABSENT), *options])

    @property
    def entry(self) -> Entry:
        return self.value  # type: ignore[no-any-return]

    def fill(self, entry: Entry) -> None:
        self.choose(entry)


class FieldRow(Vertical):
    """`complain` shows what is wrong with it beneath; without that its description stands there."""

    DEFAULT_CSS = """
    FieldRow { height: auto; }
    FieldRow Horizontal { height: auto; }
    FieldRow .label { width: 22; }
    FieldRow .said { padding: 0 0 0 22; }
    """

    @dataclass
    class Edited(Message):
        row: FieldRow

    def __init__(self, field: Field) -> None:
        super().__init__()
        self.field = field
        self._complaint = ""
        if field.kind in (Kind.SWITCH, Kind.SELECT):
            self._control: Widget = _ChoiceControl(field)
        else:
            self._control = _ListControl(field) if field.kind is Kind.LIST else _TextControl(field)

    def compose(self) -> ComposeResult:
        star = ("*", Ink.KEY) if self.field.required else (" ", Ink.PLAIN)
        self._said = Lines(self._lines, classes="said")
        with Horizontal():
            yield Lines(lambda width: (line(*fit(line(self.field.label), _LABEL), star),), classes="label")
            yield self._control
        yield self._said

    @property
    def wanted(self) -> int:
        """Lines: its own, and one beneath."""
        return (_LINES if self.field.kind is Kind.LIST else 1) + 1

    @property
    def entry(self) -> Entry:
        control: _Control = self._control  # type: ignore[assignment]
        return control.entry

    def fill(self, entry: Entry) -> None:
        control: _Control = self._control  # type: ignore[assignment]
        control.fill(entry)

    def take_focus(self) -> None:
        self.screen.set_focus(self._control)

    def complain(self, what: str) -> None:
        """What the runtime says of its value; empty where nothing is wrong."""
        if what != self._complaint:
            self._complaint = what
            self._said.ask_again()

    def _lines(self, width: int) -> Sequence[Line]:
        wrong = problem_of(self.field, self.entry) or self._complaint
        if wrong:
            return wrap(line((f"✗ {wrong}", Ink.BAD)), width)
        return (fit(line((self.field.help, Ink.DIM)), width),) if self.field.help else ()

    def on_input_changed(self, event: Input.Changed) -> None:
        self._edited(event)

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        self._edited(event)

    def on_choice_changed(self, event: Choice.Changed) -> None:
        self._edited(event)

    def _edited(self, event: Message) -> None:
        event.stop()
        self._said.ask_again()
        self.post_message(self.Edited(self))
