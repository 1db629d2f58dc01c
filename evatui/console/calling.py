"""Calling a capability: the form, its draft, and the call that outlives it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from evatui.console.asking import Asking
from evatui.console.view.payload import first_payload, pretty
from evatui.console.view.sent import Sent
from evatui.control.operator import OnProgress
from evatui.control.snapshot import CapabilityRow

if TYPE_CHECKING:
    from evatui.console.stage import Stage

__all__ = ["Calling"]


class Calling:
    def __init__(self, app: Stage, asking: Asking) -> None:
        self._app = app
        self._asking = asking
        self._drafts: dict[str, str] = {}
        self.handlers: dict[str, Callable[[], None]] = {"call": self._call}

    def _call(self) -> None:
        row = self._app.pane.subject()
        assert isinstance(row, CapabilityRow)  # the table enables it for nothing else
        self._app.run_worker(self._open_form(row), exit_on_error=False, group="look", exclusive=True)

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

    async def _make_call(self, params: dict[str, Any], on_progress: OnProgress) -> Sent:
        assert self._app.commands is not None  # enabled only where there is a snapshot
        return await self._app.commands.run("capability.call", on_progress=on_progress, **params)


def _input_schema(inspected: Mapping[str, Any]) -> object:
    """The document, where the runtime gives it; a manifest may hold a path instead."""
    manifest = inspected.get("manifest")
    return inspected.get("input_schema") or (manifest.get("input_schema") if isinstance(manifest, Mapping) else None)
