"""A manifest's name goes to the one device that it fits for certain."""

from __future__ import annotations

from evatui.hardware.matching import Match
from evatui.hardware.sighting import Bus, Sighting
from tests.hardware.bench import Bench, port

STRONG = "serial:0403:6001:s.FT-EVA-1"


def bench(*matches: Match) -> Bench:
    found = Bench()
    found.fleet.matches.update({f"adapter {number}": match for number, match in enumerate(matches)})
    return found


def names(found: Bench) -> dict[str, str | None]:
    return {device.identity.key: device.identity.logical_id for device in found.fleet.devices}


def test_a_number_that_is_telling_makes_sure() -> None:
    found = bench(Match("scale.main", Bus.SERIAL, 0x0403, 0x6001, "FT-EVA-1"))
    found.settle(port())
    assert (names(found), found.states()) == ({STRONG: "scale.main"}, {STRONG: "authorized"})


def test_vendor_and_product_alone_are_those_of_a_chip_in_a_thousand_devices() -> None:
    found = bench(Match("scale.main", Bus.SERIAL, 0x0403, 0x6001))
    found.settle(port(), port(serial="", topology="1-2"))
    assert set(found.states().values()) == {"quarantined"}


def test_another_bus_is_another_device() -> None:
    found = bench(Match("scale.main", Bus.SIM, None, None, "FT-EVA-1"))
    found.settle(port())
    assert found.states() == {STRONG: "quarantined"}


def test_two_manifests_that_mean_one_device_get_nothing() -> None:
    found = bench(Match("scale.main", Bus.SERIAL, serial="FT-EVA-1"), Match("other", Bus.SERIAL, serial="FT-EVA-1"))
    found.settle(port())
    assert found.states() == {STRONG: "ambiguous"}
    assert "other, scale.main" in found.fleet.devices[0].reason


def test_what_an_operator_says_comes_first() -> None:
    found = bench(Match("scale.main", Bus.SERIAL, serial="FT-EVA-1"))
    other = port(serial="", topology="1-2")
    found.fleet.bindings = {"serial:0403:6001:t.1-2": "scale.main"}
    found.settle(port(), other)
    assert names(found) == {STRONG: None, "serial:0403:6001:b.scale.main": "scale.main"}


def test_a_clone_gets_no_name() -> None:
    found = bench(Match("scale.main", Bus.SERIAL, serial="FT-EVA-1"))
    found.settle(port(), port(topology="1-2"))
    assert set(found.states().values()) == {"ambiguous"}


def test_a_place_that_is_written_down_tells_twins_apart_and_anything_that_is_plugged_in_there_is_it() -> None:
    found = bench(Match("scale.main", Bus.SERIAL, 0x0403, 0x6001, place="1-2"))
    found.settle(port(serial="", topology="1-1"), port(serial="", topology="1-2", attachment="b1"))
    assert found.states() == {"serial:0403:6001:t.1-1": "ambiguous", "serial:0403:6001:t.1-2": "authorized"}
    other = bench(Match("scale.main", Bus.SERIAL, place="1-2", serial="FT-EVA-1"))
    other.settle(port(topology="1-1"))
    assert set(other.states().values()) == {"quarantined"}


def test_a_manifest_that_fits_several_devices_names_none_of_them() -> None:
    found = bench(Match("scale.main", Bus.SERIAL, place="1-2"))
    found.settle(port(topology="1-2", interface="if0"), port(topology="1-2", interface="if1", serial="FT-EVA-2"))
    assert set(found.states().values()) == {"ambiguous"}
    assert "fits 2 devices" in found.fleet.devices[0].reason


def test_an_address_is_the_device_that_it_leads_to() -> None:
    address = "rfc2217://scales.example.org:4000"
    found = bench(Match("scale.far", Bus.REMOTE, address=address))
    far = Sighting(bus=Bus.REMOTE, topology="scales.example.org:4000", attachment="named", path=address)
    found.settle(far)
    assert found.states() == {"remote:0000:0000:n.scales.example.org~3a4000": "authorized"}
