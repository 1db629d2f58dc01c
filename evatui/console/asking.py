"""Before something changes: what will happen is shown, somebody confirms, then the command is sent."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from evatui.console.view.cli import command_line
from evatui.console.view.ink import EMPTY, Ink, Line, line, wrap, wrapped
from evatui.console.view.sent import Sent
from evatui.control.commands import COMMANDS, Danger
from evatui.control.failing import CommandFailed
from evatui.control.snapshot import CapabilityRow
from evatui.kernel.model.lifecycle import State

if TYPE_CHECKING:
    from evatui.console.stage import Stage

__all__ = ["Asking"]

Source = Callable[[int], Sequence[Line]]
Refused = Callable[[CommandFailed], None]


class Asking:
    """Dialogs are imported when they are first opened: the first frame does not wait for them."""

    def __init__(self, app: Stage) -> None:
        self._app = app

    async def send(self, command: str, **params: Any) -> Sent:
        assert self._app.commands is not None  # enabled only where there is a snapshot
        return await self._app.commands.run(command, **params)

    def guarded(
        self,
        row: CapabilityRow,
        command: str,
        params: dict[str, Any],
        title: str,
        lines: Sequence[Line],
        verb: str,
        *,
        refused: Refused | None = None,
    ) -> None:
        """Refused where ``row`` serves something else by the time of the answer."""
        self.confirm(command, params, title, wrapped(lines), verb, seen=row, refused=refused)

    def confirm(
        self,
        command: str,
        params: dict[str, Any],
        title: str,
        source: Source,
        verb: str,
        *,
        seen: CapabilityRow | None = None,
        danger: Danger | None = None,
        keep: str = "cancel",
        kept: Line | None = None,
        refused: Refused | None = None,
    ) -> None:
        """``danger`` is that of the command, where none is given; ``kept`` is said where nothing is done, and
        ``refused`` hears why the command was."""
        from evatui.console.screens.confirm import Confirm

        def answered(sure: bool | None) -> None:
            if not sure:
                self._app.say(kept or line((f"not done: {verb}", Ink.DIM)))
            elif self._stands(seen):
                self._run(command, params, verb, refused)

        level = COMMANDS[command].danger if danger is None else danger
        shown = self._with_line(source, command, params)
        self._app.push_screen(Confirm(title, shown, verb, level, keep=keep), answered)

    def typed(
        self,
        command: str,
        params: dict[str, Any],
        title: str,
        source: Source,
        verb: str,
        name: str,
        *,
        seen: CapabilityRow | None = None,
    ) -> None:
        """The same for what only a typed ``name`` confirms; it goes along as ``typed``."""
        from evatui.console.screens.typed import Typed

        def answered(given: str | None) -> None:
            if given is None:
                self._app.say(line((f"not done: {verb}", Ink.DIM)))
            elif self._stands(seen):
                self._run(command, {**params, "typed": given}, verb)

        self._app.push_screen(Typed(title, self._with_line(source, command, params), verb, name), answered)

    def _run(self, command: str, params: dict[str, Any], verb: str, refused: Refused | None = None) -> None:
        self._app.say(line(("… ", Ink.INFO), f"{verb} "))
        self._app.run_worker(self._sent(command, params, refused), exit_on_error=False)

    async def _sent(self, command: str, params: dict[str, Any], refused: Refused | None) -> None:
        sent = await self.send(command, **params)
        if sent.failed is not None and refused is not None:
            refused(sent.failed)

    def _with_line(self, source: Source, command: str, params: dict[str, Any]) -> Source:
        equal = line((command_line(command, params), Ink.DIM))
        return lambda width: [*source(width), EMPTY, *wrap(equal, width)]

    def _stands(self, seen: CapabilityRow | None) -> bool:
        """False, and said, where the capability is another one by now than the dialog spoke of."""
        now = self.moved(seen) if seen is not None else None
        if seen is not None and now is not None:
            self._app.say(line(("✗ Conflict ", Ink.BAD), f"{seen.id} moved to {now} since you looked: review again"))
        return now is None

    def moved(self, seen: CapabilityRow) -> str | None:
        """What the capability serves by now, where that is not what the dialog spoke of."""
        snapshot = self._app.snapshot
        row = next((row for row in snapshot.capabilities if row.id == seen.id), None) if snapshot else None
        if row is None:
            return "nothing (it is gone)"
        ended = seen.state is State.DRAINING and row.generation is None
        return None if ended or row.generation == seen.generation else row.number or str(row.state)
