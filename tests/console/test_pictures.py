"""How the views look, a picture of each in both sizes. Look at a new one before you take it (``--snapshot-update``)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest
from textual.pilot import Pilot

from evatui.console.app import ConsoleApp
from evatui.console.view.actions import View
from evatui.console.view.words import Look
from evatui.control.deciding import IdleRow, TrustInfo
from evatui.control.snapshot import Beside, ConsoleSnapshot
from tests.console.fake_operator import Answer, FakeOperator
from tests.console.scene import at, held, scene, trust_data


def still() -> ConsoleSnapshot:
    """The scene with nothing that moves by itself: no lit edge, no countdown."""
    rows = tuple(
        replace(row, beside=(Beside(what="draining", number="g41", calls=2),)) if row.id == "repo-summary" else row
        for row in scene().capabilities
    )
    return scene(at=at("14:10:00"), capabilities=rows)


@pytest.mark.parametrize("size", [(80, 24), (120, 36)], ids=["80x24", "120x36"])
@pytest.mark.parametrize("view", list(View))
def test_view(compare: Compare, view: View, size: tuple[int, int]) -> None:
    assert compare(still(), view, size)


@pytest.mark.parametrize("size", [(80, 24), (120, 36)], ids=["80x24", "120x36"])
def test_what_waits(compare: Compare, size: tuple[int, int]) -> None:
    idle = (IdleRow(path="capabilities/OLD.YAML", why="only files whose names end in .yaml or .yml are manifests"),)
    assert compare(replace(still(), rejections=(), held=(held(),), idle=idle), View.REJECTED, size)


def test_the_question_of_an_untrusted_workspace(compare: Compare) -> None:
    trust = TrustInfo(vouched=False, waiting=1)
    untrusted = replace(still(), rejections=(), held=(held(waits_for="trust"),), trust=trust)
    assert compare(untrusted, View.REGISTRY, (80, 24), {"trust.show": trust_data()})


Compare = Callable[..., bool]


@pytest.fixture
def compare(snap_compare: Callable[..., bool], monkeypatch: pytest.MonkeyPatch) -> Compare:
    for name in ("NO_COLOR", "TEXTUAL_THEME", "TEXTUAL_COLOR_SYSTEM"):
        monkeypatch.delenv(name, raising=False)

    def same(
        snapshot: ConsoleSnapshot, view: View, size: tuple[int, int], answers: Mapping[str, Answer] | None = None
    ) -> bool:
        return snap_compare(_posed(snapshot, view, answers), terminal_size=size, run_before=_painted)

    return same


def _posed(snapshot: ConsoleSnapshot, view: View, answers: Mapping[str, Answer] | None) -> ConsoleApp:
    operator = FakeOperator(snapshot, answers)

    async def open_operator() -> FakeOperator:
        return operator

    return ConsoleApp(open_operator, look=Look(picture=True), view=view)


async def _painted(pilot: Pilot[object]) -> None:
    app = pilot.app
    assert isinstance(app, ConsoleApp)
    await app.first_snapshot.wait()
    await app.workers.wait_for_complete()
    await pilot.pause()
