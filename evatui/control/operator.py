"""The one way to a runtime for screens, scripts and bridges."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from evatui.control.commands import COMMANDS, Danger
from evatui.control.failing import CommandFailed
from evatui.kernel.model.errors import ErrorKind
from evatui.kernel.model.progress import Progress

if TYPE_CHECKING:
    from evatui.control.snapshot import ConsoleSnapshot, Cursor

__all__ = ["OnProgress", "Operator", "lost", "refuse_if_readonly"]

OnProgress = Callable[[Progress], None]
"""Gets the newest report of a call that runs. Must be cheap, must not raise."""


class Operator(Protocol):
    """In the process or over the socket, with one test suite for both.

    Every method is for the caller's own event loop; the kernel's loop is never touched directly.
    """

    readonly: bool

    async def run(self, command: str, *, on_progress: OnProgress | None = None, **params: Any) -> dict[str, Any]:
        """The ``data`` of a command of `evatui.control.commands.COMMANDS`.

        ``on_progress`` is called, on the caller's loop, with what the handler of a call reports meanwhile: ten times a
        second at most, the last report in any case, and not at all where the call ends within a tenth of a second.

        Raises `CommandFailed`; a lost runtime is ``Unavailable`` with "outcome unknown".
        """
        ...

    async def snapshot(self, since: Cursor) -> ConsoleSnapshot:
        """The newest state, with the events and audit rows after ``since``."""
        ...

    def on_change(self, notify: Callable[[], None]) -> None:
        """Calls ``notify`` from any thread when something changed, at most once until the next `snapshot`, or the next
        command of those that are ``followed``."""
        ...

    def cut(self) -> None:
        """Ends every call in flight of a runtime in this process, so that `close` need not wait; from any thread."""
        ...

    async def close(self) -> None:
        """Detach; a runtime in this process is drained and closed."""
        ...


def refuse_if_readonly(operator: Operator, command: str) -> None:
    """Raises `CommandFailed` for whatever could change something or run a handler, by the table."""
    known = COMMANDS.get(command)
    if operator.readonly and known is not None and (known.effects or known.danger is not Danger.FREE):
        raise CommandFailed(
            ErrorKind.POLICY_DENIED,
            f"{command} is refused: this operator is read-only",
            suggestion="start again without --readonly",
        )


def lost(request_id: str, why: str = "", *, stopped: bool = False) -> CommandFailed:
    """The runtime ended, or its socket was lost, before it answered; ``why`` it did, where that is known.

    ``context.stopped``: it said goodbye, so nothing went wrong with it.
    """
    asked = f" {request_id}" if request_id else ""
    cause = f" ({why})" if why else ""
    return CommandFailed(
        ErrorKind.UNAVAILABLE,
        f"the runtime was lost{cause} before it answered{asked}: outcome unknown, see the audit log",
        suggestion="eva audit tail",
        context={"request_id": request_id, "stopped": stopped},
    )
