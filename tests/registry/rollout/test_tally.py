"""What is counted: the faults of the list only, a window that forgets, latency to within a tenth."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evatui.kernel.model.errors import ErrorKind
from evatui.kernel.registry.rollout.tally import Latencies, Sample, Tally, TimedWindow, Window

FAULTY = {
    "HandlerError",
    "InvalidOutput",
    "InvalidResponse",
    "Timeout",
    "MemoryExceeded",
    "OutputTooLarge",
    "HostCallLimit",
}


@pytest.mark.parametrize("kind", ErrorKind)
def test_only_what_speaks_against_the_version_is_a_fault(kind: ErrorKind) -> None:
    assert Sample(kind, 1.0).fault is (kind.value in FAULTY)


def test_a_tally_knows_every_kind_of_error() -> None:
    tally = Tally()
    for kind in (None, ErrorKind.TIMEOUT, ErrorKind.TIMEOUT, ErrorKind.NOT_FOUND):
        tally.add(Sample(kind, 10.0))
    told = tally.to_json()
    assert told["errors"] == {"NotFound": 1, "Timeout": 2}
    assert (told["samples"], told["faults"]) == (4, 2)
    assert told["p95_ms"] == pytest.approx(10, rel=0.1)


times = st.lists(st.tuples(st.floats(0, 40), st.booleans()), max_size=60)


@given(times, st.floats(0, 60))
def test_a_window_has_the_calls_of_its_time_and_no_older_ones(calls: list[tuple[float, bool]], later: float) -> None:
    window, now = Window(60), 1000.0
    seen: list[tuple[float, bool]] = []
    for pause, fault in calls:
        now += pause
        seen.append((now, fault))
        window.add(Sample(ErrorKind.HANDLER_ERROR if fault else None, 1.0), now)
    now += later
    counted = window.counts(now)
    surely = [fault for at, fault in seen if at > now - 59]
    at_most = [fault for at, fault in seen if at > now - 60]
    assert len(surely) <= counted.samples <= len(at_most)
    assert sum(surely) <= counted.faults <= sum(at_most)


def test_an_empty_window_has_no_latency() -> None:
    window = TimedWindow(5)
    assert window.p95(100.0) is None
    window.add(Sample(None, 3.0), 100.0)
    assert window.p95(100.0) == pytest.approx(3, rel=0.1)
    assert window.p95(106.0) is None


@given(st.lists(st.floats(0.01, 60_000), min_size=1, max_size=200))
def test_a_quantile_is_right_to_within_a_tenth(values: list[float]) -> None:
    latencies = Latencies()
    for value in values:
        latencies.add(value)
    exact = sorted(values)[-(-len(values) * 95 // 100) - 1]
    found = latencies.quantile(0.95)
    assert found is not None
    assert exact * 0.999 <= found <= exact * 1.101
