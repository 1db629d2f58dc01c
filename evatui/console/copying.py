"""Copying: through the terminal, into tmux where that stands between, and to a file beside it in any case."""

from __future__ import annotations

import asyncio
import contextlib
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

__all__ = ["CLIP", "beside", "to_tmux"]

CLIP = "clip.txt"
_TMUX_S = 2.0


def beside(folder: Path, text: str) -> Path:
    """The file in ``folder`` that holds ``text`` now, readable by its user only. Raises `OSError`."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=folder, prefix=".clip-")  # of mode 0600
    try:
        with os.fdopen(handle, "w", encoding="utf-8", errors="replace") as file:
            file.write(text)
        path = folder / CLIP
        os.replace(name, path)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise
    return path


async def to_tmux(text: str, environment: Mapping[str, str]) -> bool:
    """Into the buffer of a tmux around this terminal, which passes it on to the one outside.

    By default it takes no clipboard sequence from a program, and a buffer always.
    """
    if not environment.get("TMUX"):
        return False
    try:
        child = await asyncio.create_subprocess_exec(
            "tmux", "load-buffer", "-w", "-",
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL,
        )  # fmt: skip
    except OSError:
        return False
    try:
        await asyncio.wait_for(child.communicate(text.encode(errors="replace")), _TMUX_S)
    except TimeoutError:
        child.kill()
        await child.wait()
    return child.returncode == 0
