"""The action that shows what a version changes, and the page of a reload."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from evatui.console.view.canary import canary_lines, canary_of, live_canary
from evatui.console.view.comparison import compared_lines, refused_lines
from evatui.console.view.ink import EMPTY, Ink, Line, line, plain, wrapped
from evatui.console.view.reloads import reload_head, reload_preview
from evatui.console.view.timeline import Reload, What
from evatui.control.deciding import HeldRow
from evatui.control.snapshot import CapabilityRow, RejectionRow

if TYPE_CHECKING:
    from evatui.console.stage import Stage
    from evatui.console.widgets.lines import Source

__all__ = ["AROUND_BROAD", "Comparing"]

AROUND_BROAD = 9
"""Columns of a screen that a broad page does not give to its lines."""
_BAR = 2
"""What the scroll bar takes of that while the page is laid out."""
_COPIED = 100
"""Columns of what is copied from a page."""


class Comparing:
    def __init__(self, app: Stage) -> None:
        self._app = app
        self.handlers: dict[str, Callable[[], None]] = {"diff": self._diff}

    def _diff(self) -> None:
        subject = self._app.pane.subject()
        if isinstance(subject, Reload):
            self.open_reload(subject)
        elif isinstance(subject, RejectionRow):
            self._run(self._refusal(f"What was refused of {subject.key}", subject.id, subject.digest, ()))
        elif isinstance(subject, HeldRow):
            self._run(self._versions(subject.id, subject.serving, subject.number, ()))
        elif isinstance(subject, CapabilityRow):
            self._run(self._versions(subject.id, *_sides(subject), ()))

    def open_reload(self, reload: Reload) -> None:
        """What happened, and what it changed, as far as that can still be told."""
        numbers, look = self._app.numbers.known, self._app.look
        head = reload_head(reload, numbers, look)
        canary = live_canary(self._app.snapshot, reload.target)
        if canary is not None:
            head += [EMPTY, *canary_lines(canary)]
        if reload.what is What.REFUSED and reload.digest:
            self._run(self._refusal(f"Reload of {reload.id}", reload.id, reload.digest, head))
        elif reload.source and reload.target and reload.what is not What.OVERTAKEN:
            old, new = (numbers.get(side, side) for side in (reload.source, reload.target))
            self._run(self._versions(reload.id, old, new, head))
        else:
            self._show(f"Reload of {reload.id}", wrapped(reload_preview(reload, numbers, 200, look)))

    def _run(self, work: Any) -> None:
        self._app.fetch(work, "comparing")

    async def _versions(self, capability_id: str, old: str | None, new: str | None, head: Sequence[Line]) -> None:
        assert self._app.commands is not None  # enabled only where there is a snapshot
        sides: dict[str, Any] = {name: side for name, side in (("old", old), ("new", new)) if side}
        sent = await self._app.commands.run("capability.diff", id=capability_id, **sides)
        if sent.data is None:
            if head:
                self._show(f"Reload of {capability_id}", wrapped(head))
            return
        data = sent.data

        def made() -> tuple[Source, str]:
            source = cache(_between(head, compared_lines(data), line((sent.line, Ink.DIM))))
            for around in (AROUND_BROAD, AROUND_BROAD + _BAR):  # so that the loop finds them made
                source(self._app.size.width - around)
            return source, "\n".join(plain(row) for row in source(_COPIED))

        source, text = await asyncio.to_thread(made)
        self._app.say(EMPTY)
        self._open(f"What {capability_id} changes", source, text)

    async def _refusal(self, title: str, capability_id: str | None, digest: str, head: Sequence[Line]) -> None:
        assert self._app.commands is not None  # enabled only where there is a snapshot
        params: dict[str, Any] = {"id": capability_id, "digest": digest} if capability_id else {"digest": digest}
        sent = await self._app.commands.run("capability.explain_rejected", **params)
        if sent.data is None:
            return
        lines = await asyncio.to_thread(refused_lines, sent.data)
        self._app.say(EMPTY)
        self._show(title, wrapped([*head, *([EMPTY] if head else ()), *lines]))

    def _show(self, title: str, source: Source) -> None:
        self._open(title, source, "\n".join(plain(row) for row in source(_COPIED)))

    def _open(self, title: str, source: Source, text: str) -> None:
        from evatui.console.screens.page import Page

        self._app.push_screen(Page(title, source, text, broad=True))


def _between(head: Sequence[Line], body: Source, foot: Line) -> Source:
    first, last = wrapped([*head, EMPTY] if head else ()), wrapped([EMPTY, foot])
    return lambda width: [*first(width), *body(width), *last(width)]


def _sides(row: CapabilityRow) -> tuple[str | None, str | None]:
    """What serves against what is tried out or waits on disk; else what served before against what serves."""
    canary = canary_of(row)
    if canary is not None:
        return row.number, canary.number
    if row.number is not None and row.on_disk in ("changed", "held", "quarantined"):
        return row.number, "disk"
    return None, None
