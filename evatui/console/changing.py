"""Actions that change the runtime: plan or dialog first, then the command, guarded by the generation that was seen."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from evatui.console.asking import Asking
from evatui.console.view.answer import plan_changes, plan_lines
from evatui.console.view.ink import Ink, line, wrapped
from evatui.console.view.payload import first_payload, pretty
from evatui.console.view.sent import Sent
from evatui.console.view.table import Column, Row
from evatui.console.view.words import clock, state_label
from evatui.control.commands import COMMANDS, Danger
from evatui.control.deciding import HeldRow
from evatui.control.operator import CommandFailed, OnProgress
from evatui.control.snapshot import CapabilityRow, GenerationRow, RejectionRow

if TYPE_CHECKING:
    from evatui.console.stage import Stage

__all__ = ["Changing"]

_KEYS_SHOWN = 8


class Changing:
    def __init__(self, app: Stage, asking: Asking) -> None:
        self._app = app
        self._asking = asking
        self._drafts: dict[str, str] = {}
        self.handlers: dict[str, Callable[[], None]] = {
            "reload": self._reload,
            "rollback": self._rollback,
            "drain": self._drain,
            "disable": self._disable,
            "enable": self._enable,
            "call": self._call,
        }

    # --- reload -----------------------------------------------------------------------------------

    def _reload(self) -> None:
        subject = self._app.pane.subject()
        known = subject.id if isinstance(subject, CapabilityRow | RejectionRow | HeldRow) else None
        # A file without a usable id can only be read again with all others.
        ids = [known] if known else []
        self._app.say(line(("… ", Ink.INFO), "reading the disk"))
        self._app.run_worker(self._plan(ids), exit_on_error=False, group="look", exclusive=True)

    async def _plan(self, ids: list[str]) -> None:
        sent = await self._asking.send("capability.plan", ids=ids)
        if sent.data is None:
            return
        plan = sent.data
        changes = plan_changes(plan)
        if not changes:
            self._app.say(line(("✓ ", Ink.OK), "nothing to reload: what serves is what the disk holds"))
            return
        lines = plan_lines(plan)
        source = wrapped(lines)
        if all(change.get("action") in ("reject", "hold") for change in changes):
            from evatui.console.screens.page import Page

            self._app.say(line(("✗ ", Ink.BAD), "nothing to apply: the disk holds no version that may serve"))
            self._app.push_screen(Page("Nothing to apply", source, pretty(plan)))
            return
        params = {"ids": ids, "plan": plan.get("plan_digest")}
        title = f"Reload: {len(changes)} change" + ("" if len(changes) == 1 else "s")
        danger = COMMANDS["capability.reload"].danger if ids else Danger.DIALOG
        self._asking.confirm("capability.reload", params, title, source, "apply", danger=danger)

    # --- to one capability ------------------------------------------------------------------------

    def _row(self) -> CapabilityRow:
        row = self._app.pane.subject()
        assert isinstance(row, CapabilityRow)  # the table enables these for nothing else
        return row

    def _rollback(self) -> None:
        from evatui.console.screens.choose import Choose

        row, look = self._row(), self._app.look
        kept = [item for item in row.generations if item.restorable and item.number != row.number]
        columns = (
            Column(title="GEN", width=6),
            Column(title="VERSION", width=10, flex=1),
            Column(title="STATE", width=12),
            Column(title="SINCE", width=8),
            Column(title="DIGEST", width=12),
        )
        rows = [
            Row(
                key=item.number,
                cells=(
                    line((item.number, Ink.STRONG)),
                    line(item.version),
                    state_label(item.state, look),
                    line((clock(item.since, look), Ink.DIM)),
                    line((item.digest[:12], Ink.DIM)),
                ),
                order=(),
            )
            for item in kept
        ]

        def chosen(number: str | None) -> None:
            for item in kept:
                if item.number == number:
                    self._confirm_rollback(row, item)

        self._app.push_screen(Choose(f"Roll back {row.id}: serve again which?", columns, rows), chosen)

    def _confirm_rollback(self, row: CapabilityRow, item: GenerationRow) -> None:
        now = f"{row.number} {row.version}" if row.number else "nothing"
        lines = (
            line((row.id, Ink.STRONG)),
            line(f"{item.number} {item.version}", (" serves again, as a new generation, in place of ", Ink.DIM), now),
            line(_waited(row), (" on what serves now, and then it is freed", Ink.DIM)),
            line(("The version on disk is held until it changes.", Ink.DIM)),
        )
        params = {"id": row.id, "to": item.number, "if_generation": row.generation}
        title = f"Roll back to {item.number}?"

        def refused(failed: CommandFailed) -> None:
            if keys := failed.context.get("lost_keys"):
                self._lose(row, params, title, keys)

        self._asking.guarded(row, "capability.rollback", params, title, lines, "roll back", refused=refused)

    def _lose(self, row: CapabilityRow, params: dict[str, Any], title: str, keys: Sequence[str]) -> None:
        """What was stored since is not what a slip of the finger may lose."""
        lines = (
            line((row.id, Ink.STRONG), ("  what was stored since would be lost:", Ink.BAD)),
            *(line(f"  {key}") for key in keys[:_KEYS_SHOWN]),
            *((line((f"  and {len(keys) - _KEYS_SHOWN} more", Ink.DIM)),) if len(keys) > _KEYS_SHOWN else ()),
            line(("It reads its state as it was before the newer schema: eva state list ", Ink.DIM), row.id),
        )
        params = {**params, "lose_state": True}
        self._asking.typed("capability.rollback", params, title, wrapped(lines), "roll back", row.id)

    def _drain(self) -> None:
        row = self._row()
        lines = (
            line((row.id, Ink.STRONG), f"  {row.number} {row.version}"),
            line((_waited(row), Ink.WARN if row.in_flight else Ink.PLAIN)),
            line(("New calls get Unavailable, over reload and restart, until it is enabled (a).", Ink.DIM)),
        )
        params = {"id": row.id, "if_generation": row.generation}
        self._asking.guarded(row, "capability.drain", params, f"Drain {row.id}?", lines, "drain")

    def _disable(self) -> None:
        row = self._row()
        lines = (
            line((row.id, Ink.STRONG), f"  {row.number or ''} {row.version}"),
            line((_waited(row), Ink.WARN if row.in_flight else Ink.PLAIN)),
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

    async def _make_call(self, params: dict[str, Any], on_progress: OnProgress) -> Sent:
        assert self._app.commands is not None  # enabled only where there is a snapshot
        return await self._app.commands.run("capability.call", on_progress=on_progress, **params)

    # --- calls ------------------------------------------------------------------------------------

    def _call(self) -> None:
        self._app.run_worker(self._open_form(self._row()), exit_on_error=False, group="look", exclusive=True)

    async def _open_form(self, row: CapabilityRow) -> None:
        from evatui.console.screens.call import CallForm

        draft = self._drafts.get(row.id)
        if draft is None:
            sent = await self._asking.send("capability.inspect", id=row.id)
            if sent.failed is not None:
                return  # the status line says why
            draft = pretty(first_payload(_input_schema(sent.data or {})))

        def kept(text: str | None) -> None:
            if text is not None:
                self._drafts[row.id] = text

        self._app.push_screen(CallForm(row, draft, self._make_call), kept)


def _input_schema(inspected: Mapping[str, Any]) -> object:
    """The document, where the runtime gives it; a manifest may hold a path instead."""
    manifest = inspected.get("manifest")
    return inspected.get("input_schema") or (manifest.get("input_schema") if isinstance(manifest, Mapping) else None)


def _waited(row: CapabilityRow) -> str:
    if row.in_flight == 1:
        return "1 call is waited for"
    return f"{row.in_flight or 'no'} calls are waited for"
