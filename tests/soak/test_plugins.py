from __future__ import annotations

from pathlib import Path

from tests.soak.swapped import swaps


async def test_1000_swaps_and_never_runs_what_was_not_hashed(tmp_path: Path) -> None:
    assert await swaps(tmp_path / "ws", 1_000) == []
