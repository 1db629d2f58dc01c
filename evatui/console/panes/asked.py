"""A view whose rows the runtime has to be asked for: when it is looked at, and when something of it has changed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evatui.console.panes.pane import Pane
from evatui.console.view.ink import EMPTY, Ink, Line, line
from evatui.control.failing import CommandFailed
from evatui.control.snapshot import ConsoleSnapshot

__all__ = ["AskedPane"]


class AskedPane(Pane):
    """``asks`` are questions without parameters; ``topics`` begin the events after which they are asked again."""

    asks: tuple[str, ...]
    topics: tuple[str, ...]
    stale = True

    def gather(self, snapshot: ConsoleSnapshot) -> None:
        self.stale |= any(event.topic.startswith(self.topics) for event in snapshot.events)

    def show(self, snapshot: ConsoleSnapshot, elapsed: float) -> None:
        first, self.snapshot = self.snapshot is None, snapshot
        if first:
            self.fill((), (EMPTY, line(("… ", Ink.INFO), "asking the runtime")))

    def answered(self, answers: Mapping[str, Mapping[str, Any]]) -> None:
        """By question; all of them were answered."""
        raise NotImplementedError

    def failed(self, problem: CommandFailed) -> None:
        told: list[Line] = [EMPTY, line((f"✗ {problem.kind}  ", Ink.BAD), problem.message)]
        self.fill((), told)
