"""How the views look, a picture of each in both sizes. Look at a new one before you take it (``--snapshot-update``)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import pytest
from textual.pilot import Pilot

from evatui.console import stage
from evatui.console.app import ConsoleApp
from evatui.console.rest import at_rest
from evatui.console.screens import dialog as dialogs
from evatui.console.settings import Settings
from evatui.console.view.actions import View
from evatui.console.view.words import Look
from evatui.control.deciding import IdleRow, TrustInfo
from evatui.control.snapshot import Beside, ConsoleSnapshot
from tests.console.fake_operator import Answer, FakeOperator
from tests.console.scene import at, held, scene, trust_data
from tests.console.test_call_form import INSPECTED
from tests.console.test_comparing import DATA
from tests.console.test_devices import DATA as DEVICES
from tests.support.pilots import press, still


def unmoved() -> ConsoleSnapshot:
    """The scene with nothing that moves by itself: no lit edge, no countdown."""
    rows = tuple(
        replace(row, beside=(Beside(what="draining", number="g41", calls=2),)) if row.id == "repo-summary" else row
        for row in scene().capabilities
    )
    return scene(at=at("14:10:00"), capabilities=rows)


@pytest.mark.parametrize("size", [(80, 24), (120, 36)], ids=["80x24", "120x36"])
@pytest.mark.parametrize("view", list(View))
def test_view(compare: Compare, view: View, size: tuple[int, int]) -> None:
    assert compare(unmoved(), view, size)


@pytest.mark.parametrize("size", [(80, 24), (120, 36)], ids=["80x24", "120x36"])
def test_what_waits(compare: Compare, size: tuple[int, int]) -> None:
    idle = (IdleRow(path="capabilities/OLD.YAML", why="only files whose names end in .yaml or .yml are manifests"),)
    assert compare(replace(unmoved(), rejections=(), held=(held(),), idle=idle), View.REJECTED, size)


def test_the_question_of_an_untrusted_workspace(compare: Compare) -> None:
    trust = TrustInfo(vouched=False, waiting=1)
    untrusted = replace(unmoved(), rejections=(), held=(held(waits_for="trust"),), trust=trust)
    assert compare(untrusted, View.REGISTRY, (80, 24), {"trust.show": trust_data()})


@pytest.mark.parametrize("page", ["registry", "diff"])
@pytest.mark.parametrize("wears", ["200x60", "light", "no-color", "ascii"])
def test_other_terminals(compare: Compare, monkeypatch: pytest.MonkeyPatch, page: str, wears: str) -> None:
    size = (200, 60) if wears == "200x60" else (80, 24)
    look = Look(picture=True, ascii=wears == "ascii")
    theme = "evatui-light" if wears == "light" else None
    view, keys = (View.REGISTRY, ()) if page == "registry" else (View.RELOADS, ("k", "enter"))
    if wears == "no-color":
        monkeypatch.setenv("NO_COLOR", "1")
    assert compare(unmoved(), view, size, {"capability.diff": DATA}, look=look, theme=theme, keys=keys)


@pytest.mark.parametrize(
    ("dialog", "keys"), [("menu", "a"), ("rollback", "R enter"), ("form", "c s r c")], ids=["menu", "rollback", "form"]
)
def test_a_dialog(compare: Compare, monkeypatch: pytest.MonkeyPatch, dialog: str, keys: str) -> None:
    monkeypatch.setattr(dialogs, "ARM_AFTER_S", 0.0)
    answers = {"capability.diff": DATA, "capability.inspect": INSPECTED}
    assert compare(unmoved(), View.REGISTRY, (80, 24), answers, keys=("j", "j", "j", *keys.split()))


def test_devices_on_a_broad_screen(compare: Compare) -> None:
    assert compare(unmoved(), View.DEVICES, (200, 60), {"hardware.list": DEVICES})


Compare = Callable[..., bool]


@pytest.fixture
def compare(snap_compare: Callable[..., bool], monkeypatch: pytest.MonkeyPatch) -> Compare:
    for name in ("NO_COLOR", "TEXTUAL_THEME", "TEXTUAL_COLOR_SYSTEM"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(stage, "time", SimpleNamespace(monotonic=lambda: 0.0))  # how long it takes is not to be seen

    def same(
        snapshot: ConsoleSnapshot,
        view: View,
        size: tuple[int, int],
        answers: Mapping[str, Answer] | None = None,
        *,
        look: Look | None = None,
        theme: str | None = None,
        keys: Sequence[str] = (),
    ) -> bool:
        app = _posed(snapshot, view, answers, look or Look(picture=True), theme)
        return snap_compare(app, terminal_size=size, run_before=partial(_painted, keys))

    return same


def _posed(
    snapshot: ConsoleSnapshot, view: View, answers: Mapping[str, Answer] | None, look: Look, theme: str | None
) -> ConsoleApp:
    operator = FakeOperator(snapshot, answers)

    async def open_operator() -> FakeOperator:
        return operator

    return ConsoleApp(open_operator, look=look, settings=Settings(theme=theme, view=view))


async def _painted(keys: Sequence[str], pilot: Pilot[object]) -> None:
    app = pilot.app
    assert isinstance(app, ConsoleApp)
    await app.first_snapshot.wait()
    await at_rest(app)
    await still(pilot)
    for key in keys:
        await press(pilot, key)
        await at_rest(app)
        await still(pilot)
