"""``scale.report``: the simulated scale, read by a handler that knows nothing but its name."""

from __future__ import annotations

from evatui.hardware.simulators.faults import Fault
from tests.bundled.harness import Serving


def test_it_says_what_the_scale_shows_and_that_it_is_simulated(bundled: Serving) -> None:
    answer = bundled.call("scale.report", {})
    assert answer["ok"], answer["error"]
    result = answer["result"]
    grams = result["weight_g"]
    assert result == {
        "scale": "scale.main",
        "weight_g": grams,
        "stable": True,
        "simulated": True,
        "text": f"{grams / 1000:.3f} kg (simulated)",
    }
    assert 19_000 < grams < 19_100


def test_it_needs_nothing_and_takes_nothing(bundled: Serving) -> None:
    assert bundled.call("scale.report", {"port": "/dev/ttyUSB0"})["error"]["kind"] == "InvalidInput"


def test_a_scale_that_cannot_be_read_is_said_to_be(bundled: Serving) -> None:
    bundled.runtime.simulators.script("scale", Fault.GARBAGE)
    error = bundled.call("scale.report", {})["error"]
    bundled.runtime.simulators.script("scale", Fault.NONE)
    while not bundled.call("scale.report", {})["ok"]:  # it is tried again a moment later; others here read it too
        pass
    assert error["kind"] == "Unavailable"
    assert error["message"].startswith("no weight: scale.main: ")
    assert "/dev" not in error["message"]
