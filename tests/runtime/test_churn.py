"""Capabilities that are saved, broken, deleted, rolled back, drained and killed lose, double and mix nothing."""

from __future__ import annotations

from tests.soak.churn.run import churn


async def test_whatever_happens_to_them_every_call_has_one_end() -> None:
    report = await churn(60, capabilities=12, processes=2, savers=4, seed=3)
    print("\n".join(report.lines()))
    assert report.ok, "\n".join(report.lines())
    assert {"save", "break", "delete", "roll back", "drain", "kill"} <= set(report.did)
    assert report.freed > 40
