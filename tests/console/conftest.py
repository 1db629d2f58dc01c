from __future__ import annotations

import math
import os
from collections.abc import AsyncIterator, Callable, Hashable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet
from textual.pilot import Pilot

from evatui.console.app import ConsoleApp
from evatui.console.rest import at_rest
from evatui.console.screens import dialog as dialogs
from evatui.console.screens.dialog import Dialog
from evatui.console.settings import Settings
from evatui.console.view.actions import View
from evatui.console.view.ink import plain
from evatui.console.view.words import Look
from evatui.console.widgets.lines import Lines
from evatui.control.snapshot import ConsoleSnapshot
from tests.console.fake_operator import Answer, FakeOperator
from tests.console.scene import scene
from tests.support.pilots import press, still


@dataclass(frozen=True)
class Console:
    """A console on a screen without a terminal, its fake runtime, and what a person would do and see."""

    app: ConsoleApp
    operator: FakeOperator
    pilot: Pilot[Any]

    async def press(self, *keys: str) -> None:
        await press(self.pilot, *keys)
        await self.settle()

    async def settle(self) -> None:
        await still(self.pilot)
        await at_rest(self.app, lambda worker: self.operator.gate is None or self.operator.gate.is_set())
        await still(self.pilot)

    async def armed(self) -> Dialog[Any]:
        """The dialog on top, once it takes a confirming key."""
        dialog = self.dialog
        while not dialog.armed:
            await self.pilot.pause(0.02)
        return dialog

    @property
    def dialog(self) -> Dialog[Any]:
        dialog = self.app.screen
        assert isinstance(dialog, Dialog), f"no dialog is open; the status line says: {self.status}"
        return dialog

    @property
    def open_dialogs(self) -> int:
        return sum(isinstance(screen, Dialog) for screen in self.app.screen_stack)

    @property
    def status(self) -> str:
        return self.text("#status")

    @property
    def key(self) -> str | None:
        return self.app.pane.rows.key

    def text(self, selector: str) -> str:
        widget = self.app.screen_stack[0].query_one(selector, Lines)
        return "\n".join(plain(row).rstrip() for row in widget.lines)

    @property
    def screen(self) -> str:
        """What stands on the screen, as text."""
        return "\n".join(self.strips())

    def strips(self) -> list[str]:
        compositor = self.app.screen._compositor
        return ["".join(segment.text for segment in strip) for strip in compositor.render_strips()]

    async def change(self, snapshot: ConsoleSnapshot) -> None:
        """The runtime moved on, and the console has painted it."""
        pulls = len(self.operator.pulls)
        self.operator.change(snapshot)
        while len(self.operator.pulls) == pulls or self.app.snapshot is None or self.app.snapshot.at != snapshot.at:
            await self.pilot.pause(0.02)
        await still(self.pilot)


@pytest.fixture(autouse=True)
def _nothing_is_remembered() -> None:
    """Of the view, the theme and the sorting that an earlier test left with."""
    Path(os.environ["EVA_CONFIG_DIR"], "console.json").unlink(missing_ok=True)


@pytest.fixture(autouse=True, scope="session")
def _styles_are_read_once() -> Iterator[None]:
    """Each app reads its style sheets anew; what they say is the same in all that have the same colours."""
    parse, read = Stylesheet._parse_rules, dict[Hashable, list[RuleSet]]()

    def parse_once(sheet: Stylesheet, *source: Hashable, **about: Hashable) -> list[RuleSet]:
        key = (source, frozenset(about.items()), frozenset(sheet._variables.items()))
        if key not in read:
            read[key] = parse(sheet, *source, **about)  # type: ignore[arg-type]
        return read[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Stylesheet, "_parse_rules", parse_once)
        yield


OpenConsole = Callable[..., AbstractAsyncContextManager[Console]]


@pytest.fixture
def console(monkeypatch: pytest.MonkeyPatch) -> OpenConsole:
    """``async with console(...) as it``: the console over a scripted runtime, with its first snapshot painted.

    Dialogs are armed as soon as they are painted; for tests that say ``quick=False`` they never do.
    """

    @asynccontextmanager
    async def open_console(
        snapshot: ConsoleSnapshot | None = None,
        *,
        answers: Mapping[str, Answer] | None = None,
        size: tuple[int, int] = (120, 36),
        readonly: bool = False,
        look: Look | None = None,
        theme: str | None = None,
        view: View = View.REGISTRY,
        settings: Settings | None = None,
        keymap: Mapping[str, str] | None = None,
        quick: bool = True,
    ) -> AsyncIterator[Console]:
        monkeypatch.setattr(dialogs, "ARM_AFTER_S", 0.0 if quick else math.inf)
        operator = FakeOperator(snapshot or scene(), answers)

        async def open_operator() -> FakeOperator:
            return operator

        app = ConsoleApp(
            open_operator,
            readonly=readonly,
            look=look or Look(picture=True),
            settings=settings or Settings(theme=theme, view=view),
            keymap=keymap,
        )
        async with app.run_test(size=size, notifications=True) as pilot:
            await app.first_snapshot.wait()
            await still(pilot)
            yield Console(app, operator, pilot)

    return open_console
