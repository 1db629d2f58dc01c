"""Clients of a runtime that are killed at any moment: what they ordered is done once, and nothing of them stays."""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

from evatui.control.local import LocalOperator
from evatui.control.opening import OpenMode, open_workspace
from evatui.kernel.model.call import Actor, CallerType
from evatui.kernel.records.codes import Code
from tests.support.waiting import until
from tests.support.workspaces import GREETER, tool, write

__all__ = ["Report", "kill_clients", "recorded"]

_AT_ONCE = 16
_ROOM = 10_000
"""Connections: a machine that has no time lets go of the dead late, and none of the living is to be refused."""
_CLIENT = """
import json, os, socket, sys
there = socket.socket(socket.AF_UNIX)
there.connect(sys.argv[1])
name = sys.argv[2]
def line(number, command, progress=False, **arguments):
    params = {"command": command, "arguments": arguments, "actor": {"type": "cli", "id": name}, "progress": progress}
    return json.dumps({"id": number, "method": "run", "params": params}).encode() + b"\\n"
there.sendall(json.dumps({"id": 1, "method": "snapshot"}).encode() + b"\\n")
there.sendall(line(2, "capability.call", True, name="test.spin", request_id="call-" + name))
there.sendall(line(3, "capability.disable", id="pawn", request_id="order-" + name))
os.write(1, b"sent ")
heard = there.makefile("rb")
while json.loads(heard.readline()).get("id") != 3:
    pass
os.write(1, b"heard ")
there.sendall(b'{"id": 4, "method": "run", "par')
while heard.readline():
    pass
"""


@dataclass(frozen=True, slots=True)
class Report:
    """``sent`` and ``heard`` count the clients that lived to send their order, and to hear that it was done."""

    kills: int
    sent: int
    heard: int
    lost: tuple[str, ...]
    """Clients whose order, once sent, is not on record."""
    twice: tuple[str, ...]
    left: tuple[str, ...]
    """What is there after the last kill and was not there before the first."""

    @property
    def ok(self) -> bool:
        return not (self.lost or self.twice or self.left)

    def lines(self) -> Sequence[str]:
        return (
            f"{self.kills} clients killed, {self.sent} after they had sent an order, {self.heard} after its receipt",
            f"orders lost {len(self.lost)}, orders or calls done twice {len(self.twice)}",
            f"left behind: {', '.join(self.left) or 'nothing'}",
        )


async def kill_clients(kills: int, seed: int) -> Report:
    """Starts ``kills`` clients, `_AT_ONCE` at a time, and kills each at any moment of what it does."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "ws"
        spin = "function invoke(ctx, request) ctx.host.progress{done = 1} while true do end end"
        limits = "{timeout_ms: 20000, concurrency: 1}"
        write(root, {**GREETER, **tool("spin", spin, limits=limits), **tool("pawn", spin)})
        holder = await open_workspace(root, state_dir=None, mode=OpenMode.HOLD, actor=Actor(CallerType.USER, "ann"))
        assert isinstance(holder, LocalOperator)
        try:
            with mock.patch("evatui.control.server._MAX_PEERS", _ROOM):
                return await _killed(holder, Path(holder.kernel.address), kills, random.Random(seed))
        finally:
            holder.kernel.cut()
            await holder.close()


async def recorded(holder: LocalOperator, limit: int) -> list[dict[str, Any]]:
    """The newest records; what is still on its way to the log is waited for."""
    journal = holder.kernel._runtime.registry.journal
    await asyncio.wrap_future(holder.kernel.submit(journal.written(lambda: None)))
    return (await holder.run("audit.tail", limit=limit))["records"]


async def _killed(holder: LocalOperator, socket: Path, kills: int, dice: random.Random) -> Report:
    began = time.monotonic()
    for number in range(_AT_ONCE):  # what is made once and kept, such as threads and states, is there from now on
        await _one(socket, f"warm{number}", None)
    runtime = holder.kernel._runtime
    await asyncio.to_thread(runtime.workers.get_ready)
    devices = asyncio.wrap_future(holder.kernel.submit(runtime.hardware.settled(60)))
    assert await devices  # they are looked for in the background, from some moment after the start on
    sqlite3.connect(holder.kernel.layout.state_dir / "state.db").close()  # SQLite keeps the second descriptor it had
    longest = 2 * (time.monotonic() - began) / _AT_ONCE
    await _quiet(holder)
    before = await _open_things(holder)
    places = asyncio.Semaphore(_AT_ONCE)

    async def one(name: str, after: float) -> str:
        async with places:
            await until(lambda: len(holder.kernel._server._orders) < _AT_ONCE)  # or some would be one too many
            return await _one(socket, name, after)

    names = [f"k{number}" for number in range(kills)]
    said = dict(
        zip(
            names,
            await asyncio.gather(*(one(n, dice.uniform(0.0, longest * min(kills, _AT_ONCE))) for n in names)),
            strict=True,
        )
    )
    await _quiet(holder)
    records = [r for r in await recorded(holder, 10_000) if r["actor"]["id"] in said]
    done = Counter(r["actor"]["id"] for r in records if r["code"] == Code.CAPABILITY_DISABLED)
    calls = Counter(r["request_id"] for r in records if r["code"].startswith("call."))
    begun = {name for name in names if "sent" in said[name]}
    left = await _left(holder, before)
    return Report(
        kills=kills,
        sent=len(begun),
        heard=sum("heard" in told for told in said.values()),
        lost=tuple(name for name in begun if not done[name]),
        twice=tuple(name for name in names if done[name] > 1 or calls[f"call-{name}"] > 1),
        left=tuple(f"{what}: {count} where {before[what]} were" for what, count in left.items()),
    )


async def _one(socket: Path, name: str, after: float | None) -> str:
    """Returns what the client said before it was killed; None: once it has heard all."""
    words = [sys.executable, "-ISc", _CLIENT, str(socket), name]
    child = await asyncio.create_subprocess_exec(*words, stdout=subprocess.PIPE)
    if after is None:
        assert child.stdout is not None
        await child.stdout.readuntil(b"heard ")
    else:
        await asyncio.sleep(after)
    with contextlib.suppress(ProcessLookupError):
        child.send_signal(signal.SIGKILL)
    told, _ = await child.communicate()
    return told.decode()


async def _quiet(holder: LocalOperator) -> None:
    server = holder.kernel._server
    await until(lambda: not server._connections and not server._orders and not server._peers)
    await until(lambda: not holder.kernel.in_flight)


async def _left(holder: LocalOperator, before: Counter[str]) -> Counter[str]:
    """What there is more of at every look for a while: what is just being closed, or opened for a moment, is not."""
    left = Counter({what: count for what, count in (await _open_things(holder)).items() if count > before[what]})
    for _ in range(200):
        if not left:
            break
        await asyncio.sleep(0.05)
        now = await _open_things(holder)
        left = Counter({what: min(count, now[what]) for what, count in left.items() if now[what] > before[what]})
    return left


async def _open_things(holder: LocalOperator) -> Counter[str]:
    async def tasks() -> Counter[str]:
        return Counter(task.get_coro().__qualname__ for task in asyncio.all_tasks())

    counts = await asyncio.wrap_future(holder.kernel.submit(tasks()))
    for descriptor in os.listdir("/proc/self/fd") if sys.platform == "linux" else ():
        with contextlib.suppress(OSError):  # that of the listing itself
            counts[re.sub(r"[0-9]+", "…", os.readlink(f"/proc/self/fd/{descriptor}"))] += 1
    return counts
