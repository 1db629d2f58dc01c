"""The fields of a form, one below the other; those of an alternative that is not chosen are not there."""

from __future__ import annotations

from collections.abc import Mapping

from textual.app import ComposeResult
from textual.containers import VerticalScroll

from evatui.console.view.form.field import ABSENT, Entry
from evatui.console.view.form.payload import Entries, first_entry, payload_of, shown_fields
from evatui.console.view.form.plan import Form
from evatui.console.widgets.field_row import FieldRow

__all__ = ["FieldsBox"]


class FieldsBox(VerticalScroll, can_focus=False):
    def __init__(self, form: Form, entries: Entries) -> None:
        super().__init__(id="fields")
        self._form = form
        self._first = dict(entries)
        self.rows = [FieldRow(field) for field in form.fields]

    def compose(self) -> ComposeResult:
        yield from self.rows

    def on_mount(self) -> None:
        self.fill(self._first)

    @property
    def wanted(self) -> int:
        """How many lines it takes to show all that there is now."""
        return sum(row.wanted for row in self.rows if row.display)

    def entries(self) -> dict[tuple[str, ...], Entry]:
        """What stands in the fields that are shown."""
        return {row.field.path: row.entry for row in self.rows if row.display}

    def payload(self) -> dict[str, object] | str:
        return payload_of(self._form, self.entries())

    def fill(self, entries: Entries) -> None:
        """The fields of alternatives that are not chosen by it have their defaults, for when they are."""
        for row in self.rows:
            if row.field.path in entries:
                row.fill(entries[row.field.path])
        self.choose()
        for row in self.rows:
            if not row.display:
                row.fill(first_entry(row.field))

    def empty(self) -> None:
        """Nothing is sent any more."""
        for row in self.rows:
            row.fill(ABSENT)

    def choose(self) -> None:
        """After a change: shows the fields of the alternative that is chosen now."""
        entries = {row.field.path: row.entry for row in self.rows if not row.field.when}
        for _ in range(3):  # an alternative may have alternatives of its own
            entries |= {
                row.field.path: row.entry for row in self.rows if row.field in shown_fields(self._form, entries)
            }
        shown = {id(field) for field in shown_fields(self._form, entries)}
        for row in self.rows:
            row.display = id(row.field) in shown

    def take_focus(self) -> None:
        first = next((row for row in self.rows if row.display), None)
        if first is not None:
            first.take_focus()

    def complain(self, problems: Mapping[str, str]) -> list[str]:
        """By JSON pointer; returns those that are about no field that is shown."""
        shown = {row.field.pointer: row for row in self.rows if row.display}
        for pointer, row in shown.items():
            row.complain(problems.get(pointer, ""))
        return [f"{pointer}: {what}" if pointer else what for pointer, what in problems.items() if pointer not in shown]
