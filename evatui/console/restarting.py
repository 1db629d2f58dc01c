"""The runtime anew, or frozen: says whom that concerns, asks, then sends it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from evatui.console.asking import Asking
from evatui.console.view.ink import Ink, Line, line, wrapped

if TYPE_CHECKING:
    from evatui.console.stage import Stage
    from evatui.control.snapshot import ConsoleSnapshot

__all__ = ["Restarting"]


class Restarting:
    def __init__(self, app: Stage, asking: Asking) -> None:
        self._app = app
        self._asking = asking
        self.handlers: dict[str, Callable[[], None]] = {
            "restart": self._restart,
            "freeze": self._freeze,
            "thaw": self._thaw,
        }

    def _restart(self) -> None:
        snapshot = self._app.snapshot
        assert snapshot is not None  # the table enables it for nothing else
        self._asking.confirm("runtime.restart", {}, "Restart the runtime?", wrapped(tuple(_lines(snapshot))), "restart")

    def _freeze(self) -> None:
        lines = (
            line("Files that change are judged and shown, but not published; no canary is promoted."),
            line("What you order is done, and what fails is still taken back."),
            line(("It stays so over restarts, until it is thawed (a).", Ink.DIM)),
        )
        self._asking.confirm("runtime.freeze", {}, "Freeze the workspace?", wrapped(lines), "freeze")

    def _thaw(self) -> None:
        snapshot = self._app.snapshot
        assert snapshot is not None  # the table enables it for nothing else
        waits = [row.id for row in snapshot.capabilities if row.on_disk in ("changed", "missing")]
        lines = (
            line("It is frozen ", (snapshot.runtime.frozen, Ink.STRONG)),
            line("Published then, if sound: ", (", ".join(waits) or "nothing has changed", Ink.STRONG)),
        )
        self._asking.confirm("runtime.thaw", {}, "Thaw the workspace?", wrapped(lines), "thaw")


def _lines(snapshot: ConsoleSnapshot) -> Iterator[Line]:
    calls, seconds = len(snapshot.calls), snapshot.runtime.shutdown_timeout_ms / 1000
    if not snapshot.standing.ok:
        yield line((snapshot.standing.detail, Ink.BAD))
    elif calls:
        flying = "1 call is" if calls == 1 else f"{calls} calls are"
        yield line((f"{flying} waited for, {seconds:g} s at most, then cut.", Ink.WARN))
    else:
        yield line("No call is in flight.")
    yield line("New calls get Unavailable until it serves again; whoever is attached stays.")
    waits = [row.id for row in snapshot.held if row.waits_for == "restart"]
    if waits:
        yield line("Takes effect then: ", (", ".join(waits), Ink.STRONG))
    else:
        yield line(("No approved version waits for it; eva.yaml is read again.", Ink.DIM))
