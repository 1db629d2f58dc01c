"""Worker processes, looked at from outside."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable
from typing import Any

import psutil

from evatui.kernel.lua import Engine, LoadedProgram, Verdict, Workers
from evatui.kernel.model.errors import ErrorKind
from evatui.kernel.model.manifest import Isolation
from tests.lua.harness import call, program
from tests.support.waiting import until

SOURCE = """
function invoke(ctx, request) count = (count or 0) + 1 return {count, request} end
function spin() while true do end end
function ask(ctx) return ctx.host.call_tool{} end
"""


async def loaded_in_process(engine: Engine, **fields: Any) -> LoadedProgram:
    return await engine.load(program(SOURCE, **fields), timeout_s=20, isolation=Isolation.PROCESS)


def below(pid: int | None = None) -> set[psutil.Process]:
    """The processes that this one, or that of ``pid``, has started and whatever these have, but for the dead."""
    return {process for process in psutil.Process(pid).children(recursive=True) if not gone(process)}


def zygote(workers: Workers) -> psutil.Process:
    return psutil.Process(workers._launcher.pid)  # type: ignore[attr-defined]


def gone(process: psutil.Process) -> bool:
    try:
        return process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def lost(outcome: Any, *, retryable: bool = True) -> str:
    """What is told of a worker that was lost."""
    assert isinstance(outcome, Verdict), outcome
    assert outcome.kind is ErrorKind.INTERNAL
    assert outcome.retryable is retryable
    return outcome.message


def sample() -> Callable[[], None]:
    """Checks, when called, that no process, thread or descriptor is left beyond those of now."""
    processes, threads, descriptors = below(), lua_threads(), open_descriptors()

    def check() -> None:
        assert below() <= processes
        assert lua_threads() <= threads
        assert open_descriptors() - descriptors == set()

    return check


def lua_threads() -> set[threading.Thread]:
    return {thread for thread in threading.enumerate() if thread.name.startswith("lua")}


def open_descriptors() -> set[str]:
    """Each that leads to another process, and what it is; none where the system does not say."""
    folder = "/proc/self/fd"
    entries = os.listdir(folder) if os.path.isdir(folder) else []
    found = {os.readlink(f"{folder}/{entry}") for entry in entries if os.path.islink(f"{folder}/{entry}")}
    return {target for target in found if target.startswith(("socket:", "pipe:", "anon_inode:[pidfd"))}


def newest() -> psutil.Process:
    return max(below(), key=lambda process: process.create_time())


async def spinning(loaded: LoadedProgram) -> tuple[asyncio.Task[Any], psutil.Process]:
    """A call that does not end, and the process that it is in, which was there already."""
    worker = newest()
    before = worker.cpu_times().user
    task = asyncio.create_task(call(loaded, entry="spin"))
    await until(lambda: worker.cpu_times().user > before + 0.05)
    return task, worker
