"""What a step of the tour waits for. Each says how things are, not that they changed: so a step can be done again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evatui.console.screens.page import Page
from evatui.console.screens.typed import Typed
from evatui.demo.edits import SUBJECT
from evatui.demo.step import Condition
from evatui.kernel.model.lifecycle import State

if TYPE_CHECKING:
    from evatui.control.snapshot import CapabilityRow
    from evatui.demo.tour import Tour

__all__ = [
    "APPROVED",
    "ASKED_FOR_THE_NAME",
    "CALL_CUT_OFF",
    "FLIP_FOUND",
    "HELD",
    "NOBODY_NOTICED",
    "NOTHING_REFUSED",
    "PAGE_OPEN",
    "PULLED_DEVICE_SHOWN",
    "REFUSED",
    "SKILLS_SHOWN",
    "TAKEN_BACK",
    "TRIED",
    "VERIFIED",
    "WAITS_FOR_THE_SCALE",
    "answers_by",
    "sees",
    "serves",
]

_SERVED = frozenset({State.ACTIVE, State.DRAINING, State.UNREGISTERED})


def _subject(tour: Tour) -> CapabilityRow | None:
    rows = tour.app.snapshot.capabilities if tour.app.snapshot is not None else ()
    return next((row for row in rows if row.id == SUBJECT), None)


def _beside(tour: Tour, what: str) -> bool:
    row = _subject(tour)
    return row is not None and any(beside.what == what for beside in row.beside)


def answers_by(author: str) -> Condition:
    """The version that serves, by the screen, is the one that signs so, by its answers."""

    def holds(tour: Tour) -> bool:
        row = _subject(tour)
        return row is not None and tour.load.tally.author(row.generation or "") == author

    return Condition(f"version {author} answers", holds, of_answers=True)


def serves(count: int) -> Condition:
    """So many versions of it have served by now, the newest one still does."""

    def holds(tour: Tour) -> bool:
        row = _subject(tour)
        return row is not None and sum(item.state in _SERVED for item in row.generations) >= count

    return Condition(f"{count} versions have served", holds)


def sees(*words: str) -> Condition:
    """On the screen that is in front."""
    return Condition(f"the screen shows {' and '.join(words)}", lambda tour: tour.app.shows(*words))


def _waits_for_the_scale(tour: Tour) -> bool:
    calls = tour.app.snapshot.calls if tour.app.snapshot is not None else ()
    return any(call.capability_id == "scale-report" and call.host_call for call in calls)


NOBODY_NOTICED = Condition(
    "no call was lost and no answer was mixed",
    lambda tour: tour.load.tally.lost == tour.load.tally.mixed == 0,
)
REFUSED = Condition("the save is refused", lambda tour: _beside(tour, "refused"))
NOTHING_REFUSED = Condition(
    "nothing is refused", lambda tour: tour.app.snapshot is not None and not tour.app.snapshot.rejections
)
HELD = Condition("the wider version is held", lambda tour: _beside(tour, "held"))
PAGE_OPEN = Condition("a page is open", lambda tour: isinstance(tour.app.screen, Page))
ASKED_FOR_THE_NAME = Condition("the name is asked for", lambda tour: isinstance(tour.app.screen, Typed))
APPROVED = Condition(
    "the wider version serves",
    lambda tour: not _beside(tour, "held") and bool((row := _subject(tour)) and row.permissions),
)
TAKEN_BACK = Condition(
    "the version on trial is taken back",
    lambda tour: (row := _subject(tour)) is not None and row.on_disk == "quarantined",
)
TRIED = Condition("a version is on trial", lambda tour: _beside(tour, "canary") or TAKEN_BACK.holds(tour))
WAITS_FOR_THE_SCALE = Condition("a call waits for the scale", _waits_for_the_scale)
CALL_CUT_OFF = Condition("the call says that the device went away", lambda tour: "went away" in tour.outside.message)
PULLED_DEVICE_SHOWN = sees("scale.main", "✗ lost")
VERIFIED = Condition("the audit log verifies", lambda tour: tour.outside.verified > 0)
FLIP_FOUND = Condition("the changed record is named", lambda tour: 0 < tour.outside.flipped == tour.outside.named)
SKILLS_SHOWN = sees("write-a-capability")
