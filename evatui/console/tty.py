"""The terminal as a device: its modes, whether it hung up, and writing that never waits for it."""

from __future__ import annotations

import contextlib
import os
import select

try:
    import termios
except ImportError:  # not on Windows; a console there has no modes to restore
    termios = None  # type: ignore[assignment]

__all__ = ["RESET", "Modes", "hung_up", "modes_of", "name_of", "offer", "restore"]

RESET = (
    "\x1b[?2026l\x1b[?1000l\x1b[?1003l\x1b[?1006l\x1b[?1015l\x1b[?1016l"  # synchronised output, mouse
    "\x1b[?2004l\x1b[?2048l\x1b[?1004l\x1b[?7h\x1b[<u"  # paste, resize and focus reports, wrap, keyboard protocol
    "\x1b[0m\x1b[?1049l\x1b[?25h"  # colours, the alternate screen, the cursor
)

Modes = list[object]


def modes_of(terminal: int | None) -> Modes | None:
    """None where it is no terminal."""
    if termios is None or terminal is None:
        return None
    try:
        return list(termios.tcgetattr(terminal))
    except termios.error:
        return None


def restore(terminal: int | None, modes: Modes | None) -> None:
    if terminal is not None and modes is not None:
        with contextlib.suppress(termios.error):
            termios.tcsetattr(terminal, termios.TCSANOW, modes)  # type: ignore[arg-type]


def name_of(terminal: int | None) -> str | None:
    """The path of its device."""
    try:
        return os.ttyname(terminal) if terminal is not None else None
    except (OSError, AttributeError):
        return None


def hung_up(terminal: int | None) -> bool:
    if terminal is None or not hasattr(select, "poll"):
        return False
    poll = select.poll()
    poll.register(terminal, 0)  # hang-up is reported without being asked for
    return bool(poll.poll(0))


def offer(name: str | None, text: str) -> None:
    """Writes ``text`` if the terminal takes it at once, else drops it.

    Through a descriptor of its own: non-blocking mode on a shared one would reach the shell.
    """
    if name is None:
        return
    with contextlib.suppress(OSError):
        own = os.open(name, os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY)
        try:
            os.write(own, text.encode())
        finally:
            os.close(own)
