"""Commands for the kernel: no shell, a clean environment, and nothing left of them when they are done."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from evatui.adapters.apart import apart
from evatui.adapters.attending import Attending
from evatui.adapters.orphans import adopting, end_orphans
from evatui.kernel.host.ports import Command, Finished
from evatui.kernel.model.errors import ErrorKind, failure
from evatui.kernel.model.text import clean_line

__all__ = ["CLEAN_ENVIRONMENT", "KEEPER", "SEARCHED", "Processes", "find_program", "see_off"]

SEARCHED = ("/usr/local/bin", "/usr/bin", "/bin")
"""Where programs are looked for, whatever ``PATH`` says."""
_NO_PLANTED_REPOSITORY = {
    "GIT_CONFIG_COUNT": "1",
    "GIT_CONFIG_KEY_0": "safe.bareRepository",
    "GIT_CONFIG_VALUE_0": "explicit",
}
"""Files that a handler may write can look like a bare repository, and git runs what the configuration of one says."""
CLEAN_ENVIRONMENT = {"PATH": ":".join(SEARCHED), "LANG": "C.UTF-8", **_NO_PLANTED_REPOSITORY}
KEEPER = str(Path(__file__).with_name("keeper.py"))
_PATIENCE_S = 6.0
"""Longer than the keeper takes at most to end what it keeps."""
_STEP_S = 0.1


class Processes:
    """The `ProcessPort`, by a keeper process for each command (``keeper.py``, which says what it can promise)."""

    async def run(self, command: Command) -> Finished:
        if os.name != "posix":
            raise failure(ErrorKind.UNAVAILABLE, "commands cannot be started on this system")
        ours, theirs = socket.socketpair()
        running = asyncio.ensure_future(apart(partial(_run, command, ours, theirs), "evatui-command"))
        try:
            return await asyncio.shield(running)
        except asyncio.CancelledError:
            with suppress(OSError):  # has come to its end meanwhile
                ours.shutdown(socket.SHUT_RDWR)
            running.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
            await asyncio.wait([running])
            raise


def _run(command: Command, ours: socket.socket, theirs: socket.socket) -> Finished:
    """Until the command has ended, or ``ours`` is shut down. Closes both sockets."""
    with ours, theirs, adopting():
        keeper = _started(command, theirs)
        theirs.close()
        with keeper:
            try:
                attending = Attending(keeper, command, ours)
                attending.see_through()
            finally:
                ours.close()
                see_off(keeper)
                if keeper.returncode != 0:
                    end_orphans()
    word, _, number = attending.told.decode().partition("\n")[0].partition(" ")
    if word == "failed":
        raise _not_started(command, int(number))
    if word != "ended":
        raise failure(ErrorKind.HOST_ERROR, f"{clean_line(command.argv[0], 128)} was lost: nobody knows how it ended")
    return Finished(int(number), bytes(attending.stdout), bytes(attending.stderr))


def _started(command: Command, control: socket.socket) -> subprocess.Popen[bytes]:
    program = command.program or find_program(command.argv[0], command.folder)
    keeper = (sys.executable, "-I", "-S", KEEPER, str(control.fileno()), program)
    try:
        return subprocess.Popen(
            (*keeper, *command.argv),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            cwd=command.folder,
            env=CLEAN_ENVIRONMENT if command.environ is None else command.environ,
            pass_fds=(control.fileno(),),
            start_new_session=True,
        )
    except OSError as error:
        raise _not_started(command, error.errno) from None


def see_off(keeper: subprocess.Popen[bytes]) -> None:
    """Its end of the socket is closed: it ends the command, and itself. If it does not, the system does.

    What it keeps may stop it (``kill -STOP $PPID``), again and again: so it is told to go on until it has ended.
    """
    until = time.monotonic() + _PATIENCE_S
    while time.monotonic() < until:
        keeper.send_signal(signal.SIGCONT)
        with suppress(subprocess.TimeoutExpired):
            keeper.wait(_STEP_S)
            return
    keeper.kill()
    keeper.wait()


def find_program(name: str, folder: Path) -> str:
    """The program's path. One that lies where handlers may write could be of their making."""
    places: Sequence[str] = (name,) if name.startswith("/") else tuple(f"{place}/{name}" for place in SEARCHED)
    for place in places if name.startswith("/") or "/" not in name else ():
        with suppress(OSError):
            real = Path(place).resolve(strict=True)
            if not stat.S_ISREG(real.stat().st_mode) or not os.access(real, os.X_OK):
                continue
            if real.is_relative_to(folder) or Path(os.path.normpath(place)).is_relative_to(folder):
                raise failure(ErrorKind.POLICY_DENIED, f"{clean_line(name, 128)} is refused: it lies in the workspace")
            return place
    raise failure(ErrorKind.NOT_FOUND, f"there is no program {clean_line(name, 128)}")


def _not_started(command: Command, number: int | None) -> Exception:
    reason = os.strerror(number).lower() if number else "the system refused"
    return failure(ErrorKind.UNAVAILABLE, f"{clean_line(command.argv[0], 128)} cannot be started: {reason}")
