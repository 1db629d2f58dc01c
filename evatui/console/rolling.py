"""Actions on the version that is tried out, and undo; guarded by the generation that was seen."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from evatui.console.asking import Asking
from evatui.console.view.canary import canary_lines, canary_of
from evatui.console.view.ink import Ink, line
from evatui.control.snapshot import CanaryRow, CapabilityRow

if TYPE_CHECKING:
    from evatui.console.stage import Stage

__all__ = ["Rolling"]

_MEANS = {
    "promote": "It takes all calls, whatever its verdict; what serves beside it drains.",
    "abort": "It takes no more calls, and is not tried again until it changes or is retried.",
    "pause": "It keeps its part of the calls, and its time stands still. One that fails is taken back all the same.",
    "resume": "Its time goes on; one that was held gets all of it again.",
}


class Rolling:
    def __init__(self, app: Stage, asking: Asking) -> None:
        self._app = app
        self._asking = asking
        self.handlers: dict[str, Callable[[], None]] = {
            **{word: partial(self._order, word) for word in _MEANS},
            "undo": self._undo,
        }

    def _row(self) -> CapabilityRow:
        row = self._app.pane.subject()
        assert isinstance(row, CapabilityRow)  # the table enables these for nothing else
        return row

    def _order(self, word: str) -> None:
        row = self._row()
        canary = canary_of(row)
        assert isinstance(canary, CanaryRow)  # the table enables these for nothing else
        lines = (
            line((row.id, Ink.STRONG), f"  {canary.number} {canary.version} beside {row.number} {row.version}"),
            *canary_lines(canary),
            line((_MEANS[word], Ink.DIM)),
        )
        params = {"id": row.id, "if_generation": canary.generation}
        title = f"{word.capitalize()} {canary.number} of {row.id}?"
        self._asking.guarded(row, f"capability.{word}", params, title, lines, word)

    def _undo(self) -> None:
        row = self._row()
        lines = (
            line((row.id, Ink.STRONG)),
            line("What was ordered of it last is undone, unless something else happened to it since."),
        )
        params = {"id": row.id, "if_generation": row.generation}
        self._asking.guarded(row, "capability.undo", params, f"Undo the last order for {row.id}?", lines, "undo")
