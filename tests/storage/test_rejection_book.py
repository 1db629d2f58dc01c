"""Refusals that are kept: the newest of each, over a restart, and never two of the same bytes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from evatui.kernel.storage import rejection_book
from evatui.kernel.storage.database import Database
from evatui.kernel.storage.rejection_book import KEPT_OF_EACH, Refused, RejectionBook

ONE = Refused("a", "capabilities/a.yaml", "d1", "2026-01-02T00:00:00Z", "EVA-204 x", "[]", "g1", "{}")


def test_what_is_kept_outlives_a_restart_and_is_found_by_id_and_by_path(tmp_path: Path) -> None:
    database = Database(tmp_path / "state.db")
    RejectionBook(database).keep(ONE)
    RejectionBook(database).keep(replace(ONE, capability_id=None, path="capabilities/b.yaml"))
    database.close()
    database = Database(tmp_path / "state.db")
    book = RejectionBook(database)
    assert book.of("a") == [ONE]
    assert [refused.capability_id for refused in book.of("capabilities/b.yaml")] == [None]
    assert [refused.path for refused in book.all()] == ["capabilities/b.yaml", "capabilities/a.yaml"]
    assert book.of("c") == []
    database.close()


def test_the_same_bytes_are_one_refusal_and_keep_what_they_were_held_against() -> None:
    book = RejectionBook(Database(None))
    book.keep(ONE)
    later = book.keep(replace(ONE, at="2026-01-03T00:00:00Z", summary="EVA-401 y", against="", difference="none"))
    assert book.all() == [later]
    assert later == replace(ONE, at="2026-01-03T00:00:00Z", summary="EVA-401 y")
    assert book.keep(replace(ONE, against="g2", difference="more")).difference == "more"


def test_the_oldest_of_each_are_let_go_and_the_others_stay() -> None:
    book = RejectionBook(Database(None))
    book.keep(replace(ONE, capability_id="other", path="capabilities/other.yaml"))
    for n in range(KEPT_OF_EACH + 5):
        book.keep(replace(ONE, digest=f"d{n}"))
    assert [refused.digest for refused in book.of("a")] == [f"d{n}" for n in range(KEPT_OF_EACH + 4, 4, -1)]
    assert len(book.of("other")) == 1


def test_there_is_a_bound_for_all_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rejection_book, "KEPT", 5)
    book = RejectionBook(Database(None))
    for n in range(9):
        book.keep(replace(ONE, capability_id=f"c{n}", path=f"capabilities/c{n}.yaml"))
    assert [refused.capability_id for refused in book.all()] == ["c8", "c7", "c6", "c5", "c4"]
