"""The last minutes of a capability in a line of blocks."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from evatui.console.view.ink import plain
from evatui.console.view.trend import SPAN_S, STEP_S, Trends, quantile, spark, trend_lines
from evatui.console.view.words import Look
from evatui.control.snapshot import Beside, CanaryRow, Side
from tests.console.conftest import OpenConsole
from tests.console.scene import at, capability, record

STEPS = SPAN_S // STEP_S


def test_blocks_are_as_high_as_their_values() -> None:
    assert spark([0, 1, 4, 7, None, 7]) == "▁▂▅█ █"
    assert spark([0, 0, None]) == "▁▁ "
    assert spark([]) == ""
    assert Look(ascii=True).text(spark([0, 1, 4, 7])).isascii()


@given(st.lists(st.one_of(st.none(), st.floats(0, 1e9)), max_size=60))
def test_there_is_one_block_for_each_value_and_the_highest_is_full(values: list[float | None]) -> None:
    drawn = spark(values)
    assert len(drawn) == len(values)
    assert [block == " " for block in drawn] == [value is None for value in values]
    most = max((value for value in values if value is not None), default=0)
    if most > 0:
        assert drawn[values.index(most)] == "█"


def test_a_quantile_is_one_of_the_values() -> None:
    assert quantile([3.0, 1.0, 2.0], 0.95) == 3.0
    assert quantile([], 0.5) is None


def test_calls_are_counted_by_the_totals_and_durations_by_the_records() -> None:
    trends = Trends()
    row = capability("repo-summary", 42, calls=10)
    trends.learn(at("14:00:00"), [row], [])
    assert trends.calls("repo-summary") == [0.0] * STEPS  # what was before one looked is nobody's rate
    taken = [record(seq, "14:00:11", "repo-summary", took=seq * 1000) for seq in range(1, 11)]
    trends.learn(at("14:00:11"), [replace(row, calls=310)], taken)
    assert trends.calls("repo-summary")[-1] == 300.0
    assert trends.p95_ms("repo-summary")[-1] == 10.0
    trends.learn(at("14:00:21"), [replace(row, calls=310)], [])
    assert trends.calls("repo-summary")[-3:] == [300.0, 0.0, 0.0]
    assert trends.p95_ms("repo-summary")[-2:] == [None, None]
    told = [plain(part) for part in trend_lines(replace(row, calls=310), trends)]
    assert told[0].endswith("≤ 60/s")
    assert told[1].endswith("10 ms")
    trends.learn(at("14:05:00"), [replace(row, calls=310)], [])
    assert trend_lines(row, trends) == []


def test_a_runtime_that_counts_anew_gives_no_negative_rate() -> None:
    trends = Trends()
    row = capability("repo-summary", 42, calls=500)
    trends.learn(at("14:00:00"), [row], [])
    trends.learn(at("14:00:05"), [replace(row, calls=3)], [])
    assert set(trends.calls("repo-summary")) == {0.0}


def test_both_sides_of_a_canary_have_their_own_lines() -> None:
    canary = CanaryRow(
        generation="repo-summary@1.3.0+build.1.043", number="g43", version="1.3.0", phase="running",
        verdict="insufficient_data", takes="10 %", canary=Side(), baseline=Side(), at_deadline="hold",
    )  # fmt: skip
    row = capability("repo-summary", 42, beside=(Beside(what="canary", number="g43", canary=canary),))
    trends = Trends()
    calls = [
        replace(record(1, "14:00:01", "repo-summary", took=12_000), generation=canary.generation),
        replace(record(2, "14:00:01", "repo-summary", took=40_000), generation=str(row.generation)),
    ]
    trends.learn(at("14:00:02"), [row], calls)
    told = [plain(part) for part in trend_lines(row, trends)]
    assert [part.split()[0] for part in told] == ["g43", "g43", "g42", "g42"]
    assert (told[1].endswith("12 ms"), told[3].endswith("40 ms")) == (True, True)


async def test_the_selected_one_shows_its_last_minutes(console: OpenConsole) -> None:
    async with console() as it:
        it.app.pane.rows.move_to("weather-radar")
        await it.settle()
        assert "p95" in it.screen
        assert "█" in it.screen
        it.app.pane.rows.move_to("config-validate")
        await it.settle()
        assert "p95" not in it.screen
        await it.pilot.resize_terminal(80, 24)
        it.app.pane.rows.move_to("weather-radar")
        await it.press("enter")
        assert "p95" in it.screen
