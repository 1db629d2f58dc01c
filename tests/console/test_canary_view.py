"""The version that is tried out, on screen: its numbers, and what may be ordered of it."""

from __future__ import annotations

from dataclasses import replace

from evatui.console.view import enabled as when
from evatui.console.view.actions import View
from evatui.console.view.canary import canary_brief, canary_lines
from evatui.console.view.ink import plain
from evatui.control.snapshot import Beside, CanaryRow, Side
from tests.console.conftest import OpenConsole
from tests.console.scene import capability, reload_events, scene

CANARY = CanaryRow(
    generation="repo-summary@1.3.0+build.20260504.042",
    number="g42",
    version="1.3.0",
    phase="running",
    verdict="insufficient_data",
    takes="10 %, users ann",
    canary=Side(samples=7, faults=1, p95_ms=12.4, lower=0.001, upper=0.521),
    baseline=Side(samples=64, faults=0, p95_ms=11.0, lower=0.0, upper=0.046),
    at_deadline="hold",
    seconds_left=540.0,
    min_samples=20,
    max_error_rate=0.2,
    window_s=60,
)


def row(canary: CanaryRow):
    beside = (Beside(what="canary", number=canary.number, seconds_left=canary.seconds_left, canary=canary),)
    return capability("repo-summary", 41, marks=("canary",), beside=beside)


def test_its_numbers_stand_beside_those_of_what_serves() -> None:
    assert plain(canary_brief(CANARY, 10.0)) == "◇ g42 takes 10 %, users ann: too few calls, 530 s left"
    told = [plain(told) for told in canary_lines(CANARY)]
    assert told[1] == "g42: 1 of 7 failed, 20 needed, 14% (surely 0% to 52%), p95 12 ms"
    assert told[2] == "beside it: 0 of 64 failed, 0% (surely 0% to 5%), p95 11 ms"
    assert told[3] == "passes with 20 calls in 60 s when surely below 20%;"
    assert told[5] == "at the end of its time: held, for a person to decide"
    held = replace(CANARY, phase="held", seconds_left=None, verdict="inconclusive")
    assert plain(canary_brief(held, 0)).endswith("inconclusive, its time is over: promote or abort (a)")
    assert plain(canary_brief(replace(CANARY, phase="paused"), 0)).endswith("paused")


def test_what_may_be_ordered_follows_its_phase() -> None:
    none, running = capability("repo-summary", 41), row(CANARY)
    paused = row(replace(CANARY, phase="paused"))
    for check in (when.is_tried_out, when.is_pausable, when.is_resumable):
        assert check(none) == "no version of it is tried out"
    assert [when.is_pausable(one) is None for one in (running, paused)] == [True, False]
    assert [when.is_resumable(one) is None for one in (running, paused)] == [False, True]
    assert when.is_tried_out(paused) is None


async def test_an_order_shows_the_numbers_and_is_guarded_by_the_generation(console: OpenConsole) -> None:
    async with console(scene(capabilities=(row(CANARY),)), answers={"capability.promote": {}}) as it:
        it.app.pane.rows.move_to("repo-summary")
        assert "g42 takes 10 %" in it.screen
        it.app.dispatch_table.run("promote")
        await it.armed()
        assert "1 of 7 failed" in it.screen
        await it.press("y")
        assert it.operator.sent("capability.promote") == [{"id": "repo-summary", "if_generation": CANARY.generation}]


async def test_the_reload_of_a_canary_shows_both_sides_as_long_as_it_is_tried_out(console: OpenConsole) -> None:
    began = next(event for event in reload_events() if event.topic.endswith("canary_started"))
    canary = replace(CANARY, generation=str(began.payload["generation"]))
    tried = (replace(row(canary), id="topic-normalize"),)
    events = tuple(event for event in reload_events() if event.seq <= began.seq)
    shown = scene(capabilities=tried, events=events)
    async with console(shown, answers={"capability.diff": {}}, view=View.RELOADS) as it:
        assert "1 of 7 failed, 20 needed" in it.screen
        await it.press("enter")
        assert "at the end of its time: held, for a person to decide" in it.screen
        await it.press("escape")
        await it.pilot.resize_terminal(80, 24)
        await it.settle()
        assert "too few calls" in it.screen
