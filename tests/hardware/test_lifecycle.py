"""Whatever happens, in whatever order: a device takes only ways that there are, and its generation never goes back."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from evatui.hardware.lifecycle import EDGES, HELD, DeviceState, IllegalEdge, check_edge
from evatui.hardware.sighting import Access
from tests.hardware.bench import RULES, Bench, port

NAME = "serial:0403:6001:s.FT-EVA-1"


def test_every_state_can_be_reached_and_left_and_any_can_be_disabled() -> None:
    reached = {state for onward in EDGES.values() for state in onward}
    assert reached == set(EDGES) == set(DeviceState)
    assert all(onward for onward in EDGES.values())
    assert all(DeviceState.DISABLED in onward for state, onward in EDGES.items() if state is not DeviceState.DISABLED)


def test_nobody_gets_hold_of_a_device_but_by_being_authorized() -> None:
    before = {old for old, onward in EDGES.items() if onward & HELD and old not in HELD}
    assert before == {DeviceState.AUTHORIZED}
    with pytest.raises(IllegalEdge):
        check_edge(DeviceState.QUARANTINED, DeviceState.OPENING)
    with pytest.raises(IllegalEdge):
        check_edge(DeviceState.ABSENT, DeviceState.AUTHORIZED)


class Plugging(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.bench = Bench()
        self.there = {}
        self.generation = 0
        self.plugged = 0

    @rule(place=st.sampled_from(["1-1", "1-2"]), closed=st.booleans())
    def plug(self, place: str, closed: bool) -> None:
        self.plugged += 1
        access = Access(False, "closed", "open it") if closed else Access()
        self.there[place] = port(topology=place, attachment=f"a{self.plugged}", access=access)

    @rule(place=st.sampled_from(["1-1", "1-2"]))
    def unplug(self, place: str) -> None:
        self.there.pop(place, None)

    @rule(after=st.sampled_from([0.001, 0.1, 0.3, 0.5, 2.0, 31.0]))
    def look(self, after: float) -> None:
        self.bench.see(*self.there.values(), after=after)
        for device in self.bench.fleet.devices:
            if device.state is DeviceState.AUTHORIZED:
                assert not device.identity.doubt
                assert device.identity.logical_id or not self.bench.rules.quarantine

    @rule(name=st.booleans())
    def name(self, name: bool) -> None:
        self.bench.fleet.bindings = {NAME: "scale.main"} if name else {}
        self.bench.fleet.again(self.bench.rules, self.bench.moment())

    @rule(quarantine=st.booleans(), allowed=st.booleans())
    def rule_otherwise(self, quarantine: bool, allowed: bool) -> None:
        buses = frozenset({"serial"}) if allowed else frozenset()
        self.bench.rules = replace(RULES, quarantine=quarantine, buses=buses)

    @rule()
    def switch_off(self) -> None:
        self.bench.fleet.disable("serial", self.bench.moment())

    @invariant()
    def only_ways_that_there_are(self) -> None:
        for change in self.bench.changes:
            assert change.old is change.new or change.new in EDGES[change.old]

    @invariant()
    def generations_only_grow(self) -> None:
        now = next((one.generation for one in self.bench.fleet.devices if one.identity.fingerprint == NAME), None)
        now = self.bench.fleet.generation(NAME) if now is None else now
        assert now >= self.generation
        self.generation = now


Plugging.TestCase.settings = settings(max_examples=20, stateful_step_count=30, deadline=None)
TestPlugging = Plugging.TestCase
