"""Every way of leaving the console against every state that it may be in: `leave` does one of them."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import termios
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

import orjson

from tests.console.terminal import ALTERNATE_OFF, ALTERNATE_ON, ROOT, Terminal
from tests.support.programs import EVA
from tests.support.workspaces import GREETER, tool, write

__all__ = ["SIGNALS", "Left", "Place", "leave"]

SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
_EVATUI = ("-c", "from evatui.__main__ import main; main()")
_SPIN = "function invoke(ctx, request) while true do end end"
_TOKEN = "EVATUI_SOAK"


class Place(Enum):
    """What the console is in the middle of."""

    IDLE = "idle"
    FLOOD = "flood"
    CALL = "call in flight"
    UNREAD = "terminal not read"
    EDITOR = "editor open"
    CLOSED = "pty closed"
    CLOSED_WITHOUT = "pty closed, not controlling"


@dataclass(frozen=True)
class Left:
    """What was found afterwards. ``plain`` is None where the terminal is gone, or nobody reads what it was told."""

    code: int
    audit_closed: bool
    modes_restored: bool | None
    plain: bool | None
    orphans: tuple[str, ...]
    traceback: bool


def leave(folder: Path, place: Place, number: signal.Signals | None) -> Left:
    """Starts the console in a terminal, gets it there, and signals it; without a signal only the terminal goes."""
    root = folder / "ws"
    isolated = tool("apart", "function invoke(ctx, request) return {ok = true} end", isolation="process")
    files = {**GREETER, **tool("spin", _SPIN, limits="{timeout_ms: 60000}"), **isolated}
    write(root, {**files, "eva.yaml": "runtime: {shutdown_timeout_ms: 300}\n"})
    editor = folder / "nano"
    editor.write_text("#!/bin/sh\necho EDITING\nread line\n")
    editor.chmod(0o755)
    token = uuid.uuid4().hex
    argv = ("-m", "tests.console.flooded", str(root)) if place is Place.FLOOD else (*_EVATUI, str(root))
    env = {"EDITOR": str(editor), "VISUAL": "", _TOKEN: token}
    terminal = Terminal(*argv, env=env, controlling=place is not Place.CLOSED_WITHOUT)
    try:
        terminal.read_until("● live")
        terminal.read_until("greet")
        with _brought(terminal, place, root, number):
            reading = place not in (Place.UNREAD, Place.CLOSED, Place.CLOSED_WITHOUT)
            code = terminal.wait(reading=reading)
        return _found(terminal, root, token, code, reading=reading)
    finally:
        terminal.close()


@contextlib.contextmanager
def _brought(terminal: Terminal, place: Place, root: Path, number: signal.Signals | None) -> Iterator[None]:
    """It is there, and has been told to leave."""
    call: subprocess.Popen[bytes] | None = None
    if place is Place.CALL:
        argv = [*EVA, "-w", str(root), "capability", "call", "test.spin"]
        call = subprocess.Popen(argv, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        terminal.read_until("1 call")
    elif place is Place.EDITOR:
        terminal.type(b"e")
        terminal.read_until("EDITING")
    elif place is Place.UNREAD:
        for _ in range(400):
            terminal.type(b"?\x1b")
    if number is not None:
        terminal.signal(number)
    if place in (Place.CLOSED, Place.CLOSED_WITHOUT):
        terminal.hang_up()
    elif place is Place.EDITOR and number is signal.SIGINT:
        terminal.read(0.5)
        terminal.type(b"done\n")  # an interrupt is the editor's: the console goes on, and is told again
        terminal.read_until("back from the editor")
        terminal.signal(number)
    yield
    if call is not None:
        call.wait(timeout=60)


def _found(terminal: Terminal, root: Path, token: str, code: int, *, reading: bool) -> Left:
    gone = terminal.slave < 0
    plain = terminal.drawn.rfind(ALTERNATE_OFF) > terminal.drawn.rfind(ALTERNATE_ON)
    lines = max((root / ".eva" / "audit").glob("*.jsonl")).read_bytes().splitlines()
    return Left(
        code=code,
        audit_closed=orjson.loads(lines[-1])["code"] == "runtime.stopped",
        modes_restored=None if gone else termios.tcgetattr(terminal.slave)[:4] == terminal.modes[:4],
        plain=plain if reading else None,
        orphans=_orphans(token),
        traceback=b"Traceback" in terminal.drawn,
    )


def _orphans(token: str, patience_s: float = 5.0) -> tuple[str, ...]:
    """Processes that it started and that are still there after a moment."""
    end = time.monotonic() + patience_s
    while (left := tuple(_marked(f"{_TOKEN}={token}".encode()))) and time.monotonic() < end:
        time.sleep(0.05)
    return left


def _marked(mark: bytes) -> Iterator[str]:
    for process in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if process.name.isdigit() and mark in (process / "environ").read_bytes().split(b"\0"):
                yield (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
