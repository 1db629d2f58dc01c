"""Actions on MCP servers that handlers call: which of their tools may be called, and what they offer by now."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from evatui.console.asking import Asking
from evatui.console.view.ink import wrapped
from evatui.console.view.outside import approved_lines, waiting_lines
from evatui.control.adapter_rows import AdapterRow

if TYPE_CHECKING:
    from evatui.console.stage import Stage

__all__ = ["Outside"]


class Outside:
    def __init__(self, app: Stage, asking: Asking) -> None:
        self._app = app
        self._asking = asking
        self.handlers: dict[str, Callable[[], None]] = {
            "tools.approve": self._approve,
            "tools.revoke": self._revoke,
            "probe": self._probe,
        }

    def _row(self) -> AdapterRow:
        row = self._app.pane.subject()
        assert isinstance(row, AdapterRow)  # the table enables these for nothing else
        return row

    def _approve(self) -> None:
        """Bound to the list that is shown: the runtime refuses where other tools wait by then."""
        row = self._row()
        assert row.server is not None  # else nothing of it waits
        params = {"server": row.id, "digest": row.server.digest}
        source = wrapped(waiting_lines(row))
        self._asking.typed("mcp.approve", params, f"Approve the tools of {row.id}?", source, "approve", row.id)

    def _revoke(self) -> None:
        row = self._row()
        source = wrapped(approved_lines(row))
        self._asking.confirm("mcp.revoke", {"server": row.id}, f"Revoke the tools of {row.id}?", source, "revoke")

    def _probe(self) -> None:
        self._app.run_worker(self._probed(self._row().id), exit_on_error=False, group="look", exclusive=True)

    async def _probed(self, server: str) -> None:
        await self._asking.send("mcp.probe", server=server)
