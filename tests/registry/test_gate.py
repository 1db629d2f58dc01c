"""What was granted last, noted by many at once."""

from __future__ import annotations

import contextlib
import threading
from pathlib import Path
from typing import Any

import pytest

from evatui.kernel.model.clock import SYSTEM_CLOCK
from evatui.kernel.registry.gate import Gate
from evatui.kernel.registry.trust import Trust
from evatui.kernel.storage.database import Database
from evatui.kernel.storage.grant_book import GrantBook


class Meeting(dict[str, frozenset[str]]):
    """Whoever has looked something up waits for another one who looks, if there may be one, before it goes on."""

    def __init__(self) -> None:
        super().__init__()
        self._both = threading.Barrier(2)

    def get(self, *given: Any) -> Any:
        found = super().get(*given)
        with contextlib.suppress(threading.BrokenBarrierError):
            self._both.wait(0.2)
        return found


class Watched(dict[str, frozenset[str]]):
    """Keeps all that it ever said."""

    def __init__(self) -> None:
        super().__init__()
        self.said: list[frozenset[str]] = []

    def __setitem__(self, key: str, value: frozenset[str]) -> None:
        super().__setitem__(key, value)
        self.said.append(value)


@pytest.fixture
def gate(tmp_path: Path) -> Gate:
    return Gate(GrantBook(Database(None)), Trust(None, tmp_path, writes=False), SYSTEM_CLOCK)


def test_a_name_that_is_provided_on_and_on_is_at_no_moment_free_to_be_taken(gate: Gate) -> None:
    offers = gate._offers = Watched()
    gate._note("a", '{"names": ["text.greet", "text.old"]}', 1)
    gate._note("a", '{"names": ["text.greet", "text.new"]}', 2)
    assert all(offers.said)
    assert offers == {"text.greet": {"a"}, "text.new": {"a"}}
    gate._note("a", None, None)
    assert offers == {}


def test_two_ids_that_come_to_provide_a_name_at_once_are_both_noted(gate: Gate) -> None:
    gate._offers = Meeting()
    threads = [threading.Thread(target=gate._note, args=(key, '{"names": ["text.greet"]}', 1)) for key in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert gate._offers["text.greet"] == {"a", "b"}
