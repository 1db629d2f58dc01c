"""Before something changes: what will happen, in numbers, and the key that makes it happen."""

from __future__ import annotations

from evatui.console.screens.dialog import Dialog, choices
from evatui.console.widgets.lines import Source
from evatui.control.commands import Danger

__all__ = ["Confirm"]


class Confirm(Dialog[bool]):
    """Dismissed with True only by the confirming key: enter for a plan, ``y`` where enter cancels."""

    def __init__(self, title: str, source: Source, verb: str, danger: Danger, *, keep: str = "cancel") -> None:
        if danger >= Danger.DIALOG:
            self.confirm_keys, self.cancel_keys = ("y",), ("escape", "q", "n", "enter")
            foot = choices(("enter", keep), ("y", verb), focused=0)
        else:
            self.confirm_keys = ("enter",)
            foot = choices(("enter", verb), ("esc", keep))
        super().__init__(title, source, foot)

    def confirm(self) -> None:
        self.finish(True)
