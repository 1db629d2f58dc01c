"""A call in the sandbox, and the whole way of a call, against bare lupa behind the same thread hand-off."""

from __future__ import annotations

import contextlib
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import orjson

from evatui.kernel.admission.schemas import CompiledSchema
from evatui.kernel.lua.engine import Engine
from evatui.kernel.lua.outcome import HostPort, Outcome, Returned
from evatui.kernel.lua.program import Chunk, Program
from evatui.kernel.lua.worker.workers import Workers
from evatui.kernel.model.call import Actor, CallerType, CallRequest, Response
from evatui.kernel.model.manifest import Isolation
from evatui.kernel.records.audit import Reservation
from evatui.kernel.records.codes import call_ending
from evatui.kernel.records.groups import ACCEPTED, Acceptance
from evatui.kernel.registry.flight import Flight
from evatui.kernel.registry.payload import handed
from evatui.kernel.workspace.settings import AuditMode
from evatui.runtime import Runtime
from tests.bench.arms import Arm, interleave
from tests.bench.bare import BareLua
from tests.bench.payloads import ECHO, NOOP, REWORK, SUMMARISE, kinds, payload
from tests.bench.results import Section, compared

__all__ = ["Call", "measure", "sandboxed", "timed", "unjudged", "whole_way"]

_CALLER = Actor(CallerType.USER, "bench")
_FAR = 3600.0
_RESERVED = Reservation()
_MANIFEST = """\
id: bench
kind: lua_tool
version: 1.0.0
capabilities: [bench.call]
lua: {script: capabilities/bench.lua}
input_schema: {type: object, properties: {items: {type: array, items: {type: object}}}, additionalProperties: false}
output_schema: {type: object}
"""

Call = Callable[[Any], Awaitable[Any]]


async def measure(rounds: int) -> list[Section]:
    note = "One caller, one call after the other. *whole way* is `Runtime.call`: route, slot, schemas, sandbox, audit."
    cases = [
        ("nothing to do", NOOP, {}, 200),
        ("1 KB in and out", REWORK, payload(1_000), 100),
        ("16 KB in and out", REWORK, payload(16_000), 15),
    ]
    lines: list[str] = []
    for name, source, value, times in cases:
        async with _bare(source) as bare, sandboxed(source) as inside, whole_way(source) as whole:
            arms = [
                Arm("bare lupa", timed(bare, value, times)),
                Arm("sandbox", timed(inside, value, times)),
                Arm("whole way", timed(whole, value, times)),
            ]
            lines += [f"### {name}", "", *compared(await interleave(arms, rounds), "µs", 1e6), ""]
    return [Section("A call", note, lines), await _payloads(rounds)]


async def _payloads(rounds: int) -> Section:
    note = "The sandbox alone, `LoadedProgram.call`, in both isolations, to bare lupa, for what goes in and comes out."
    cases: list[tuple[str, str, Any, int]] = [
        ("no-op", NOOP, {}, 200),
        ("summarise 1 KB", SUMMARISE, payload(1_000), 100),
        ("echo 1 KB", ECHO, payload(1_000), 100),
        ("summarise 16 KB", SUMMARISE, payload(16_000), 15),
        ("echo 16 KB", ECHO, payload(16_000), 15),
        *((f"echo {name}", ECHO, value, 50) for name, value in kinds().items()),
    ]
    lines = []
    for name, source, value, times in cases:
        async with (
            _bare(source) as bare,
            sandboxed(source) as inside,
            sandboxed(source, isolation=Isolation.PROCESS) as outside,
        ):
            arms = [
                Arm("bare lupa", timed(bare, value, times)),
                Arm("sandbox", timed(inside, value, times)),
                Arm("process", timed(outside, value, times)),
            ]
            base, sandbox, process = await interleave(arms, rounds)
        ratios = f"{sandbox.ratio.shown(1, 2)} | {process.ratio.shown(1, 2)}"
        lines.append(f"| {name} | {base.seconds.shown(1e6, 0)} | {sandbox.seconds.shown(1e6, 0)} | {ratios} |")
    head = [
        "| payload | bare lupa, µs: median [quartiles] | sandbox, µs | ratio | in a process, ratio |",
        "|---|---|---|---|---|",
    ]
    return Section("A call by payload", note, [*head, *lines])


def timed(call: Call, value: Any, times: int) -> Callable[[], Awaitable[float]]:
    """Measures the mean of ``times`` calls."""

    async def run() -> float:
        began = time.perf_counter()
        for _ in range(times):
            await call(value)
        return (time.perf_counter() - began) / times

    return run


def _request(value: Any) -> dict[str, Any]:
    """What a handler gets: the same in every arm."""
    request = CallRequest("bench.call", value, _CALLER)
    return handed(request, provider="bench", generation="bench@1.0.0+build.20260102.001", workspace="bench", left_s=30)


@contextlib.asynccontextmanager
async def _bare(source: str) -> AsyncIterator[Call]:
    lua = BareLua(source)
    try:
        yield lambda value: lua.call(_request(value))
    finally:
        lua.close()


async def _no_host(function: str, argument: Any) -> Any:
    raise AssertionError(f"the handler called {function}")


def _returned(outcome: Outcome) -> Any:
    assert isinstance(outcome, Returned), outcome
    return outcome.value


@contextlib.asynccontextmanager
async def sandboxed(
    source: str, host: HostPort = _no_host, isolation: Isolation = Isolation.IN_PROCESS
) -> AsyncIterator[Call]:
    workers = Workers()
    engine = Engine(workers=workers)
    script = Chunk("capabilities/bench.lua", source.encode())
    program = await engine.load(Program(script), timeout_s=5, isolation=isolation)
    try:
        yield lambda value: program.call(
            "invoke",
            _request(value),
            deadline=time.monotonic() + _FAR,
            host=host,
            host_calls=1000,
            finish=_returned,
            size=len(orjson.dumps(value)),  # as the kernel does, to hold it against the limit of the input
        )
    finally:
        program.close()
        engine.close()
        workers.close()


@contextlib.asynccontextmanager
async def whole_way(source: str, audit: AuditMode = AuditMode.WRITE, callers: int = 4) -> AsyncIterator[Call]:
    """``callers``: how many calls may run at once."""
    async with _serving(source, audit, callers) as runtime:
        yield _called(runtime)


@contextlib.asynccontextmanager
async def unjudged(source: str) -> AsyncIterator[Call]:
    """The same way, of a runtime that holds no value against a schema and writes nothing down. (What a policy decides
    is decided when a version comes, and at host calls, so there is nothing of it to leave out.)"""
    async with _serving(source, AuditMode.WRITE, 4) as runtime:
        calls = runtime.calls
        candidate = runtime.table.active["bench"].candidate
        for name in ("input", "output"):
            object.__setattr__(candidate, name, _Fits(getattr(candidate, name)))
        recorded = calls._audit.on_append
        assert recorded is not None
        calls._audit = _Unwritten(recorded)  # type: ignore[assignment]
        calls._record = _counted  # type: ignore[method-assign]
        yield _called(runtime)


def _counted(flight: Flight, response: Response) -> dict[str, Any]:
    """What the metrics read of a record, and nothing else of it."""
    code, outcome = call_ending(response.error)
    assert flight.capability is not None
    assert flight.host is not None
    return {
        "code": code,
        "outcome": outcome,
        "capability_id": flight.capability.id,
        "duration_us": int((flight.host.now() - flight.started) * 1_000_000),
        "error_kind": response.error.kind.value if response.error else None,
        "host_calls": flight.host.account(),
    }


class _Fits:
    """A schema that nothing is held against."""

    def __init__(self, schema: CompiledSchema) -> None:
        self.empty_is_array = schema.empty_is_array

    def check(self, value: Any) -> list[Any]:
        return []


class _Unwritten:
    """Takes no record; what is counted of each call is counted."""

    def __init__(self, counted: Callable[[Any], None]) -> None:
        self._counted = counted

    def begin(self) -> Reservation:
        return _RESERVED

    def release(self, reservation: Reservation) -> None:
        pass

    def final(self, reservation: Reservation, record: Any) -> Acceptance:
        self._counted(record)
        return ACCEPTED


def _called(runtime: Runtime) -> Call:
    async def call(value: Any) -> Any:
        report = await runtime.call(CallRequest("bench.call", value, _CALLER))
        assert report.response.ok, report.response.error
        return report.response.result

    return call


@contextlib.asynccontextmanager
async def _serving(source: str, audit: AuditMode, callers: int) -> AsyncIterator[Runtime]:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "workspace"
        (root / "capabilities/policies").mkdir(parents=True)
        (root / "capabilities/policies/bench.yaml").write_text(f"version: 1\nceilings: {{concurrency: {callers}}}\n")
        (root / "eva.yaml").write_text(f"version: 1\naudit: {{mode: {audit}}}\n")
        (root / "capabilities/bench.lua").write_text(source)
        (root / "capabilities/bench.yaml").write_text(f"{_MANIFEST}limits: {{concurrency: {callers}}}\n")
        runtime = await Runtime.open(root, state_dir=Path(folder) / "state")
        try:
            yield runtime
        finally:
            await runtime.close()
