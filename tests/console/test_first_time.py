"""A person who has never seen it, on a real runtime: every key that is pressed stands on the screen at that moment."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from evatui.console.app import ConsoleApp
from evatui.console.screens import dialog as dialogs
from evatui.console.screens.dialog import Dialog
from evatui.control.opening import OpenMode, open_workspace
from evatui.control.operator import Operator
from evatui.kernel.model.call import Actor, CallerType
from tests.support.pilots import press
from tests.support.workspaces import GREETER, SCRIPT, save, tool, write

SPIN = "function invoke(ctx, request) while true do end end"
BROKEN = SCRIPT + "\nfunction oops("


class Person:
    """Presses only what is shown: `press` refuses a key that stands nowhere on the screen."""

    def __init__(self, app: ConsoleApp, pilot: Pilot[Any], operator: Operator) -> None:
        self.app, self.pilot, self.operator = app, pilot, operator
        self.pressed = 0

    @property
    def screen(self) -> str:
        strips = self.app.screen._compositor.render_strips()
        return "\n".join("".join(segment.text for segment in strip) for strip in strips)

    async def sees(self, *said: str) -> None:
        end = asyncio.get_running_loop().time() + 60
        while not all(word in self.screen for word in said):
            assert asyncio.get_running_loop().time() < end, f"{said} in\n{self.screen}"
            await self.pilot.pause(0.01)

    async def press(self, key: str, shown: str) -> None:
        """``shown`` is the hint with the key, as it stands there."""
        await self.sees(shown)
        dialog = self.app.screen
        while isinstance(dialog, Dialog) and not dialog.armed:
            await self.pilot.pause(0.01)
        await press(self.pilot, key)
        self.pressed += 1

    async def types(self, text: str) -> None:
        await press(self.pilot, *text)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    root = tmp_path / "ws"
    write(root, {**GREETER, **tool("spin", SPIN, limits="{timeout_ms: 60000}", reload="{drain_timeout_ms: 300}")})
    return root


@pytest.fixture
def begin(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], Any]:
    monkeypatch.setattr(dialogs, "ARM_AFTER_S", 0.02)

    @asynccontextmanager
    async def begun() -> AsyncIterator[Person]:
        actor = Actor(CallerType.USER, "ann")
        operator = await open_workspace(workspace, state_dir=None, mode=OpenMode.HOLD, actor=actor)

        async def opened() -> Operator:
            return operator

        app = ConsoleApp(opened, workspace=workspace)
        async with asyncio.timeout(120), app.run_test(size=(80, 24)) as pilot:
            person = Person(app, pilot, operator)
            await person.sees("● Active", "greet")
            yield person
        await operator.close()

    return begun


async def test_finds_why_a_manifest_was_refused_within_three_keys_and_repairs_it(
    begin: Callable[[], Any], workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The editor is one that repairs: it writes the sound script over the file that it is given."""
    sound = tmp_path / "sound.lua"
    sound.write_text(SCRIPT.replace("one", "two"))
    editor = tmp_path / "editor"
    editor.write_text(f'#!/bin/sh\nfor file; do :; done\ncat {sound} > "$file"\n')
    editor.chmod(0o755)
    monkeypatch.setenv("EDITOR", str(editor))
    monkeypatch.delenv("VISUAL", raising=False)
    async with begin() as person:
        save(workspace, "capabilities/tools/greet.lua", BROKEN)
        await person.press("3", "3 Rej")
        await person.sees("EVA-5", "greet.lua:")
        assert person.pressed <= 3
        suspended: list[str] = []

        def without_terminal(argv: list[str]) -> None:
            suspended.extend(argv)
            os.spawnv(os.P_WAIT, argv[0], argv)

        monkeypatch.setattr("evatui.console.reading.Reading._run_editor", lambda _, argv: without_terminal(argv))
        await person.press("e", "e editor")
        assert suspended[-1].endswith("greet.lua")
        await person.sees("Nothing is refused")


async def test_rolls_back_within_four_keys_and_the_confirmation(begin: Callable[[], Any], workspace: Path) -> None:
    async with begin() as person:
        save(workspace, "capabilities/tools/greet.lua", SCRIPT.replace("one", "two"))
        await person.sees("R roll back")
        await person.press("R", "R roll back")
        await person.press("enter", "enter choose")
        await person.sees("serves again", "The version on disk is held")
        assert person.pressed <= 4
        await person.press("y", "y roll back")
        await person.sees("✓ rolled back greet")
        answer = await person.operator.run("capability.call", name="text.greet", payload={"name": "bob"})
        assert answer["response"]["result"]["by"] == "one"


async def test_drains_sees_who_is_waited_for_and_takes_it_back(begin: Callable[[], Any]) -> None:
    async with begin() as person:
        call = asyncio.create_task(person.operator.run("capability.call", name="test.spin", payload={}))
        await person.sees("1 call ")
        await person.types("j")
        await person.press("x", "x drain")
        await person.sees("Drain spin?", "1 call is waited for at most until")
        await person.press("y", "y drain")
        await person.sees("✓ drained spin", "1 call cut", "z undo", "⊘ Disabled")
        assert (await call)["response"]["error"]["kind"] == "Cancelled"
        await person.press("z", "z undo")
        await person.sees("It is undone by switching it on")
        await person.press("enter", "enter undo")
        await person.sees("✓ undid the last order for spin")


async def test_calls_a_capability_by_form(begin: Callable[[], Any]) -> None:
    async with begin() as person:
        await person.press("c", "c call")
        await person.sees("Call greet", "name")
        await person.types("bob")
        await person.sees('{"name": "bob"}')
        await person.press("ctrl+s", "ctrl+s send")
        await person.sees("hello bob")
        await person.press("escape", "esc back")


async def test_the_story_of_a_thing_is_found_by_its_word(begin: Callable[[], Any]) -> None:
    async with begin() as person:
        await person.press("question_mark", "? help")
        await person.sees("to search")
        await person.types("how it came")
        await person.press("enter", "enter run")
        await person.sees("Why greet", "serves since", "the disk holds the same")
