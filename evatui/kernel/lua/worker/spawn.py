"""Workers each started by itself, where processes with threads cannot be forked from (macOS)."""

from __future__ import annotations

import os
import socket
import subprocess
from typing import Final

from evatui.kernel.lua.worker.clock import ran_s
from evatui.kernel.lua.worker.command import command, environment
from evatui.kernel.lua.worker.launch import Launched, NotLaunched

__all__ = ["Spawner"]

_END_S: Final = 0.25


class Spawner:
    """Takes tens of milliseconds a worker. A worker ends when the pipe that it was given does."""

    def start(self) -> None:
        """There is nothing to get ready."""

    def launch(self, memory_bytes: int) -> Launched:
        ours, theirs = socket.socketpair()
        theirs_of_pipe, lifeline = os.pipe()
        try:
            passed = (theirs.fileno(), theirs_of_pipe)
            process = subprocess.Popen(
                command("serve", theirs.fileno(), memory_bytes, theirs_of_pipe),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=passed,
                env=environment(),
                cwd="/",
                start_new_session=True,
            )
        except OSError:
            ours.close()
            os.close(lifeline)
            raise NotLaunched("a worker process could not be started") from None
        finally:
            theirs.close()
            os.close(theirs_of_pipe)
        return Launched(ours, _Spawned(process, lifeline))

    def close(self) -> None:
        """Each worker is closed by whoever has it."""


class _Spawned:
    def __init__(self, process: subprocess.Popen[bytes], lifeline: int) -> None:
        self._process = process
        self._lifeline: int | None = lifeline

    def kill(self) -> None:
        self._process.kill()

    def ended(self) -> int | None:
        try:
            return self._process.wait(_END_S)
        except subprocess.TimeoutExpired:
            return None

    def ran_s(self) -> float | None:
        return ran_s(self._process.pid)

    def close(self) -> None:
        if self._lifeline is not None:
            os.close(self._lifeline)
            self._lifeline = None
            self._process.wait()
