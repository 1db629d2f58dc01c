"""A hundred edits under load lose, mix and keep nothing."""

from __future__ import annotations

from tests.soak.reload import edit_under_load


async def test_a_hundred_edits_under_load() -> None:
    report = await edit_under_load()
    assert report.ok, "\n".join(report.lines())
    assert report.freed == report.generations == 100
