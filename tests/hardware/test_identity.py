"""Who a device is: by its serial number where that tells it from others, else by its place; never by a guess."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evatui.hardware.identity import Identity, identify
from evatui.hardware.sighting import Bus, Sighting
from tests.hardware.bench import port


def only(*there: Sighting, **bindings: str) -> Identity:
    (found,) = identify(there, bindings)
    return found


def test_a_serial_number_is_known_wherever_the_device_is_plugged_in() -> None:
    found = only(port())
    assert (found.key, found.strength) == ("serial:0403:6001:s.FT-EVA-1", "strong")
    assert only(port(topology="1-2")).key == found.key


@pytest.mark.parametrize(
    "serial", ["", "0000", "FFFFFFFF", "ffff", "0123456789ABCDEF", "1234567890", "12345", "A1", "   "]
)
def test_a_serial_number_that_makers_put_everywhere_says_nothing(serial: str) -> None:
    found = only(port(serial=serial))
    assert (found.key, found.strength) == ("serial:0403:6001:t.1-1", "weak")


def test_two_alike_without_a_number_are_told_apart_by_their_place_and_in_doubt() -> None:
    one, two = identify([port(serial=""), port(serial="", topology="1-2")], {})
    assert [one.key, two.key] == ["serial:0403:6001:t.1-1", "serial:0403:6001:t.1-2"]
    assert "2 devices of this kind" in one.doubt
    assert "2 devices of this kind" in two.doubt


def test_a_cloned_number_means_neither_of_those_that_show_it() -> None:
    found = identify([port(), port(topology="1-2"), port(serial="OTHER-1", topology="1-3")], {})
    assert [(one.strength, one.cloned) for one in found] == [("weak", True), ("weak", True), ("strong", False)]
    assert "the same serial number" in found[0].doubt


def test_what_can_in_no_way_be_told_apart_is_one_entry_in_doubt() -> None:
    found = only(port(topology=""), port(topology=""))
    assert "exactly like" in found.doubt


def test_a_name_makes_a_place_one_device_as_long_as_it_stays_there() -> None:
    bindings = {"serial:0403:6001:t.1-2": "scale.main"}
    one, two = identify([port(serial=""), port(serial="", topology="1-2")], bindings)
    assert (two.key, two.strength, two.doubt) == ("serial:0403:6001:b.scale.main", "bound", "")
    assert (one.strength, bool(one.doubt)) == ("weak", True)
    (moved,) = identify([port(serial="", topology="1-3")], bindings)
    assert (moved.logical_id, moved.strength) == (None, "weak")


def test_a_named_device_whose_number_is_cloned_loses_its_name() -> None:
    bindings = {"serial:0403:6001:s.FT-EVA-1": "scale.main"}
    assert only(port(), **bindings).logical_id == "scale.main"
    assert [one.logical_id for one in identify([port(), port(topology="1-2")], bindings)] == [None, None]


def test_a_simulated_device_cannot_be_taken_for_another() -> None:
    found = only(Sighting(bus=Bus.SIM, vendor=0x1209, product=0xE7A0, serial="scale"))
    assert (found.key, found.strength) == ("sim:1209:e7a0:sim.scale", "simulated")


texts = st.text("aAbB019~/:. -_\x00\n\u202e\u00e9", max_size=80)
sightings = st.builds(
    port,
    vendor=st.sampled_from([0x0403, 0x1A86, None]),
    serial=st.one_of(texts, st.sampled_from(["AB12", "ab12", "AB~12", "A/B12"])),
    topology=st.one_of(texts, st.sampled_from(["1-1", "1-2"])),
    interface=st.sampled_from(["", "if0", "if1"]),
)


@settings(max_examples=40)
@given(st.lists(sightings, max_size=6), st.randoms())
def test_keys_are_short_and_safe_and_no_two_devices_share_one(there: list[Sighting], shuffle) -> None:  # type: ignore[no-untyped-def]
    found = identify(there, {})
    assert len({one.key for one in found}) == len(found) <= len(there)
    for one in found:
        assert not set(one.key) - set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-~:")
        assert len(one.key) < 160
    for one, other in itertools.combinations(found, 2):
        if one.strength == other.strength == "strong":
            assert (one.sighting.serial, one.sighting.interface, one.sighting.vendor) != (
                other.sighting.serial,
                other.sighting.interface,
                other.sighting.vendor,
            )
    again = list(there)
    shuffle.shuffle(again)
    assert {one.key for one in identify(again, {})} == {one.key for one in found}
