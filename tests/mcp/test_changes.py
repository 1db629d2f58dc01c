"""Clients hear of a list that changed, in both eras and over both transports, and of no other's."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tests.soak.mcp_clients import Heard, calls_over_reloads


def check(found: Mapping[tuple[str, str], Heard], calls: int, reloads: int) -> None:
    """Every call was answered, by one of the versions, and every new list was heard of and seen."""
    for key, heard in found.items():
        assert (heard.errors, heard.calls) == ([], calls + (key[0] == "stdio")), key
        assert heard.told >= reloads, key
        assert [text for n, text in enumerate(heard.lists) if text not in heard.lists[:n]] == [
            f"version {number}" for number in range(1, reloads + 1)
        ], key
        assert 1 <= len(heard.generations) <= reloads + 2, key


async def test_calls_over_reloads(tmp_path: Path) -> None:
    """All four are long tests; here, one of each kind."""
    check(await calls_over_reloads(tmp_path, 10, 2, [("stdio", "legacy"), ("http", "2026-07-28")]), 10, 2)
