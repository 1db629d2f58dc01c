"""What a step of the tour waits for. Each says how things are, not that they changed: so a step can be done again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evatui.console.screens.page import Page
from evatui.console.screens.typed import Typed
from evatui.demo.edits import SUBJECT
from evatui.demo.scene import Condition, Scene
from evatui.kernel.model.lifecycle import State

if TYPE_CHECKING:
    from evatui.control.snapshot import CapabilityRow

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


def _subject(scene: Scene) -> CapabilityRow | None:
    rows = scene.app.snapshot.capabilities if scene.app.snapshot is not None else ()
    return next((row for row in rows if row.id == SUBJECT), None)


def _beside(scene: Scene, what: str) -> bool:
    row = _subject(scene)
    return row is not None and any(beside.what == what for beside in row.beside)


def answers_by(author: str) -> Condition:
    """The version that serves, by the screen, is the one that signs so, by its answers."""

    def holds(scene: Scene) -> bool:
        row = _subject(scene)
        return row is not None and scene.load.tally.author(row.generation or "") == author

    return Condition(f"version {author} answers", holds, of_answers=True)


def serves(count: int) -> Condition:
    """So many versions of it have served by now, the newest one still does."""

    def holds(scene: Scene) -> bool:
        row = _subject(scene)
        return row is not None and sum(item.state in _SERVED for item in row.generations) >= count

    return Condition(f"{count} versions have served", holds)


def sees(*words: str) -> Condition:
    """On the screen that is in front."""
    return Condition(f"the screen shows {' and '.join(words)}", lambda scene: scene.app.shows(*words))


def _waits_for_the_scale(scene: Scene) -> bool:
    calls = scene.app.snapshot.calls if scene.app.snapshot is not None else ()
    return any(call.capability_id == "scale-report" and call.host_call for call in calls)


NOBODY_NOTICED = Condition(
    "no call was lost and no answer was mixed",
    lambda scene: scene.load.tally.lost == scene.load.tally.mixed == 0,
)
REFUSED = Condition("the save is refused", lambda scene: _beside(scene, "refused"))
NOTHING_REFUSED = Condition(
    "nothing is refused", lambda scene: scene.app.snapshot is not None and not scene.app.snapshot.rejections
)
HELD = Condition("the wider version is held", lambda scene: _beside(scene, "held"))
PAGE_OPEN = Condition("a page is open", lambda scene: isinstance(scene.app.screen, Page))
ASKED_FOR_THE_NAME = Condition("the name is asked for", lambda scene: isinstance(scene.app.screen, Typed))
APPROVED = Condition(
    "the wider version serves",
    lambda scene: not _beside(scene, "held") and bool((row := _subject(scene)) and row.permissions),
)
TAKEN_BACK = Condition(
    "the version on trial is taken back",
    lambda scene: (row := _subject(scene)) is not None and row.on_disk == "quarantined",
)
TRIED = Condition("a version is on trial", lambda scene: _beside(scene, "canary") or TAKEN_BACK.holds(scene))
WAITS_FOR_THE_SCALE = Condition("a call waits for the scale", _waits_for_the_scale)
CALL_CUT_OFF = Condition("the call says that the device went away", lambda scene: "went away" in scene.outside.message)
PULLED_DEVICE_SHOWN = sees("scale.main", "✗ lost")
VERIFIED = Condition("the audit log verifies", lambda scene: scene.outside.verified > 0)
FLIP_FOUND = Condition("the changed record is named", lambda scene: 0 < scene.outside.flipped == scene.outside.named)
SKILLS_SHOWN = sees("write-a-capability")
