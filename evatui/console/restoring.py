"""Rolling back: which generation, what it may do and what differs, then the command."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from evatui.console.asking import Asking
from evatui.console.view.comparison import changed_lines
from evatui.console.view.effects import waited_for
from evatui.console.view.ink import EMPTY, Ink, Line, line, wrapped
from evatui.console.view.table import Column, Row
from evatui.console.view.words import clock, state_label
from evatui.control.failing import CommandFailed
from evatui.control.snapshot import CapabilityRow, GenerationRow

if TYPE_CHECKING:
    from evatui.console.stage import Stage

__all__ = ["Restoring"]

_KEYS_SHOWN = 8
_COLUMNS = (
    Column(title="GEN", width=6),
    Column(title="VERSION", width=10, flex=1),
    Column(title="STATE", width=12),
    Column(title="SINCE", width=8),
    Column(title="DIGEST", width=12),
)


class Restoring:
    def __init__(self, app: Stage, asking: Asking) -> None:
        self._app = app
        self._asking = asking
        self.handlers: dict[str, Callable[[], None]] = {"rollback": self._rollback}

    def _rollback(self) -> None:
        """The latest that served before is under the cursor."""
        from evatui.console.screens.choose import Choose

        row = self._app.pane.subject()
        assert isinstance(row, CapabilityRow)  # the table enables it for nothing else
        kept = [item for item in row.generations if item.restorable and item.number != row.number]

        def chosen(number: str | None) -> None:
            for item in kept:
                if item.number == number:
                    self._app.fetch(self._compare(row, item), "comparing")

        rows = [self._generation(item) for item in kept]
        self._app.push_screen(Choose(f"Roll back {row.id}: serve again which?", _COLUMNS, rows), chosen)

    def _generation(self, item: GenerationRow) -> Row:
        cells = (
            line((item.number, Ink.STRONG)),
            line(item.version),
            state_label(item.state, self._app.look),
            line((clock(item.since, self._app.look), Ink.DIM)),
            line((item.digest[:12], Ink.DIM)),
        )
        return Row(key=item.number, cells=cells, order=())

    async def _compare(self, row: CapabilityRow, item: GenerationRow) -> None:
        """What differs is shown where it is known; a version whose files are gone comes back all the same."""
        data: Mapping[str, Any] | None = None
        if row.number is not None:
            data = (await self._asking.send("capability.diff", id=row.id, old=row.number, new=item.number)).data
        self._confirm(row, item, data)

    def _confirm(self, row: CapabilityRow, item: GenerationRow, data: Mapping[str, Any] | None) -> None:
        assert self._app.snapshot is not None  # there is a row of it
        now = f"{row.number} {row.version}" if row.number else "nothing"
        again = (" serves again, as a new generation, in place of ", Ink.DIM)
        head = wrapped([line((row.id, Ink.STRONG)), line(f"{item.number} {item.version}", again, now), EMPTY])
        where = f" on {row.number}" if row.number else ""
        effects = (
            line(*waited_for(row, self._app.snapshot, self._app.look), (where, Ink.DIM)),
            line(("The version on disk is held until it changes.", Ink.DIM)),
        )
        source = wrapped(effects) if data is None else changed_lines(data, (EMPTY, *effects))
        params = {"id": row.id, "to": item.number, "if_generation": row.generation}
        title = f"Roll back to {item.number}?"

        def refused(failed: CommandFailed) -> None:
            if keys := failed.context.get("lost_keys"):
                self._lose(row, params, title, keys)

        def shown(width: int) -> Sequence[Line]:
            return [*head(width), *source(width)]

        self._asking.confirm("capability.rollback", params, title, shown, "roll back", seen=row, refused=refused)

    def _lose(self, row: CapabilityRow, params: dict[str, Any], title: str, keys: Sequence[str]) -> None:
        """What was stored since is not what a slip of the finger may lose."""
        lines = (
            line((row.id, Ink.STRONG), ("  what was stored since would be lost:", Ink.BAD)),
            *(line(f"  {key}") for key in keys[:_KEYS_SHOWN]),
            *((line((f"  and {len(keys) - _KEYS_SHOWN} more", Ink.DIM)),) if len(keys) > _KEYS_SHOWN else ()),
            line(("It reads its state as it was before the newer schema: eva state list ", Ink.DIM), row.id),
        )
        params = {**params, "lose_state": True}
        self._asking.typed("capability.rollback", params, title, wrapped(lines), "roll back", row.id, seen=row)
