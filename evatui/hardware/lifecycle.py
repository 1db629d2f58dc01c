"""The states of a device, and the only ways from one to another."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final

__all__ = ["EDGES", "HELD", "JUDGED", "THERE", "DeviceState", "IllegalEdge", "check_edge"]


class DeviceState(StrEnum):
    ABSENT = "absent"
    SETTLING = "settling"
    """It was plugged in less than a moment ago."""
    PRESENT = "present"
    QUARANTINED = "quarantined"
    """Nobody knows it: it is listed, and nothing more."""
    AMBIGUOUS = "ambiguous"
    """It may be another device than it seems; which one is for a person to say."""
    DENIED = "denied"
    NO_ACCESS = "no_access"
    """The operating system would not let this process open it."""
    AUTHORIZED = "authorized"
    OPENING = "opening"
    HANDSHAKING = "handshaking"
    ONLINE = "online"
    DEGRADED = "degraded"
    """Open, and not answering as it should."""
    LOST = "lost"
    """It went away and is expected back."""
    DISABLED = "disabled"


_S = DeviceState

JUDGED: Final = frozenset({_S.QUARANTINED, _S.AMBIGUOUS, _S.DENIED, _S.NO_ACCESS, _S.AUTHORIZED})
"""It is there, and whether it may be used is decided."""
HELD: Final = frozenset({_S.OPENING, _S.HANDSHAKING, _S.ONLINE, _S.DEGRADED})
"""Somebody has it."""
THERE: Final = JUDGED | HELD | {_S.PRESENT}

_GONE = frozenset({_S.LOST, _S.ABSENT})
_DECIDED = {state: (JUDGED | _GONE | {_S.PRESENT}) - {state} for state in JUDGED}

EDGES: Final[Mapping[DeviceState, frozenset[DeviceState]]] = MappingProxyType(
    {
        state: onward | ({_S.DISABLED} if state is not _S.DISABLED else frozenset())
        for state, onward in {
            _S.ABSENT: frozenset({_S.SETTLING, _S.PRESENT}),  # at once: it was there before the runtime started
            _S.SETTLING: frozenset({_S.PRESENT}) | _GONE,
            _S.PRESENT: JUDGED | _GONE,
            **_DECIDED,
            _S.AUTHORIZED: _DECIDED[_S.AUTHORIZED] | {_S.OPENING},
            _S.OPENING: frozenset({_S.HANDSHAKING, _S.PRESENT}) | _GONE,
            _S.HANDSHAKING: frozenset({_S.ONLINE, _S.PRESENT}) | _GONE,
            _S.ONLINE: frozenset({_S.DEGRADED, _S.PRESENT}) | _GONE,
            _S.DEGRADED: frozenset({_S.ONLINE, _S.PRESENT}) | _GONE,
            _S.LOST: frozenset({_S.SETTLING, _S.ABSENT}),
            _S.DISABLED: frozenset({_S.ABSENT}),
        }.items()
    }
)
"""Whoever lets go of a device leaves it ``present``, to be judged anew: an absent one does not come back by that."""


class IllegalEdge(Exception):
    """There is no such way; the device is as it was."""

    def __init__(self, old: DeviceState, new: DeviceState) -> None:
        super().__init__(f"no way from {old} to {new}")
        self.old = old
        self.new = new


def check_edge(old: DeviceState, new: DeviceState) -> None:
    """Raises `IllegalEdge`."""
    if new not in EDGES[old]:
        raise IllegalEdge(old, new)
