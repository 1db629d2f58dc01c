"""Which tools of MCP servers somebody approved, as they were then: kept over restarts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from evatui.kernel.model.tools import Definition
from evatui.kernel.storage.database import Database

__all__ = ["ToolBook"]

_NONE: Mapping[str, Definition] = MappingProxyType({})


class ToolBook:
    """An approval belongs to a server and the ``endpoint`` at which it was seen: elsewhere, nothing is approved.

    `of` only looks into memory, for any thread. The others are blocking, and raise `StorageError`.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._known: dict[tuple[str, str], dict[str, Definition]] = {}

    def load(self) -> None:
        known: dict[tuple[str, str], dict[str, Definition]] = {}
        with self._database.transaction() as rows:
            found = rows.execute("SELECT server, endpoint, name, digest, body FROM tools").fetchall()
        for server, endpoint, name, digest, body in found:
            known.setdefault((server, endpoint), {})[name] = Definition(name, digest, json.loads(body))
        self._known = known

    def of(self, server: str, endpoint: str) -> Mapping[str, Definition]:
        """What is approved, by the name of the tool."""
        return self._known.get((server, endpoint), _NONE)

    def approve(self, server: str, endpoint: str, tools: Iterable[Definition], actor: str, at: str) -> None:
        """Each in place of the one that had its name."""
        new = {tool.name: tool for tool in tools}
        with self._database.transaction() as rows:
            for tool in new.values():
                row = (server, endpoint, tool.name, tool.digest, json.dumps(dict(tool.body)), actor, at)
                rows.execute("INSERT OR REPLACE INTO tools VALUES (?, ?, ?, ?, ?, ?, ?)", row)
        self._known[server, endpoint] = {**self.of(server, endpoint), **new}

    def forget(self, server: str, endpoint: str, names: Iterable[str]) -> None:
        """Takes approvals back."""
        gone = set(names)
        with self._database.transaction() as rows:
            for name in gone:
                rows.execute(
                    "DELETE FROM tools WHERE server = ? AND endpoint = ? AND name = ?", (server, endpoint, name)
                )
        left = {name: tool for name, tool in self.of(server, endpoint).items() if name not in gone}
        self._known[server, endpoint] = left
