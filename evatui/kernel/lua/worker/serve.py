"""A worker: one state, entered by frames."""

from __future__ import annotations

import os
import socket
import sys
import threading
from typing import Any, Final

import ormsgpack

from evatui.kernel.lua.state import Answer, State
from evatui.kernel.lua.worker.confine import confine
from evatui.kernel.lua.worker.frames import MAX_REQUEST, Channel, Gone, OutOfTurn

__all__ = ["MAX_TEXT", "UNCONFINED", "main", "serve"]

UNCONFINED: Final = 71
"""The exit code of a worker that could not be confined."""

MAX_TEXT: Final = 5000
"""Characters of a message: more than are ever shown."""


def serve(sock: socket.socket, memory_bytes: int) -> None:
    """Ends with its connection."""
    state = State(memory_bytes)
    try:
        confine(memory_bytes)
    except OSError:
        os._exit(UNCONFINED)
    channel = Channel(sock)
    while True:
        try:
            body = channel.receive(MAX_REQUEST)
        except (Gone, OutOfTurn, OSError):
            return
        channel.send(_answer(state, body[0], bytes(body[1:])))


def _answer(state: State, operation: int, data: bytes) -> bytes:
    try:
        answer = state.enter(operation, data)
        return ormsgpack.packb(_short(answer) if answer[0] in _TELLING else answer)
    except MemoryError:
        return ormsgpack.packb((int(Answer.NO_MEMORY),))
    except Exception as error:
        return ormsgpack.packb((int(Answer.BROKEN), type(error).__name__))


_TELLING: Final = (int(Answer.RAISED), int(Answer.BAD_VALUE), int(Answer.BROKEN))


def _short(answer: tuple[Any, ...]) -> tuple[Any, ...]:
    """Its texts cut; the last part of an error is no text, but a packed value with a limit of its own."""
    texts = [part[:MAX_TEXT] if isinstance(part, str) else part for part in answer]
    if answer[0] == Answer.RAISED:
        texts[-1] = answer[-1]
    return (int(answer[0]), *texts[1:])


def main() -> None:
    """A worker that was started by itself: its connection, the memory, and what ends when its host does."""
    sock, memory_bytes, lifeline = (int(word) for word in sys.argv[1:4])
    threading.Thread(target=_end_with, args=(lifeline,), daemon=True).start()
    serve(socket.socket(fileno=sock), memory_bytes)


def _end_with(lifeline: int) -> None:
    os.read(lifeline, 1)
    os._exit(0)
