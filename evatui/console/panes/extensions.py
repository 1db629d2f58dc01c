"""The view Extensions: adapters and the MCP servers behind them, and skills with what they shadow."""

from __future__ import annotations

from collections.abc import Mapping

from evatui.console.panes.pane import Opened, Pane
from evatui.console.view.actions import View
from evatui.console.view.empty import NOT_FOUND
from evatui.console.view.extensions import (
    EXTENSION_COLUMNS,
    Extension,
    extension_preview,
    extension_rows,
    extensions_in,
    no_extensions,
)
from evatui.console.view.ink import Line, plain
from evatui.control.snapshot import ConsoleSnapshot

__all__ = ["ExtensionsPane"]


class ExtensionsPane(Pane):
    view = View.EXTENSIONS
    columns = EXTENSION_COLUMNS
    nouns = ("extension", "extensions")
    _known: Mapping[str, Extension] = {}

    def show(self, snapshot: ConsoleSnapshot, elapsed: float) -> None:
        self.snapshot = snapshot
        self._known = extensions_in(snapshot)
        rows = extension_rows(self._known)
        self.fill(rows, NOT_FOUND if rows else no_extensions(snapshot.extensions))
        self.cursor_moved()

    def subject(self) -> Extension | None:
        return self._known.get(self.rows.key or "")

    def preview_lines(self, width: int) -> list[Line]:
        one = self.subject()
        return extension_preview(one, width) if one else []

    def opened(self) -> Opened | None:
        one = self.subject()
        if one is None:
            return None
        return Opened((self.rows.key or "").capitalize(), lambda width: extension_preview(one, width), self.copied())

    def copied(self) -> str:
        one = self.subject()
        return "\n".join(plain(part) for part in extension_preview(one, 200)) if one else ""
