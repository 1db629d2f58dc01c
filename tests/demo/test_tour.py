"""The tour on a real runtime: played to its end by the program, interrupted by a person, and stopped by a failure."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot

from evatui.__main__ import main
from evatui.console.view.action import View
from evatui.console.view.ink import plain
from evatui.console.view.words import Look
from evatui.demo import conditions as so
from evatui.demo import scene
from evatui.demo.acts import view
from evatui.demo.app import DemoApp, Play
from evatui.demo.banded import Band
from evatui.demo.ground import Ground
from evatui.demo.load import Load
from evatui.demo.outside import Outside
from evatui.demo.scene import Condition
from evatui.demo.step import Step
from evatui.demo.steps import STEPS
from evatui.kernel.model.call import Actor, CallerType
from evatui.kernel.model.clock import SYSTEM_CLOCK

ROOT = Path(__file__).parents[2]
NEVER = Condition("pigs fly", lambda tour: False)


def step(name: str, *until: Condition, where: View = View.REGISTRY) -> Step:
    return Step(name=name, intro=f"{name} begins", acts=(view(where),), until=until, caption=f"{name} is done", calls=2)


@pytest.mark.slow
@pytest.mark.parametrize("size", ["80x24", "120x36"])
def test_the_whole_tour_plays_without_a_terminal_loses_no_call_and_leaves_nothing_behind(
    size: str, tmp_path: Path
) -> None:
    home, temporary = tmp_path / "home", tmp_path / "temporary"
    home.mkdir()
    temporary.mkdir()
    env = {name: value for name, value in os.environ.items() if not name.startswith(("EVA_", "XDG_"))}
    done = subprocess.run(
        [sys.executable, "-m", "evatui", "--demo", "--pace", "0", "--size", size],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=250,
        cwd=tmp_path,
        env={**env, "HOME": str(home), "TMPDIR": str(temporary), "PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 0, done.stderr
    told = done.stderr.splitlines()
    assert [text.partition(":")[0] for text in told if text.startswith("✓")] == [f"✓ {step.name}" for step in STEPS]
    assert [text for text in told if text.startswith("calls ") and "lost 0 · mixed 0" in text]
    assert [*home.rglob("*"), *temporary.rglob("*")] == []


@pytest.fixture
def ground() -> Ground:
    return Ground(SYSTEM_CLOCK, Actor(CallerType.USER, "ann"))


@asynccontextmanager
async def playing_on(ground: Ground, *steps: Step) -> AsyncIterator[tuple[DemoApp, Pilot[object]]]:
    opened: list[Play] = []

    async def begin() -> Play:
        operator = await ground.open()
        load = Load(operator, steps=True)
        opened.append((operator, load, Outside(ground, operator, load.tally, timed=True)))
        return opened[0]

    async def told(step: Step) -> None: ...

    app = DemoApp(begin, told, workspace=ground.root, pace=0, look=Look(), steps=steps)
    try:
        async with asyncio.timeout(120), app.run_test(size=(80, 24)) as pilot:
            yield app, pilot
        for operator, _, _ in opened:
            await operator.close()
    finally:
        ground.close()


def said(app: DemoApp) -> str:
    """On the band of the screen in front."""
    return "\n".join(plain(line) for line in app.screen.query_one(Band).lines)


async def comes(pilot: Pilot[object], holds: Callable[[], bool]) -> None:
    while not holds():
        await pilot.pause(0.01)


async def test_a_key_stops_it_and_hands_over_and_another_lets_it_go_on(ground: Ground) -> None:
    gate = asyncio.Event()
    steps = (
        step("first", Condition("the gate is open", lambda tour: gate.is_set()), where=View.AUDIT),
        step("second", so.NOBODY_NOTICED, where=View.DEVICES),
    )
    async with playing_on(ground, *steps) as (app, pilot):
        await comes(pilot, lambda: "first begins" in said(app) and app.view is View.AUDIT)
        assert "SIM" in plain(app.frame.header.lines[0])
        await pilot.press("x")
        assert "ctrl+g goes on" in said(app)
        await pilot.press("7")
        await comes(pilot, lambda: app.view is View.EXTENSIONS)
        gate.set()
        await pilot.press("question_mark")
        await comes(pilot, lambda: len(app.screen_stack) == 2)
        assert "ctrl+g goes on" in said(app)  # above a dialog too
        await pilot.press("ctrl+g")
        await comes(pilot, app.over.is_set)
        assert app.failed is None
        assert (app.view, len(app.screen_stack)) == (View.DEVICES, 1)
        assert "yours: any key" in said(app)
        await pilot.press("1")
        await comes(pilot, lambda: app.view is View.REGISTRY)
        assert "load in steps · calls 4 · lost 0 · mixed 0" in said(app)


async def test_a_condition_that_does_not_come_names_its_step(ground: Ground, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scene, "LIMIT_S", 0.2)
    async with playing_on(ground, step("impossible", NEVER), step("after it", so.NOBODY_NOTICED)) as (app, pilot):
        await comes(pilot, app.over.is_set)
        assert str(app.failed) == "step impossible: it is not so that pigs fly"
        assert "step impossible" in said(app)


async def test_what_breaks_on_the_way_names_its_step_too(ground: Ground) -> None:
    broken = Condition("there is one", lambda tour: bool([][0]))
    async with playing_on(ground, step("broken", broken), step("after it", so.NOBODY_NOTICED)) as (app, pilot):
        await comes(pilot, app.over.is_set)
        assert str(app.failed) == "step broken: it is not so that nothing breaks (IndexError)"


@pytest.mark.parametrize("words", [(".",), ("--attach",), ("--screenshot", "unused.svg"), ("--view", "audit")])
def test_it_has_a_workspace_of_its_own(
    words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["evatui", "--demo", "--pace", "0", *words])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 64
    assert "--demo has a workspace" in capsys.readouterr().err
