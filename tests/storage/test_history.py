"""Generations and holds: ids and numbers are given once, and a restart knows them."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from pathlib import Path

import pytest

from evatui.kernel.storage.database import Database
from evatui.kernel.storage.history import History, Hold

DAY = dt.datetime(2026, 1, 2, 23, 59, tzinfo=dt.UTC)


@pytest.fixture
def history() -> Iterator[History]:
    database = Database(None)
    yield History(database)
    database.close()


def test_ids_count_per_capability_and_day_and_numbers_per_workspace(history: History) -> None:
    made = [
        history.record_generation("a", "1.0.0", "d1", DAY),
        history.record_generation("a", "1.1.0", "d2", DAY),
        history.record_generation("b", "1.0.0", "d3", DAY),
        history.record_generation("a", "1.1.0", "d4", DAY + dt.timedelta(minutes=1)),
    ]
    assert [record.generation_id for record in made] == [
        "a@1.0.0+build.20260102.001",
        "a@1.1.0+build.20260102.002",
        "b@1.0.0+build.20260102.001",
        "a@1.1.0+build.20260103.001",
    ]
    assert [record.number for record in made] == [1, 2, 3, 4]


def test_the_day_is_counted_in_utc(history: History) -> None:
    local = DAY.astimezone(dt.timezone(dt.timedelta(hours=9)))
    assert history.record_generation("a", "1.0.0", "d", local).generation_id == "a@1.0.0+build.20260102.001"


def test_the_same_closure_keeps_its_generation_even_after_another(history: History) -> None:
    first = history.record_generation("a", "1.0.0", "d1", DAY)
    history.record_generation("a", "1.0.0", "d2", DAY)
    assert history.record_generation("a", "1.0.0", "d1", DAY + dt.timedelta(days=3)) == first


def test_a_rollback_is_a_new_generation_and_the_one_that_its_closure_then_has(history: History) -> None:
    first = history.record_generation("a", "1.0.0", "d1", DAY)
    again = history.record_generation("a", "1.0.0", "d1", DAY, fresh=True)
    assert (again.number, again.generation_id) == (2, "a@1.0.0+build.20260102.002")
    assert again != first
    assert history.record_generation("a", "1.0.0", "d1", DAY) == again


def test_a_clock_that_goes_back_gives_no_id_twice(history: History) -> None:
    ids = {
        history.record_generation("a", "1.0.0", f"d{n}", DAY - dt.timedelta(days=n % 2)).generation_id
        for n in range(10)
    }
    assert len(ids) == 10


def test_numbers_and_holds_outlive_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    database = Database(path)
    first = History(database).record_generation("a", "1.0.0", "d1", DAY)
    History(database).set_hold("a", Hold.DRAINED)
    History(database).set_hold("b", Hold.DISABLED)
    database.close()
    database = Database(path)
    history = History(database)
    assert history.holds() == {"a": "drained", "b": "disabled"}
    assert history.record_generation("a", "1.0.0", "d1", DAY) == first
    assert history.record_generation("a", "1.0.0", "d2", DAY).number == 2
    history.set_hold("a", Hold.DISABLED)
    history.set_hold("b", None)
    history.set_hold("never-held", None)
    assert history.holds() == {"a": Hold.DISABLED}
    database.close()
