"""State of capabilities: values with versions, compare-and-set, and limits that hold."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from evatui.kernel.model.errors import CallFailed, ErrorKind
from evatui.kernel.storage.database import Database
from evatui.kernel.storage.state_store import MISSING, StateStore


@pytest.fixture
def store() -> Iterator[StateStore]:
    database = Database(None)
    yield StateStore(database)
    database.close()


def kind_of(caught: pytest.ExceptionInfo[CallFailed]) -> ErrorKind:
    return caught.value.error.kind


def test_a_key_never_set_is_missing_and_null_is_a_value(store: StateStore) -> None:
    assert store.get("a", 1, "k") == (MISSING, 0)
    assert store.set("a", 1, "k", None) == 1
    assert store.get("a", 1, "k") == (None, 1)


def test_capabilities_and_schema_versions_do_not_see_each_other(store: StateStore) -> None:
    store.set("a", 1, "k", "one")
    store.set("a", 2, "k", "two")
    store.set("b", 1, "k", "three")
    assert [store.get(*place)[0] for place in (("a", 1, "k"), ("a", 2, "k"), ("b", 1, "k"))] == ["one", "two", "three"]


def test_a_stale_write_is_a_conflict_that_tells_the_version(store: StateStore) -> None:
    store.set("a", 1, "k", 1)
    store.set("a", 1, "k", 2, expected_version=1)
    with pytest.raises(CallFailed) as caught:
        store.set("a", 1, "k", 3, expected_version=1)
    assert kind_of(caught) is ErrorKind.CONFLICT
    assert caught.value.error.details["version"] == 2
    assert caught.value.error.retryable
    assert store.get("a", 1, "k") == (2, 2)


def test_expecting_version_0_creates_once(store: StateStore) -> None:
    assert store.set("a", 1, "k", 1, expected_version=0) == 1
    with pytest.raises(CallFailed) as caught:
        store.set("a", 1, "k", 1, expected_version=0)
    assert kind_of(caught) is ErrorKind.CONFLICT


def test_a_thousand_keys_are_the_limit_and_an_old_one_can_still_be_set(store: StateStore) -> None:
    for number in range(10):
        store.set("a", 1, f"k{number}", 0, limit_keys=10)
    with pytest.raises(CallFailed, match="10 keys are the limit") as caught:
        store.set("a", 1, "one-more", 0, limit_keys=10)
    assert kind_of(caught) is ErrorKind.HOST_ERROR
    assert store.set("a", 1, "k3", 1, limit_keys=10) == 2
    assert store.set("b", 1, "k", 1, limit_keys=10) == 1


def test_bytes_are_limited_over_all_keys_and_a_smaller_value_makes_room(store: StateStore) -> None:
    store.set("a", 1, "k1", "x" * 400, limit_bytes=1_000)
    store.set("a", 1, "k2", "x" * 400, limit_bytes=1_000)
    with pytest.raises(CallFailed, match="1000 are the limit"):
        store.set("a", 1, "k3", "x" * 400, limit_bytes=1_000)
    assert store.get("a", 1, "k3") == (MISSING, 0)
    store.set("a", 1, "k1", "", limit_bytes=1_000)
    assert store.set("a", 1, "k3", "x" * 400, limit_bytes=1_000) == 1


@pytest.mark.parametrize("key", ["", "k" * 257, "\ud800", "a\x1b[2J", "a\nb", "a\u202eb"])
def test_what_is_no_key_is_refused(store: StateStore, key: str) -> None:
    with pytest.raises(CallFailed) as caught:
        store.set("a", 1, key, 1)
    assert kind_of(caught) is ErrorKind.INVALID_INPUT


@pytest.mark.parametrize("value", [object(), 2**80, "\ud800"])
def test_what_is_no_json_is_refused(store: StateStore, value: object) -> None:
    with pytest.raises(CallFailed) as caught:
        store.set("a", 1, "k", value)
    assert kind_of(caught) is ErrorKind.INVALID_INPUT


def test_racing_increments_with_compare_and_set_lose_none(store: StateStore) -> None:
    def increment() -> None:
        done = 0
        while done < 25:
            value, version = store.get("a", 1, "n")
            try:
                store.set("a", 1, "n", 1 if value is MISSING else value + 1, expected_version=version)
                done += 1
            except CallFailed as failed:
                if failed.error.kind is not ErrorKind.CONFLICT:
                    raise

    threads = [threading.Thread(target=increment) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert store.get("a", 1, "n") == (100, 100)


def test_a_database_that_is_closed_is_a_host_error() -> None:
    database = Database(None)
    database.close()
    with pytest.raises(CallFailed) as caught:
        StateStore(database).get("a", 1, "k")
    assert kind_of(caught) is ErrorKind.HOST_ERROR


KEYS = st.sampled_from(["a", "b", "c"])
VALUES = st.none() | st.integers(-5, 5) | st.text("xy", max_size=30)
LIMIT = 60


class CompareAndSet(RuleBasedStateMachine):
    """Against a plain dict: versions count sets, a stale expectation changes nothing, the limit is never passed."""

    def __init__(self) -> None:
        super().__init__()
        self.database = Database(None)
        self.store = StateStore(self.database)
        self.model: dict[str, tuple[object, int]] = {}

    @rule(key=KEYS, value=VALUES, expected=st.none() | st.integers(0, 4))
    def set(self, key: str, value: object, expected: int | None) -> None:
        version = self.model.get(key, (None, 0))[1]
        grown = {**self.model, key: (value, version + 1)}
        stale = expected is not None and expected != version
        full = self.size(grown) > LIMIT or len(grown) > 2
        if stale or full:
            with pytest.raises(CallFailed) as caught:
                self.store.set("id", 1, key, value, expected, LIMIT, 2)
            assert kind_of(caught) is (ErrorKind.CONFLICT if stale else ErrorKind.HOST_ERROR)
        else:
            assert self.store.set("id", 1, key, value, expected, LIMIT, 2) == version + 1
            self.model = grown

    @invariant()
    def agrees(self) -> None:
        for key in ("a", "b", "c"):
            assert self.store.get("id", 1, key) == self.model.get(key, (MISSING, 0))
        assert self.size(self.model) <= LIMIT

    @staticmethod
    def size(model: dict[str, tuple[object, int]]) -> int:
        return sum(len(key) + len(json.dumps(value)) for key, (value, _) in model.items())

    def teardown(self) -> None:
        self.database.close()


TestCompareAndSet = CompareAndSet.TestCase
TestCompareAndSet.settings = settings(max_examples=40, stateful_step_count=20, deadline=None)
