"""How the views look, a picture of each in both sizes. Look at a new one before you take it (``--snapshot-update``)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from textual.pilot import Pilot

from evatui.console.app import ConsoleApp
from evatui.console.view.actions import View
from evatui.console.view.words import Look
from evatui.control.snapshot import Beside, ConsoleSnapshot
from tests.console.fake_operator import FakeOperator
from tests.console.scene import at, scene


def still() -> ConsoleSnapshot:
    """The scene with nothing that moves by itself: no lit edge, no countdown."""
    rows = tuple(
        replace(row, beside=(Beside(what="draining", number="g41", calls=2),)) if row.id == "repo-summary" else row
        for row in scene().capabilities
    )
    return scene(at=at("14:10:00"), capabilities=rows)


@pytest.mark.parametrize("size", [(80, 24), (120, 36)], ids=["80x24", "120x36"])
@pytest.mark.parametrize("view", list(View))
def test_view(
    snap_compare: Callable[..., bool], monkeypatch: pytest.MonkeyPatch, view: View, size: tuple[int, int]
) -> None:
    for name in ("NO_COLOR", "TEXTUAL_THEME", "TEXTUAL_COLOR_SYSTEM"):
        monkeypatch.delenv(name, raising=False)
    operator = FakeOperator(still())

    async def open_operator() -> FakeOperator:
        return operator

    app = ConsoleApp(open_operator, look=Look(picture=True), view=view)

    async def painted(pilot: Pilot[object]) -> None:
        await app.first_snapshot.wait()
        await pilot.pause()

    assert snap_compare(app, terminal_size=size, run_before=painted)
