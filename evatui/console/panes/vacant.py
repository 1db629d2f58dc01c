"""The views Devices and Extensions: nothing in this version brings any, so each says what would be there."""

from __future__ import annotations

from evatui.console.panes.pane import Opened, Pane
from evatui.console.view.actions import View
from evatui.console.view.empty import EMPTY_EXTENSIONS
from evatui.console.view.ink import Line
from evatui.console.view.table import Column
from evatui.control.snapshot import ConsoleSnapshot

__all__ = ["ExtensionsPane"]


class _VacantPane(Pane):
    vacant: tuple[Line, ...]

    def show(self, snapshot: ConsoleSnapshot, elapsed: float) -> None:
        self.snapshot = snapshot
        self.fill((), self.vacant)

    def subject(self) -> None:
        return None

    def opened(self) -> Opened | None:
        return None

    def copied(self) -> str:
        return ""


class ExtensionsPane(_VacantPane):
    view = View.EXTENSIONS
    noun = "extensions"
    vacant = EMPTY_EXTENSIONS
    columns = (
        Column(title="STATE", width=12),
        Column(title="KIND", width=8),
        Column(title="NAME", width=18, flex=2),
        Column(title="VERSION", width=9),
        Column(title="LAYER", width=12),
        Column(title="SHADOWS", width=10, flex=1),
    )
