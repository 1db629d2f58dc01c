"""Actions on the version that is tried out, on what the disk holds, and undo; guarded by the generation seen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from evatui.console.asking import Asking
from evatui.console.view.canary import canary_lines, canary_of
from evatui.console.view.ink import EMPTY, Ink, line
from evatui.console.view.words import clock
from evatui.control.snapshot import CanaryRow, CapabilityRow
from evatui.kernel.model.lifecycle import State

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
    def __init__(self, app: Stage, asking: Asking, act: Callable[[str, str], None]) -> None:
        self._app = app
        self._asking = asking
        self._act = act
        self.handlers: dict[str, Callable[[], None]] = {
            **{word: partial(self._order, word) for word in _MEANS},
            "retry": self._retry,
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

    def _retry(self) -> None:
        row = self._row()
        lines = (
            line((row.id, Ink.STRONG), (f"  on disk: {row.on_disk}", Ink.DIM)),
            line("What the disk holds is tried again, as if it were new; what was quarantined is so no more."),
            line(("What serves goes on until the other one is ready.", Ink.DIM)),
        )
        params = {"id": row.id, "if_generation": row.generation}
        self._asking.guarded(row, "capability.retry", params, f"Try {row.id} again?", lines, "retry")

    # --- undo -------------------------------------------------------------------------------------

    def _undo(self) -> None:
        """What the status line offers; without an offer, what was ordered last of the selected capability."""
        offered = self._app.offered
        if offered is not None and (offered.action != "undo" or not self._is_selected(offered.thing)):
            self._app.say(EMPTY)
            self._act(offered.action, offered.thing)
            return
        self._app.fetch(self._plan_undo(self._row()), "looking up what would be undone")

    def _is_selected(self, thing: str) -> bool:
        subject = self._app.pane.subject()
        return isinstance(subject, CapabilityRow) and subject.id == thing

    async def _plan_undo(self, row: CapabilityRow) -> None:
        sent = await self._asking.send("capability.undo_plan", id=row.id)
        if sent.data is None:
            return  # the status line says why
        newest = self._app.pane.subject()  # what was ordered a moment ago may not have been on the screen yet
        row = newest if isinstance(newest, CapabilityRow) and newest.id == row.id else row
        params = {"id": row.id, "if_generation": row.generation}
        if row.state is State.DRAINING:  # it may serve nothing by the time of the answer, and nobody else did that
            del params["if_generation"]
        did: Mapping[str, Any] = sent.data.get("undoes") or {}
        lines = (
            line((row.id, Ink.STRONG), f"  the {did.get('action')} of {clock(str(did.get('at')), self._app.look)}"),
            line(("ordered by ", Ink.DIM), str(did.get("actor"))),
            line("It is undone by ", (str(sent.data.get("by")), Ink.STRONG)),
            line(("Refused if something else happened to it since.", Ink.DIM)),
        )
        self._asking.guarded(row, "capability.undo", params, f"Undo the last order for {row.id}?", lines, "undo")
