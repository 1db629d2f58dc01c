"""A runtime that is killed while it reloads: the next one serves, and every byte that was kept is the one admitted."""

from __future__ import annotations

from tests.soak.struck import run_struck


def test_what_a_kill_leaves_behind_serves() -> None:
    report = run_struck(10, seed=7, longest_s=0.25)
    assert report.ok, "\n".join(report.lines())
    assert report.answers == 10
