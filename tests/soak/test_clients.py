"""A thousand clients are killed at any moment."""

from __future__ import annotations

from tests.soak.gone_clients import kill_clients


async def test_a_thousand_killed_clients() -> None:
    report = await kill_clients(1000, seed=1)
    assert report.ok, "\n".join(report.lines())
    print("\n".join(report.lines()))
