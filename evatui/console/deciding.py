"""Actions on what waits for a person: approve a version or take that back, trust the workspace or do not any more."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from evatui.console.asking import Asking
from evatui.console.view.enabled import held_of
from evatui.console.view.ink import Ink, line, wrapped
from evatui.console.view.waiting import held_lines, trust_lines
from evatui.control.deciding import HeldRow

if TYPE_CHECKING:
    from evatui.console.stage import Stage

__all__ = ["Deciding"]


class Deciding:
    def __init__(self, app: Stage, asking: Asking) -> None:
        self._app = app
        self._asking = asking
        self.handlers: dict[str, Callable[[], None]] = {
            "approve": self._approve,
            "revoke": self._revoke,
            "trust": self._trust,
            "distrust": self._distrust,
        }

    def _held(self) -> HeldRow:
        row = held_of(self._app.snapshot, self._app.pane.subject())
        assert row is not None  # the table enables these for nothing else
        return row

    def _approve(self) -> None:
        """Bound to the digest that is shown: the runtime refuses where another version waits by then."""
        row = self._held()
        params = {"id": row.id, "digest": row.digest}
        source = wrapped(held_lines(row))
        self._asking.typed("capability.approve", params, f"Approve {row.id}?", source, "approve", row.id)

    def _revoke(self) -> None:
        row = self._held()
        lines = (
            line((row.id, Ink.STRONG), "  was approved, and has not taken effect yet."),
            line("The approval is forgotten; the version waits for another one."),
        )
        params = {"id": row.id, "digest": row.digest}
        self._asking.confirm(
            "capability.revoke", params, f"Take back the approval of {row.id}?", wrapped(lines), "revoke"
        )

    def _trust(self) -> None:
        self._app.fetch(self._ask_trust(), "looking up what waits for trust")

    async def _ask_trust(self) -> None:
        """Bound to the list that is shown, by its digest."""
        sent = await self._asking.send("trust.show")
        if sent.data is None:
            return
        parts = sent.data["parts"]
        if all(part["status"] == "trusted" for part in parts):
            self._app.say(line(("✓ ", Ink.OK), "nothing here waits for trust"))
            return
        self._asking.confirm(
            "trust.give",
            {"digest": sent.data["digest"]},
            "Trust this workspace?",
            wrapped(trust_lines(sent.data)),
            "trust",
            keep="not now",
            kept=line(
                ("UNTRUSTED ", Ink.WARN), "what needs trust waits, all else runs; ", ("T", Ink.KEY), " asks again"
            ),
        )

    def _distrust(self) -> None:
        lines = (
            line("Nothing in this workspace may start processes, connect, or have secrets injected any more."),
            line("What serves with such powers takes no new calls, and waits."),
        )
        self._asking.confirm("trust.revoke", {}, "Trust this workspace no more?", wrapped(lines), "distrust")
