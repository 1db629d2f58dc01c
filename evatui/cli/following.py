"""A stream of what happens: the newest of it first, then each one as it comes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from evatui.cli.options import Settings
from evatui.cli.screen import Screen
from evatui.cli.session import finish
from evatui.control.failing import CommandFailed
from evatui.control.opening import OpenMode

__all__ = ["follow"]

Item = dict[str, Any]


def follow(
    settings: Settings, command: str, key: str, since: str, show: Callable[[Screen, Item], None], /, **asked: Any
) -> None:
    """Asks a ``followed`` command again and again, until the reader goes away or the runtime ends.

    ``key`` is what of its answer the items are, ``since`` the parameter that says after which of them. What was lost
    on the way is said, in JSON as ``{"dropped": n}``.

    Raises `CommandFailed`, also where no runtime holds the workspace.
    """
    finish(_follow(settings, command, key, since, show, asked))


async def _follow(
    settings: Settings, command: str, key: str, since: str, show: Callable[[Screen, Item], None], asked: dict[str, Any]
) -> None:
    screen = Screen(color=not settings.no_color)
    operator = await settings.connect(OpenMode.ATTACH, settings.workspace, settings.state_dir)
    changed = asyncio.Event()
    loop = asyncio.get_running_loop()

    def notify() -> None:
        loop.call_soon_threadsafe(changed.set)

    operator.on_change(notify)
    try:
        found = await operator.run(command, **asked)
        asked.pop("limit", None)
        waits = True  # what else there is now is older, and not asked for
        while not screen.closed:
            _tell_lost(settings, screen, found.get("dropped", 0))
            for item in found[key]:
                _write(settings, screen, show, item)
            if waits:
                await changed.wait()
                changed.clear()
            found = await operator.run(command, **asked, **{since: found["seq"]})
            waits = not found["more"]
    except CommandFailed as failed:
        if not failed.context.get("stopped"):
            raise
        screen.note("· the runtime stopped", "")
    finally:
        await operator.close()


def _tell_lost(settings: Settings, screen: Screen, count: int) -> None:
    if count and settings.json:
        screen.object({"dropped": count})
    elif count:
        screen.note(f"· {count} were lost: they came faster than they were read", "yellow")


def _write(settings: Settings, screen: Screen, show: Callable[[Screen, Item], None], item: Item) -> None:
    if settings.json:
        screen.object(item)
    else:
        show(screen, item)
