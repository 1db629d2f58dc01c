"""One action on all marked rows: named in one dialog, then done one after the other, each as if it were alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from evatui.console.asking import Asking
from evatui.console.view.actions import Action
from evatui.console.view.effects import many, waited_for
from evatui.console.view.ink import EMPTY, Ink, Line, line, wrapped
from evatui.console.view.outcome import done_words
from evatui.control.commands import Danger
from evatui.control.failing import CommandFailed
from evatui.control.snapshot import CapabilityRow, ConsoleSnapshot

if TYPE_CHECKING:
    from evatui.console.changing import Changing
    from evatui.console.stage import Stage

__all__ = ["Bulk"]

_LEAVE = frozenset({"drain", "disable"})


class Bulk:
    """Never less dangerous than `Danger.DIALOG`, however harmless one alone would be."""

    def __init__(self, app: Stage, asking: Asking, changing: Changing) -> None:
        self._app = app
        self._asking = asking
        self._changing = changing

    def run(self, action: Action, snapshot: ConsoleSnapshot, marks: frozenset[str]) -> None:
        marked = [row for row in snapshot.capabilities if row.id in marks]
        fit = [row for row in marked if action.enabled(snapshot, row) is None]
        if not fit:
            why = action.enabled(snapshot, marked[0]) if marked else "what is marked is gone"
            self._app.say(line((f"{action.label}: ", Ink.WARN), f"none of {len(marks)} marked: {why}"))
        elif action.id == "reload":
            self._changing.plan_reload([row.id for row in fit], Danger.DIALOG)
        else:
            self._ask(action, snapshot, marked, fit)

    def _ask(
        self, action: Action, snapshot: ConsoleSnapshot, marked: Sequence[CapabilityRow], fit: Sequence[CapabilityRow]
    ) -> None:
        from evatui.console.screens.confirm import Confirm

        def answered(sure: bool | None) -> None:
            if sure:
                self._app.run_worker(self._each(action, fit), exit_on_error=False)
            else:
                self._app.say(line((f"not done: {action.label}", Ink.DIM)))

        lines = tuple(self._lines(action, snapshot, marked, fit))
        title = f"{action.label.capitalize()} {many(len(fit), 'marked thing')}?"
        self._app.push_screen(Confirm(title, wrapped(lines), action.label, Danger.DIALOG), answered)

    def _lines(
        self, action: Action, snapshot: ConsoleSnapshot, marked: Sequence[CapabilityRow], fit: Sequence[CapabilityRow]
    ) -> Iterator[Line]:
        for row in fit:
            waits = waited_for(row, snapshot, self._app.look) if action.id in _LEAVE else EMPTY
            yield line((row.id, Ink.STRONG), f"  {row.number or ''} {row.version}  ", *waits)
        for row in marked:
            if why := action.enabled(snapshot, row):
                yield line((f"left out: {row.id}  {why}", Ink.DIM))
        yield EMPTY
        yield line((action.help, Ink.DIM))

    async def _each(self, action: Action, rows: Sequence[CapabilityRow]) -> None:
        """One that fails or has moved holds up no other."""
        assert action.command is not None  # what is bulk has one
        well, ill = 0, []
        for place, row in enumerate(rows, 1):
            self._app.say(line(("… ", Ink.INFO), f"{action.label} {row.id}, {place} of {len(rows)}"))
            if now := self._asking.moved(row):
                ill.append(f"{row.id}: moved to {now}")
                continue
            sent = await self._asking.send(action.command, **_params(action, row))
            if isinstance(sent.failed, CommandFailed):
                ill.append(f"{row.id}: {sent.failed.kind} {sent.failed.message}")
            else:
                well += 1
        self._app.say(
            line(
                ("✓ " if not ill else "✗ ", Ink.OK if not ill else Ink.BAD),
                f"{done_words(action.command)} {well} of {len(rows)}",
                (f"  {'; '.join(ill)}" if ill else "", Ink.BAD),
                ("  @", Ink.KEY),
                (" has each, with its undo", Ink.DIM),
            )
        )


def _params(action: Action, row: CapabilityRow) -> dict[str, object]:
    guard = {"if_generation": row.generation} if row.generation is not None else {}
    return {"id": row.id, **guard}
