"""Devices that come, go, shake and return: what becomes of them, and what is told."""

from __future__ import annotations

from dataclasses import replace

import pytest

from evatui.hardware.fleet import Fleet
from evatui.hardware.sighting import Access
from tests.hardware.bench import RULES, Bench, port

STRONG = "serial:0403:6001:s.FT-EVA-1"
CLOSED = Access(False, "its node belongs to root:dialout, mode 0660", "sudo usermod -aG dialout $USER")


def named() -> Bench:
    bench = Bench()
    bench.fleet.remember((), {STRONG: "scale.main"})
    return bench


def test_a_device_settles_before_it_counts_and_is_quarantined_until_somebody_names_it() -> None:
    bench = Bench()
    bench.see(port())
    assert bench.states() == {STRONG: "settling"}
    bench.see(port(), after=0.29)
    assert bench.states() == {STRONG: "settling"}
    bench.see(port(), after=0.02)
    assert bench.told() == ["absent > settling", "settling > present", "present > quarantined"]
    bench.fleet.bindings[STRONG] = "scale.main"
    bench.fleet.again(bench.rules, bench.moment())
    assert bench.told() == ["quarantined > authorized"]


def test_what_shakes_while_it_settles_starts_again() -> None:
    bench = Bench()
    bench.see(port())
    bench.see(port(attachment="a2"), after=0.2)
    bench.see(port(attachment="a2"), after=0.2)
    assert bench.states() == {STRONG: "settling"}
    bench.see(port(attachment="a2"), after=0.2)
    assert bench.states() == {STRONG: "quarantined"}


def test_one_look_that_misses_it_is_no_absence_two_are() -> None:
    bench = named()
    bench.settle(port())
    bench.told()
    bench.see()
    bench.see(port())
    bench.see()
    assert bench.told() == []
    bench.see()
    assert bench.told() == ["authorized > lost"]


def test_plugged_in_anew_between_two_looks_is_one_event_and_a_new_generation() -> None:
    bench = named()
    bench.settle(port())
    bench.told()
    bench.see(port(attachment="a2"))
    assert bench.told() == ["authorized > authorized"]
    (device,) = bench.fleet.devices
    assert device.generation == 2
    assert device.kept is not None
    assert [link.reason for link in device.kept.links] == ["plugged in anew", ""]


def test_a_named_device_is_waited_for_and_one_without_a_name_is_not() -> None:
    bench = named()
    other = port(serial="OTHER-1", topology="1-2")
    bench.settle(port(), other)
    bench.see()
    bench.see()
    assert bench.states() == {STRONG: "lost"}
    bench.see(port(attachment="a2"))
    bench.see(port(attachment="a2"))
    assert bench.states() == {STRONG: "authorized"}
    bench.see()
    bench.see()
    bench.see(after=29.0)
    assert bench.states() == {STRONG: "lost"}
    bench.see(after=2.0)
    assert bench.states() == {}
    assert bench.fleet.missing == [(STRONG, "scale.main")]
    assert bench.fleet.generation(STRONG) == 2


def test_permissions_that_are_set_late_are_waited_for_and_a_repair_is_seen() -> None:
    bench = named()
    bench.see(port(access=CLOSED))
    bench.see(port(access=CLOSED))
    assert bench.states() == {STRONG: "present"}
    bench.see(port(access=CLOSED), after=2.0)
    (device,) = bench.fleet.devices
    assert (device.state, device.reason, device.fix) == ("no_access", CLOSED.reason, CLOSED.fix)
    bench.see(port())
    assert (device.state, device.reason, device.fix) == ("authorized", "", "")


def test_the_policy_of_now_decides_at_every_look() -> None:
    bench = named()
    bench.settle(port())
    bench.rules = replace(RULES, buses=frozenset({"hid"}))
    bench.see(port())
    assert bench.states() == {STRONG: "denied"}
    assert "allowed_buses" in bench.fleet.devices[0].fix
    bench.fleet.disable("serial", bench.moment())
    assert bench.states() == {STRONG: "disabled"}
    bench.rules = RULES
    bench.settle(port())
    assert bench.states() == {STRONG: "authorized"}


def test_a_clone_that_is_plugged_in_costs_both_their_name_until_it_is_gone() -> None:
    bench = named()
    bench.settle(port())
    clone = port(topology="1-2", attachment="b1")
    bench.settle(port(), clone)
    assert bench.states() == {
        STRONG: "lost",
        "serial:0403:6001:t.1-1": "ambiguous",
        "serial:0403:6001:t.1-2": "ambiguous",
    }
    bench.settle(port())
    assert bench.states() == {STRONG: "authorized"}


def test_a_restart_knows_what_was_there_and_generations_go_on() -> None:
    bench = named()
    bench.settle(port())
    kept = [device.kept for device in bench.fleet.devices if device.kept is not None]
    after = Bench()
    after.fleet = Fleet(after.changes.append)
    after.fleet.remember(kept, {STRONG: "scale.main"})
    after.see(port())
    assert (after.states(), [change.known for change in after.changes]) == ({STRONG: "authorized"}, [True, True])
    assert after.fleet.devices[0].generation == 1
    elsewhere = Bench()
    elsewhere.fleet.remember(kept, {STRONG: "scale.main"})
    elsewhere.settle(port(attachment="of the next boot"))
    assert elsewhere.fleet.devices[0].generation == 2
    assert elsewhere.fleet.devices[0].kept is not None
    assert [link.reason for link in elsewhere.fleet.devices[0].kept.links] == ["unknown", ""]


def test_what_goes_away_at_once_though_nobody_pulled_it_was_perhaps_taken_for_a_braille_display() -> None:
    bench = named()
    bench.see(port())
    bench.see(port())
    bench.see()
    bench.see()
    assert "brltty" in bench.fleet.devices[0].fix
    bench.settle(port())
    bench.see()
    bench.see()
    assert (bench.states(), bench.fleet.devices[0].fix) == ({STRONG: "lost"}, "")


def test_a_device_that_shows_another_number_each_time_fills_nobodys_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evatui.hardware.fleet._MAX_GONE", 3)
    bench = Bench()
    bench.fleet.bindings = {"serial:0403:6001:s.FT-EVA-0": "scale.main"}
    for number in range(8):
        bench.settle(port(serial=f"FT-EVA-{number}", attachment=f"a{number}"))
        bench.now += 60
        bench.settle()
    known = [bench.fleet.generation(f"serial:0403:6001:s.FT-EVA-{number}") for number in range(8)]
    assert known == [1, 0, 0, 0, 0, 1, 1, 1]
