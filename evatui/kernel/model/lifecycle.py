"""The state machine of a generation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from types import MappingProxyType

__all__ = ["TRANSITIONS", "IllegalTransition", "State", "capability_state", "check_transition"]


class State(StrEnum):
    PENDING = "PendingValidation"
    SHADOW = "ShadowLoaded"
    ACTIVE = "Active"
    DRAINING = "Draining"
    DISABLED = "Disabled"
    REJECTED = "Rejected"
    UNREGISTERED = "Unregistered"


TRANSITIONS: Mapping[State, frozenset[State]] = MappingProxyType(
    {
        State.PENDING: frozenset({State.SHADOW, State.REJECTED, State.DISABLED}),
        State.SHADOW: frozenset({State.ACTIVE, State.REJECTED, State.UNREGISTERED}),
        State.ACTIVE: frozenset({State.DRAINING}),
        State.DRAINING: frozenset({State.UNREGISTERED, State.DISABLED}),
        State.REJECTED: frozenset({State.PENDING, State.UNREGISTERED}),
        State.DISABLED: frozenset({State.PENDING, State.UNREGISTERED}),
        State.UNREGISTERED: frozenset(),
    }
)


class IllegalTransition(Exception):
    """An edge that is not in `TRANSITIONS`: a defect in the caller, never a user's mistake."""

    def __init__(self, old: State, new: State) -> None:
        super().__init__(f"{old} -> {new} is not an edge of the state machine")
        self.old = old
        self.new = new


def check_transition(old: State, new: State) -> None:
    """Raises `IllegalTransition` unless ``old -> new`` is an edge."""
    if new not in TRANSITIONS[old]:
        raise IllegalTransition(old, new)


def capability_state(generations: Iterable[State]) -> State:
    """What a capability shows: Active if one of its generations is, else Draining, else its newest one's.

    ``generations`` are ordered oldest first. A capability without any is Unregistered.
    """
    states = tuple(generations)
    for shown in (State.ACTIVE, State.DRAINING):
        if shown in states:
            return shown
    return states[-1] if states else State.UNREGISTERED
