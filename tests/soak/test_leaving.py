"""The whole of leaving: each signal in each state, and a terminal that goes away by itself."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from tests.soak.leaving import SIGNALS, Place, leave

_GONE = (Place.CLOSED, Place.CLOSED_WITHOUT)
_CASES = [*((place, number) for place in Place for number in SIGNALS), *((place, None) for place in _GONE)]


@pytest.mark.parametrize(("place", "number"), _CASES, ids=lambda value: getattr(value, "name", "no signal"))
def test_it_leaves(tmp_path: Path, place: Place, number: signal.Signals | None) -> None:
    left = leave(tmp_path, place, number)
    # A terminal that goes away is a hang-up: beside another signal, whichever is heard first.
    heard = {number or signal.SIGHUP, signal.SIGHUP} if place in _GONE else {number}
    assert left.code in {128 + one for one in heard if one is not None}
    assert left.audit_closed
    assert left.modes_restored is not False
    assert left.plain is not False
    assert left.orphans == ()
    assert not left.traceback
