"""A runtime in a process of its own that nobody waits for: it ends by itself once nobody has needed it for a while."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import IO

from evatui.control.failing import CommandFailed
from evatui.kernel.model.errors import ErrorKind
from evatui.kernel.model.text import clean_line

__all__ = ["start_detached"]

_IDLE_EXIT_S = 60
_STARTS_WITHIN_S = 60.0
_LOOK_EVERY_S = 0.02


async def start_detached(root: Path, state_dir: Path | None) -> None:
    """Returns once it serves, or another runtime has taken the workspace meanwhile.

    Raises `CommandFailed` with the reason that it gave for not starting.
    """
    with tempfile.TemporaryFile() as said:
        process = await asyncio.to_thread(_spawn, root, state_dir, said)
        try:
            async with asyncio.timeout(_STARTS_WITHIN_S):
                first = await _said_first(process, said)
        except TimeoutError:
            process.kill()
            raise _failed({"message": f"it did not start within {_STARTS_WITHIN_S:.0f} s"}) from None
        told = json.loads(first or b"{}")
    if told.get("event") == "serving":
        return
    error = told.get("error") or {}
    if "holder" not in (error.get("context") or {}):
        raise _failed(error)


async def _said_first(process: subprocess.Popen[bytes], said: IO[bytes]) -> bytes:
    """Its first line, empty where it ended without one."""
    while True:
        ended = process.poll() is not None
        if (line := await asyncio.to_thread(_first_line, said)) or ended:
            return line
        await asyncio.sleep(_LOOK_EVERY_S)


def _spawn(root: Path, state_dir: Path | None, said: IO[bytes]) -> subprocess.Popen[bytes]:
    """In a session of its own: neither ctrl+c nor the end of whoever started it reaches it."""
    words = [sys.executable, "-m", "evatui.cli.main", "-o", "json", "-w", str(root.resolve()), "serve"]
    place = ["--state-dir", str(state_dir.resolve())] if state_dir is not None else []
    return subprocess.Popen(
        [*words, "--idle-exit", str(_IDLE_EXIT_S), *place],
        stdin=subprocess.DEVNULL,
        stdout=said,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        cwd="/" if sys.platform != "win32" else None,
    )


def _first_line(said: IO[bytes]) -> bytes:
    said.seek(0)
    line = said.readline()
    return line if line.endswith(b"\n") else b""


def _failed(error: dict[str, str]) -> CommandFailed:
    why = clean_line(error.get("message", "it gave no reason"))
    return CommandFailed(
        ErrorKind(error.get("kind", ErrorKind.UNAVAILABLE)),
        f"no runtime holds the workspace, and none could be started: {why}",
        suggestion=clean_line(error.get("suggestion", "")) or "eva serve",
    )
