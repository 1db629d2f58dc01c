"""Handlers run as a runtime would run them, but with the host in the test's hands."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

import orjson

from evatui.kernel.lua import Chunk, Engine, LoadedProgram, Outcome, Program, Returned, Verdict, resolve_empty
from evatui.kernel.model.errors import ErrorKind

MEASURED = -1
NAME = "capabilities/tools/sample.lua"


async def no_host(function: str, argument: Any) -> Any:
    raise AssertionError(f"the handler called {function}")


def program(source: str | bytes, **fields: Any) -> Program:
    data = source.encode() if isinstance(source, str) else source
    return Program(Chunk(NAME, data), **fields)


async def call(
    loaded: LoadedProgram,
    payload: Any = None,
    *,
    host: Any = no_host,
    host_calls: int = 1000,
    seconds: float = 60.0,
    entry: str = "invoke",
    finish: Callable[[Outcome], Any] = lambda outcome: outcome,
    size: int | None = MEASURED,
) -> Any:
    """One call with ``payload`` as the whole request, which is measured as the kernel does."""
    return await loaded.call(
        entry,
        payload,
        deadline=time.monotonic() + seconds,
        host=host,
        host_calls=host_calls,
        finish=finish,
        size=_measured(payload) if size == MEASURED else size,
    )


def _measured(payload: Any) -> int | None:
    try:
        return len(orjson.dumps(payload))
    except TypeError:
        return None


async def outcome_of(engine: Engine, source: str, payload: Any = None, **options: Any) -> Outcome:
    """What a fresh program with this script answers."""
    loaded = await engine.load(program(source), timeout_s=20)
    try:
        return await call(loaded, payload, **options)
    finally:
        loaded.close()


async def value_of(engine: Engine, body: str, payload: Any = None, **options: Any) -> Any:
    """The value that a handler with this body returns, empty unmarked tables as objects."""
    outcome = await outcome_of(engine, f"function invoke(ctx, request)\n{body}\nend", payload, **options)
    assert isinstance(outcome, Returned), outcome
    return resolve_empty(outcome.value, lambda pointer: False)


SPIN_OR_WAIT = """
function spin() while true do pcall(function() while true do end end) end end
function wait(ctx) pcall(ctx.host.call_tool, {}) return "caught" end
function invoke(ctx, request) count = (count or 0) + 1 return {count, request} end
"""


class Gate:
    """A host whose calls do not end by themselves."""

    def __init__(self) -> None:
        self.entered = asyncio.Event()
        self.cancelled = 0

    async def __call__(self, function: str, argument: Any) -> Any:
        self.entered.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise


def kind_of(outcome: Any) -> ErrorKind:
    assert isinstance(outcome, Verdict), outcome
    return outcome.kind
