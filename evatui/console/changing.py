"""Reload, drain, disable and enable: plan or dialog first, then the command, guarded by the generation seen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from evatui.console.asking import Asking
from evatui.console.view.answer import plan_changes, plan_lines
from evatui.console.view.effects import cut_at_once, waited_for
from evatui.console.view.ink import Ink, Line, line, wrapped
from evatui.console.view.payload import pretty
from evatui.control.commands import COMMANDS, Danger
from evatui.control.deciding import HeldRow
from evatui.control.snapshot import CapabilityRow, RejectionRow

if TYPE_CHECKING:
    from evatui.console.stage import Stage

__all__ = ["Changing"]


class Changing:
    def __init__(self, app: Stage, asking: Asking) -> None:
        self._app = app
        self._asking = asking
        self.handlers: dict[str, Callable[[], None]] = {
            "reload": self._reload,
            "reload.all": lambda: self.plan_reload([], Danger.DIALOG),
            "drain": self._drain,
            "drain.force": self._force,
            "disable": self._disable,
            "enable": self._enable,
        }

    # --- reload -----------------------------------------------------------------------------------

    def _reload(self) -> None:
        subject = self._app.pane.subject()
        known = subject.id if isinstance(subject, CapabilityRow | RejectionRow | HeldRow) else None
        # A file without a usable id can only be read again with all others.
        if known:
            self.plan_reload([known], COMMANDS["capability.reload"].danger)
        else:
            self.plan_reload([], Danger.DIALOG)

    def plan_reload(self, ids: Sequence[str], danger: Danger) -> None:
        """Of all that there is without ``ids``. The plan is shown, and just that plan is applied."""
        self._app.fetch(self._plan(list(ids), danger), "reading the disk")

    async def _plan(self, ids: list[str], danger: Danger) -> None:
        sent = await self._asking.send("capability.plan", ids=ids)
        if sent.data is None:
            return
        plan = sent.data
        changes = plan_changes(plan)
        if not changes:
            self._app.say(line(("✓ ", Ink.OK), "nothing to reload: what serves is what the disk holds"))
            return
        source = wrapped(plan_lines(plan))
        if all(change.get("action") in ("reject", "hold") for change in changes):
            from evatui.console.screens.page import Page

            self._app.say(line(("✗ ", Ink.BAD), "nothing to apply: the disk holds no version that may serve"))
            self._app.push_screen(Page("Nothing to apply", source, pretty(plan)))
            return
        params = {"ids": ids, "plan": plan.get("plan_digest")}
        title = f"Reload: {len(changes)} change" + ("" if len(changes) == 1 else "s")
        self._asking.confirm("capability.reload", params, title, source, "apply", danger=danger)

    # --- to one capability ------------------------------------------------------------------------

    def _row(self) -> CapabilityRow:
        row = self._app.pane.subject()
        assert isinstance(row, CapabilityRow)  # the table enables these for nothing else
        return row

    def _waited(self, row: CapabilityRow) -> Line:
        assert self._app.snapshot is not None  # there is a row of it
        return waited_for(row, self._app.snapshot, self._app.look)

    def _drain(self) -> None:
        row = self._row()
        lines = (
            line((row.id, Ink.STRONG), f"  {row.number} {row.version}"),
            self._waited(row),
            line(("New calls get Unavailable, over reload and restart, until it is enabled (a).", Ink.DIM)),
        )
        params = {"id": row.id, "if_generation": row.generation}
        self._asking.guarded(row, "capability.drain", params, f"Drain {row.id}?", lines, "drain")

    def _force(self) -> None:
        row = self._row()
        lines = (
            line((row.id, Ink.STRONG), f"  {row.number or ''} {row.version}"),
            cut_at_once([row]),
            line("Nobody waits for them: each ends as Cancelled, whatever it has done so far."),
            line(("New calls get Unavailable, over reload and restart, until it is enabled (a).", Ink.DIM)),
        )
        params = {"id": row.id, "force": True} | ({"if_generation": row.generation} if row.generation else {})
        title = f"Drain {row.id} with force?"
        self._asking.typed("capability.drain", params, title, wrapped(lines), "drain", row.id, seen=row)

    def _disable(self) -> None:
        row = self._row()
        lines = (
            line((row.id, Ink.STRONG), f"  {row.number or ''} {row.version}"),
            self._waited(row),
            line(("It stays off over reload and restart, until it is enabled (a).", Ink.DIM)),
        )
        params = {"id": row.id, "if_generation": row.generation}
        self._asking.guarded(row, "capability.disable", params, f"Disable {row.id}?", lines, "disable")

    def _enable(self) -> None:
        row = self._row()
        demoted = "demoted" in row.marks
        what = "It is read from the disk again and takes calls if it is sound."
        back = "It runs in the process of the runtime again, as a new generation; its strikes are forgotten."
        lines = (line((row.id, Ink.STRONG)), line(back if demoted else what))
        self._asking.guarded(row, "capability.enable", {"id": row.id}, f"Enable {row.id}?", lines, "enable")
