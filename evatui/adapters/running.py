"""A program that stays: lines in, lines out, no line without end, and nothing left of it when it is closed.

Started as commands are, by a keeper (``keeper.py``) that outlives all that the program starts: no shell, a clean
environment, a process group of its own.
"""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from evatui.adapters.apart import apart
from evatui.adapters.orphans import adopting, end_orphans
from evatui.adapters.process import CLEAN_ENVIRONMENT, KEEPER, find_program, see_off
from evatui.kernel.host.ports import NotSent
from evatui.kernel.model.errors import CallFailed, ErrorKind
from evatui.kernel.model.text import clean_line

__all__ = ["LINE_BYTES", "Launch", "LineTooLong", "Running"]

LINE_BYTES: Final = 1_048_576
"""Of one line that a program writes."""
_TOLD_BYTES: Final = 4_096
_GRACE_S: Final = 2.0
_REFUSED: Final = ("LD_", "DYLD_", "PYTHON", "NODE_OPTIONS")
"""Beginnings of names that would change what runs: no credential has such a name in the environment of a program."""


class LineTooLong(Exception):
    """A line of more than `LINE_BYTES`."""


@dataclass(frozen=True, slots=True)
class Launch:
    """``program``, a path, is run for ``argv`` in ``folder``, with ``environ`` and nothing else; ``name`` is how it is
    told of."""

    name: str
    program: str
    argv: tuple[str, ...]
    folder: Path
    environ: Mapping[str, str]


class Running:
    """``told`` is the last that it wrote on its standard error. For the loop that started it."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.told = bytearray()
        self._reader = asyncio.StreamReader(limit=LINE_BYTES)
        self._errors = asyncio.StreamReader()
        self._writer: asyncio.WriteTransport | None = None
        self._readers: list[asyncio.ReadTransport] = []
        self._keeper: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._adopted = ExitStack()
        self._listening: asyncio.Task[None] | None = None
        self._room = asyncio.Event()
        self._room.set()
        self._closing: asyncio.Task[None] | None = None

    @classmethod
    async def start(cls, argv: tuple[str, ...], folder: Path, environ: Mapping[str, str], root: Path) -> Running:
        """A program of the machine. Raises `NotSent`: ``Unavailable`` where it cannot be started, ``NotFound``,
        ``PolicyDenied``."""
        for secret in environ:
            if secret.upper().startswith(_REFUSED):
                message = f"{clean_line(secret, 128)} is refused: it would change what runs"
                raise NotSent(ErrorKind.POLICY_DENIED, message, retryable=False)
        try:
            program = await asyncio.to_thread(find_program, argv[0], root)
        except CallFailed as failed:
            raise NotSent(failed.error.kind, failed.error.message, retryable=False) from None
        return await cls.launched(Launch(argv[0], program, argv, folder, {**CLEAN_ENVIRONMENT, **environ}))

    @classmethod
    async def launched(cls, launch: Launch) -> Running:
        """Raises `NotSent` ``Unavailable`` where it cannot be started."""
        if os.name != "posix":
            raise NotSent(ErrorKind.UNAVAILABLE, "programs cannot be started on this system", retryable=False)
        self = cls(clean_line(os.path.basename(launch.name), 128))
        starting = asyncio.ensure_future(apart(partial(self._start, launch), "evatui-start"))
        try:
            await asyncio.shield(starting)
        except asyncio.CancelledError:
            with suppress(Exception):
                await starting
            await self.close()
            raise
        await self._connect()
        return self

    def _start(self, launch: Launch) -> None:
        self._control, theirs = socket.socketpair()
        self._adopted.enter_context(adopting())
        keeper = (sys.executable, "-I", "-S", KEEPER, str(theirs.fileno()), launch.program)
        with theirs:
            try:
                self._keeper = subprocess.Popen(
                    (*keeper, *launch.argv),
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    bufsize=0,
                    cwd=launch.folder,
                    env=launch.environ,
                    pass_fds=(theirs.fileno(),),
                    start_new_session=True,
                )
            except OSError as error:
                self._control.close()
                self._adopted.close()
                reason = os.strerror(error.errno or 0).lower()
                raise NotSent(ErrorKind.UNAVAILABLE, f"{self.name} cannot be started: {reason}") from None

    async def _connect(self) -> None:
        loop, keeper = asyncio.get_running_loop(), self._keeper
        assert keeper is not None  # it was started
        for stream, reader in ((keeper.stdout, self._reader), (keeper.stderr, self._errors)):
            protocol = partial(asyncio.StreamReaderProtocol, reader)
            transport, _ = await loop.connect_read_pipe(protocol, stream)
            self._readers.append(transport)
        self._writer, _ = await loop.connect_write_pipe(partial(_Flow, self._room), keeper.stdin)
        self._listening = loop.create_task(self._listen())

    async def _listen(self) -> None:
        """Keeps the end of what it says beside."""
        while data := await self._errors.read(65_536):
            self.told += data
            del self.told[:-_TOLD_BYTES]

    async def read(self) -> bytes | None:
        """The next line without its end, None where there are no more. Raises `LineTooLong`."""
        try:
            return (await self._reader.readuntil(b"\n"))[:-1]
        except asyncio.IncompleteReadError:
            return None  # what is cut off was no line
        except asyncio.LimitOverrunError:
            raise LineTooLong(f"{self.name} wrote a line of more than {LINE_BYTES:,} bytes") from None
        except ConnectionError:
            return None

    async def write(self, line: bytes) -> None:
        """Raises `ConnectionError` where it reads no more; waits where it reads too slowly."""
        writer = self._writer
        if writer is None or writer.is_closing():
            raise ConnectionError(f"{self.name} reads no more")
        writer.write(line + b"\n")
        await self._room.wait()
        if writer.is_closing():
            raise ConnectionError(f"{self.name} reads no more")

    @property
    def last_words(self) -> str:
        """The last line on its standard error, to be shown."""
        lines = [line for line in self.told.decode(errors="replace").splitlines() if line.strip()]
        return clean_line(lines[-1].strip(), 300) if lines else ""

    async def why_it_ended(self) -> str:
        """For who has read its last line: how it ended, and what it said last."""
        control, told = self._control, b""
        with suppress(OSError, TimeoutError):
            async with asyncio.timeout(_GRACE_S):
                if control is not None:
                    control.setblocking(False)
                    told = await asyncio.get_running_loop().sock_recv(control, 256)
        word, _, number = told.decode(errors="replace").partition("\n")[0].partition(" ")
        if word == "failed":
            how = f"{self.name} cannot be started: {os.strerror(int(number)).lower()}"
        else:
            how = f"{self.name} ended with the status {number}" if word == "ended" else f"{self.name} ended its output"
        await asyncio.sleep(0)  # what it wrote last may have come meanwhile
        return f"{how}: {self.last_words}" if self.last_words else how

    async def close(self) -> None:
        """Its input ends; it may leave by itself for two seconds, then it and all that it started are killed."""
        if self._closing is None:
            self._closing = asyncio.get_running_loop().create_task(self._close())
        await asyncio.shield(self._closing)

    async def _close(self) -> None:
        if self._writer is not None:
            self._writer.close()
        self._room.set()
        control, keeper = self._control, self._keeper
        if control is not None and keeper is not None:
            await apart(partial(self._end, control, keeper), "evatui-end")
        for transport in self._readers:
            transport.close()
        if self._listening is not None:
            self._listening.cancel()
            with suppress(asyncio.CancelledError):
                await self._listening

    def _end(self, control: socket.socket, keeper: subprocess.Popen[bytes]) -> None:
        with self._adopted, control:
            if keeper.stdin is not None and self._writer is None:
                keeper.stdin.close()
            with suppress(OSError, TimeoutError):
                control.settimeout(_GRACE_S)
                control.recv(256)
            with suppress(OSError):
                control.shutdown(socket.SHUT_RDWR)
            see_off(keeper)
            if keeper.returncode != 0:
                end_orphans()


class _Flow(asyncio.BaseProtocol):
    """Whether there is room for more."""

    def __init__(self, room: asyncio.Event) -> None:
        self._room = room

    def pause_writing(self) -> None:
        self._room.clear()

    def resume_writing(self) -> None:
        self._room.set()

    def connection_lost(self, exc: Exception | None) -> None:
        self._room.set()
