from __future__ import annotations

from pathlib import Path

from tests.mcp.test_changes import check
from tests.soak.mcp_clients import calls_over_reloads


async def test_200_calls_of_each_client_over_20_reloads(tmp_path: Path) -> None:
    check(await calls_over_reloads(tmp_path, 200, 20), 200, 20)
