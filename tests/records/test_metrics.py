"""What a collector reads: each number is one that happened, and nothing stays of a capability that is gone."""

from __future__ import annotations

import urllib.request

import pytest

from evatui.control.metering import read_address, serve_metrics
from evatui.kernel.model.call import KERNEL
from evatui.kernel.model.event import Event
from evatui.kernel.records.metrics import Gauge, Metrics

HERE = [Gauge("alpha", "lua_tool", ("alpha@1.0.0", "alpha@2.0.0"), 2), Gauge("beta", "", (), 0)]


def call(name: str | None = "alpha", **fields: object) -> dict[str, object]:
    about = {"capability_id": name, "code": "call.ok", "outcome": "ok", "duration_us": 3_000, "host_calls": []}
    return about | fields


def told(topic: str, name: str) -> Event:
    return Event(1, "evt_1", f"/capability/{topic}", "2026", KERNEL, None, {"id": name})


def read(metrics: Metrics) -> dict[str, float]:
    lines = [line for line in metrics.text().splitlines() if not line.startswith("#")]
    return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines)}


def alpha(name: str, **labels: str) -> str:
    """A series of the first capability, with its labels as they are written: sorted."""
    told = {"capability_id": "alpha", "kind": "lua_tool", **labels}
    written = ",".join(f'{key}="{value}"' for key, value in sorted(told.items()))
    return f"{name}{{{written}}}"


def test_calls_errors_latencies_and_host_calls_are_counted() -> None:
    metrics = Metrics(lambda: HERE)
    metrics.recorded(call(host_calls=[{"fn": "now", "target": "", "duration_us": 1, "outcome": "ok"}]))
    metrics.recorded(call(code="call.error", outcome="error", error_kind="Timeout", duration_us=40_000_000))
    metrics.recorded(call(code="effect.intent", outcome="intent", duration_us=None))
    metrics.recorded(call(None))
    metrics.recorded(call(code="call.denied", outcome="denied", error_kind="PolicyDenied"))
    found = read(metrics)
    for outcome in ("ok", "error", "denied"):
        assert found[alpha("capability_invocations_total", outcome=outcome)] == 1
    assert found[alpha("capability_errors_total", error_kind="Timeout", outcome="error")] == 1
    assert found[alpha("capability_errors_total", error_kind="PolicyDenied", outcome="denied")] == 1
    assert found[alpha("host_api_calls_total", function="now", outcome="ok")] == 1
    assert found[alpha("capability_latency_ms_bucket", le="2.0", outcome="ok")] == 0
    assert found[alpha("capability_latency_ms_bucket", le="5.0", outcome="ok")] == 1
    assert found[alpha("capability_latency_ms_bucket", le="30000.0", outcome="error")] == 0
    assert found[alpha("capability_latency_ms_bucket", le="+Inf", outcome="error")] == 1
    assert found[alpha("capability_latency_ms_sum", outcome="error")] == 40_000
    assert found[alpha("capability_latency_seconds_bucket", le="0.005", outcome="ok")] == 1
    assert found[alpha("capability_latency_seconds_count", outcome="ok")] == 1
    assert found[alpha("capability_inflight")] == 2
    for version in ("1.0.0", "2.0.0"):
        assert found[alpha("capability_generation_active", generation=f"alpha@{version}")] == 1
    assert not any("None" in name for name in found)


def test_loads_and_failures_are_counted() -> None:
    metrics = Metrics(lambda: HERE)
    for topic in ("loaded", "loaded", "loaded", "reload_failed", "rejected", "draining"):
        metrics.told(told(topic, "alpha"))
    found = read(metrics)
    assert found[alpha("capability_reload_total", outcome="ok")] == 3
    assert found[alpha("capability_reload_total", outcome="error")] == 2
    assert found[alpha("capability_reload_failed_total", outcome="error")] == 2


def test_what_happens_to_devices_is_counted() -> None:
    metrics = Metrics(lambda: HERE)
    for topic in ("device/offline", "device/offline", "lease/granted", "command/unknown"):
        metrics.told(Event(1, "evt_1", f"/hardware/{topic}", "2026", KERNEL, None, {"id": "alpha"}))
    found = read(metrics)
    assert found['device_events_total{about="device",event="offline"}'] == 2
    assert found['device_events_total{about="command",event="unknown"}'] == 1


def test_nothing_stays_of_a_capability_that_is_gone() -> None:
    here = list(HERE)
    metrics = Metrics(lambda: here)
    metrics.recorded(call("alpha"))
    metrics.recorded(call("beta"))
    metrics.told(told("unregistered", "alpha"))
    here[:] = []
    assert read(metrics) == {}


def test_one_that_comes_back_is_counted_anew() -> None:
    metrics = Metrics(lambda: HERE)
    for before, after in ((150, 0), (10, 3)):
        for _ in range(before):
            metrics.recorded(call("alpha"))
        metrics.told(told("unregistered", "alpha"))
        for _ in range(after):
            metrics.recorded(call("alpha"))
        assert read(metrics).get(alpha("capability_invocations_total", outcome="ok"), 0) == after


def test_the_functions_of_a_capability_are_bounded() -> None:
    metrics = Metrics(lambda: HERE)
    metrics.recorded(call(host_calls=[{"fn": f"made_up_{number}", "outcome": "error"} for number in range(1_000)]))
    found = {name: value for name, value in read(metrics).items() if name.startswith("host_api_calls_total")}
    assert len(found) == 65
    assert sum(found.values()) == 1_000


def test_they_are_served_over_http_until_the_end() -> None:
    metrics = Metrics(lambda: HERE)
    url, stop = serve_metrics(lambda: metrics, read_address("0"))
    try:
        assert url.startswith("http://127.0.0.1:")
        with urllib.request.urlopen(url) as answer:
            assert f"{alpha('capability_inflight')} 2.0" in answer.read().decode()
    finally:
        stop()


@pytest.mark.parametrize(
    ("text", "address"),
    [("9100", ("127.0.0.1", 9100)), ("0.0.0.0:9100", ("0.0.0.0", 9100)), ("[::1]:0", ("::1", 0))],
)
def test_addresses(text: str, address: tuple[str, int]) -> None:
    assert read_address(text) == address


@pytest.mark.parametrize("text", ["", "x", ":9100", "1:65536", "host:", "-1"])
def test_no_addresses(text: str) -> None:
    with pytest.raises(ValueError, match="neither"):
        read_address(text)
