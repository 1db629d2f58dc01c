"""Reloads under load lose, mix and keep nothing; a runtime that is killed leaves something that serves."""

from __future__ import annotations

from tests.soak.churn.run import churn
from tests.soak.reload import edit_under_load
from tests.soak.struck import run_struck


async def test_a_hundred_edits_under_load() -> None:
    report = await edit_under_load()
    assert report.ok, "\n".join(report.lines())
    assert report.freed == report.generations == 100


def test_two_hundred_kills_in_the_middle_of_reloads() -> None:
    report = run_struck(200)
    assert report.ok, "\n".join(report.lines())
    assert report.answers == report.kills == 200


async def test_ten_thousand_reloads_of_fifty_capabilities() -> None:
    report = await churn(10_000)
    print("\n".join(report.lines()))
    assert report.ok, "\n".join(report.lines())
    assert report.growth <= 0.1 * report.resident[2]
