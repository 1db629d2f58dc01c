"""Generations and holds: ids and numbers are given once, and a restart knows them."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from pathlib import Path

import pytest

from evatui.kernel.storage.database import Database
from evatui.kernel.storage.history import ABSENT, History, Hold, Quarantine
from evatui.kernel.storage.schema import STATE

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


def serve(history: History, capability_id: str, digest: str, at: dt.datetime = DAY) -> int:
    number = history.record_generation(capability_id, "1.0.0", digest, at).number
    history.serves(capability_id, number, at)
    return number


def test_what_served_is_told_latest_first_and_each_digest_once(history: History) -> None:
    first, second = serve(history, "a", "d1"), serve(history, "a", "d2")
    assert serve(history, "a", "d1") == first
    history.record_generation("a", "1.0.0", "never served", DAY)
    serve(history, "b", "d1")
    served = history.served()
    assert [(version.number, version.digest) for version in served["a"]] == [(first, "d1"), (second, "d2")]
    assert len(served["b"]) == 1
    history.let_go("a", ["d1"])
    assert [version.digest for version in history.served()["a"]] == ["d2"]
    assert history.generations("a", 9)[-1].served_at, "that it served is not forgotten"
    serve(history, "a", "d1")
    assert [version.digest for version in history.served()["a"]] == ["d1", "d2"]


def test_what_an_earlier_version_of_the_database_kept_is_kept(tmp_path: Path) -> None:
    before = next(at for at, step in enumerate(STATE) if "ADD COLUMN kept" in step)
    old = Database(tmp_path / "state.db", STATE[:before])
    history = History(old)
    numbers = [history.record_generation("a", "1.0.0", f"d{n}", DAY).number for n in range(9)]
    with old.transaction() as rows:
        served = [("a", number, "t") for number in (*numbers, numbers[1])]
        rows.executemany("INSERT INTO servings (capability_id, generation, at) VALUES (?, ?, ?)", served)
    old.close()
    database = Database(tmp_path / "state.db")
    assert [one.digest for one in History(database).served()["a"]] == ["d1", "d8", "d7", "d6", "d5", "d4"]
    database.close()


def test_a_clock_that_goes_back_does_not_change_what_served_last(history: History) -> None:
    serve(history, "a", "d1")
    serve(history, "a", "d2", DAY - dt.timedelta(hours=1))
    assert history.served()["a"][0].digest == "d2"


def test_a_quarantine_outlives_a_restart_until_it_is_lifted(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    given = Quarantine("a", "d1", 3, "rolled_back", "ann", "2026-01-02T00:00:00Z")
    absent = Quarantine("a", ABSENT, None, "rolled_back", "ann", "2026-01-02T00:00:00Z")
    database = Database(path)
    History(database).quarantine("a", [given, absent], [])
    database.close()
    database = Database(path)
    assert History(database).quarantines() == {"a": {"d1": given, ABSENT: absent}}
    History(database).quarantine("a", [], ["d1"])
    assert History(database).quarantines() == {"a": {ABSENT: absent}}
    database.close()
