"""How far calls have come: beside the list, on a short screen, and in the form that made one."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evatui.console.app import ConsoleApp
from evatui.console.view.detail import brief, preview
from evatui.console.view.ink import measure, plain
from evatui.console.view.under_way import progress_line, under_way
from evatui.console.view.words import Look
from evatui.control.opening import OpenMode, open_workspace
from evatui.control.operator import Operator
from evatui.control.snapshot import CallRow
from evatui.kernel.model.call import Actor, CallerType
from evatui.kernel.model.progress import Progress
from tests.console.conftest import Console, OpenConsole
from tests.console.scene import scene
from tests.support.pilots import press
from tests.support.workspaces import tool, write

LOOK = Look(picture=True)
SLOW = """
function invoke(ctx, request)
  ctx.host.progress{done = 1, total = 2, message = "reading"}
  while true do end
end
"""


def calls(*told: Progress | None, host_call: str = "") -> tuple[CallRow, ...]:
    (one,) = scene().calls
    return tuple(replace(one, request_id=f"req_{n}", progress=p, host_call=host_call) for n, p in enumerate(told))


def text_of(lines: list[Any]) -> str:
    return "\n".join(plain(line) for line in lines)


def test_progress_is_a_bar_and_words() -> None:
    assert plain(progress_line(Progress(3, 8, "src"))) == "━━━───── 37 %  3 of 8  src"
    assert plain(progress_line(Progress(0, 8))) == "──────── 0 %  0 of 8"
    assert plain(progress_line(Progress(8, 8))) == "━━━━━━━━ 100 %  8 of 8"
    assert plain(progress_line(Progress(40, message="files"))) == "40 done  files"


def test_the_preview_lists_the_calls_that_have_something_to_tell() -> None:
    row = next(row for row in scene().capabilities if row.id == "repo-summary")
    assert "rico" not in text_of(preview(row, 60, LOOK, calls=calls(None)))
    shown = preview(row, 60, LOOK, calls=calls(Progress(1, 2, "reading " * 20), host_call="fs_list docs"))
    assert "8 s left\n━━━━──── 50 %  1 of 2  reading" in text_of(shown)
    assert "in fs_list docs  14:02:10 g42 rico" in " ".join(text_of(shown).split("\n  "))
    assert all(measure(line) <= 60 for line in shown)
    assert plain(under_way(calls(*[Progress(1)] * 8), LOOK)[-1]) == "and 3 more"


def test_a_short_screen_shows_the_oldest_progress() -> None:
    row = next(row for row in scene().capabilities if row.id == "repo-summary")
    assert "━━━━──── 50 %  1 of 2  g" not in text_of(brief(row, 80, LOOK))
    assert text_of(brief(row, 80, LOOK, calls=calls(None, Progress(1, 2)))).splitlines()[1].startswith("━━━━──── 50 %")


@pytest.mark.parametrize("size", [(120, 36), (80, 24)])
async def test_the_registry_shows_the_progress_of_the_selected_capability(
    console: OpenConsole, size: tuple[int, int]
) -> None:
    async with console(scene(calls=calls(Progress(1, 2, "reading"))), size=size) as it:
        assert "50 %" not in it.screen
        it.app.pane.rows.move_to("repo-summary")
        await it.settle()
        assert "50 %  1 of 2" in it.screen


async def test_the_form_shows_how_far_its_call_is(tmp_path: Path) -> None:
    write(tmp_path, tool("slow", SLOW, limits="{timeout_ms: 60000}"))
    opened: list[Operator] = []

    async def open_operator() -> Operator:
        actor = Actor(CallerType.USER, "ann")
        opened.append(await open_workspace(tmp_path, state_dir=None, mode=OpenMode.HOLD, actor=actor))
        return opened[0]

    app = ConsoleApp(open_operator, look=LOOK)
    async with app.run_test(size=(120, 36)) as pilot:
        async with asyncio.timeout(100):
            await app.first_snapshot.wait()
            it = Console(app, opened[0], pilot)  # type: ignore[arg-type]
            await press(pilot, "c")
            while app.screen_stack[-1] is app.screen_stack[0]:
                await pilot.pause(0.02)
            await press(pilot, "ctrl+s")
            while "… calling  ━━━━──── 50 %  1 of 2  reading" not in it.screen:
                await pilot.pause(0.05)
        opened[0].cut()
