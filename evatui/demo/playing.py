"""From the options of ``evatui --demo`` to its exit code."""

from __future__ import annotations

from functools import partial

from textual.pilot import Pilot

from evatui.console.launch import launch, pose, say
from evatui.console.view.words import Look
from evatui.control.opening import operator_actor
from evatui.demo.app import DemoApp, Play
from evatui.demo.ground import Ground
from evatui.demo.load import Load
from evatui.demo.outside import Outside
from evatui.demo.step import Step
from evatui.demo.tally import Tally
from evatui.kernel.model.call import CallerType
from evatui.kernel.model.clock import SYSTEM_CLOCK

__all__ = ["play"]


def play(*, pace: float, size: tuple[int, int], look: Look, theme: str | None, mouse: bool) -> int:
    """On this terminal; with a ``pace`` of 0 without one, at ``size``, to its end. Returns the exit code."""
    ground = Ground(SYSTEM_CLOCK, operator_actor(CallerType.USER))
    try:
        app = DemoApp(
            partial(_begin, ground),
            _say if pace == 0 else _nothing,
            workspace=ground.root,
            pace=pace,
            look=look,
            theme=theme,
        )
        return _alone(app, size) if pace == 0 else launch(app, mouse=mouse)
    finally:
        ground.close()


async def _begin(ground: Ground) -> Play:
    operator = await ground.open()
    load = Load(operator)
    return operator, load, Outside(ground, operator, load.tally, timed=True)


def _alone(app: DemoApp, size: tuple[int, int]) -> int:
    async def watch(pilot: Pilot[object]) -> None:
        await app.first_snapshot.wait()
        if app.snapshot is not None:
            await app.over.wait()
            app.exit()

    code = pose(app, size, watch)
    if app.load is not None:
        say(_summed_up(app.load.tally))
    if app.failed is not None:
        say(f"error: {app.failed}")
        return 1
    return code


async def _say(step: Step) -> None:
    say(f"✓ {step.name}: {step.caption}")


async def _nothing(step: Step) -> None:
    """The screen says it."""


def _summed_up(tally: Tally) -> str:
    answered = f"calls {tally.calls:,} · lost {tally.lost} · mixed {tally.mixed}"
    return f"{answered} · errors {tally.errors}, of the version on trial"
