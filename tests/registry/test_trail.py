"""Every edge is in the transition table, and the counts are those of the generations."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evatui.kernel.model.lifecycle import TRANSITIONS, IllegalTransition, State, capability_state
from evatui.kernel.registry.trail import Trail


def step(trail: Trail, old: State | None, new: State) -> None:
    trail.step("scale", old, new, at="2026-01-02T03:04:05.678Z", actor="ann")


@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from(State)), max_size=60))
def test_counts_follow_any_walk_through_the_table(walk: list[tuple[int, State]]) -> None:
    trail, states = Trail(), {}
    for generation, wanted in walk:
        old = states.get(generation)
        legal = wanted in TRANSITIONS[old] if old else wanted is State.PENDING
        if legal:
            step(trail, old, wanted)
            states[generation] = wanted
        else:
            with pytest.raises(IllegalTransition):
                step(trail, old, wanted)
    assert {state: n for state, n in trail.counts.items() if n} == Counter(states.values())


def test_the_newest_edges_are_kept_and_numbered() -> None:
    trail = Trail()
    for _ in range(40):
        step(trail, None, State.PENDING)
        step(trail, State.PENDING, State.REJECTED)
    seqs = [edge.seq for edge in trail.recent]
    assert seqs == list(range(31, 81))
    assert [edge.seq for edge in trail.of("scale")] == list(range(69, 81))


@pytest.mark.parametrize(
    ("generations", "shown"),
    [
        ([], State.UNREGISTERED),
        ([State.REJECTED], State.REJECTED),
        ([State.ACTIVE, State.REJECTED], State.ACTIVE),
        ([State.DRAINING, State.ACTIVE], State.ACTIVE),
        ([State.DRAINING, State.REJECTED], State.DRAINING),
        ([State.DISABLED, State.REJECTED], State.REJECTED),
    ],
)
def test_a_capability_shows_the_state_that_matters_most(generations: list[State], shown: State) -> None:
    assert capability_state(generations) is shown
