"""Who is asked, who is asked next, and who is left alone."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from evatui.control.routes import routed
from evatui.kernel.model.adapter import Breaker
from evatui.kernel.model.call import CallRequest
from evatui.kernel.model.errors import ErrorKind
from evatui.kernel.registry.providers.circuit import Circuit, Rate
from evatui.runtime import Runtime
from tests.adapters.ground import ANN, Start, adapter, asked, called, error
from tests.host.web import Received, Server, answer, serving
from tests.support.workspaces import tool, write


@pytest.fixture
async def servers() -> AsyncIterator[tuple[Server, Server]]:
    async with serving() as one, serving() as two:
        yield one, two


def web(server: Server, name: str, **more: str) -> dict[str, str]:
    return adapter(name, "http", f"{{url: '{server.url}/x', allow_loopback: true}}", **more)


def says(value: Any) -> Callable[[Received], bytes]:
    return lambda _: answer(json.dumps(value))


def busy(_: Received) -> bytes:
    return answer("", "503 Busy")


def route(runtime: Runtime, **fields: Any) -> dict[str, Any]:
    return routed(runtime, CallRequest("test.out", {}, ANN, **fields))


async def test_the_explicit_one_then_priority_then_the_id(
    start: Start, workspace: Path, servers: tuple[Server, Server]
) -> None:
    one, two = servers
    one.say, two.say = says("one"), says("two")
    write(workspace, {**web(two, "beta"), **web(one, "alpha"), **web(two, "high", priority="60")})
    runtime = await start()
    assert (await called(runtime)).capability_id == "high"
    assert (await called(runtime, provider="alpha")).response.result == "one"
    assert [choice.id for choice in runtime.dispatch.choices(CallRequest("test.out", {}, ANN))] == [
        "high",
        "alpha",
        "beta",
    ]
    found = route(runtime)
    assert (found["provider"], found["transport"], found["behind"]) == ("high", "http", ["alpha", "beta"])
    assert found["why"] == ["high answers before alpha, beta: the higher priority (60, 50)", "it is up"]
    assert route(runtime, provider="beta")["why"][0] == "beta was asked for"


async def test_lua_and_adapters_stand_in_one_line(
    start: Start, workspace: Path, servers: tuple[Server, Server]
) -> None:
    servers[0].say = says("web")
    lua = tool("out", 'function invoke() return {ok = true, result = "lua"} end', priority="40")
    write(workspace, {**lua, **web(servers[0], "api")})
    runtime = await start()
    assert (await called(runtime)).response.result == "web"
    assert route(runtime)["behind"] == ["out"]
    assert (await asked(runtime, "call_tool", capability="test.out"))["answered"]["result"] == "lua"


async def test_a_tool_call_goes_to_nothing_outside(
    start: Start, workspace: Path, servers: tuple[Server, Server]
) -> None:
    write(workspace, web(servers[0], "api"))
    found = (await asked(await start(), "call_tool", capability="test.out"))["raised"]
    assert (found["kind"], "invoke_adapter" in found["message"]) == ("NotFound", True)
    assert servers[0].received == []


@pytest.mark.parametrize(("effects", "second"), [("mutating", False), ("idempotent", True), ("none", True)])
async def test_another_one_is_asked_only_where_nothing_is_done_twice(
    start: Start, workspace: Path, servers: tuple[Server, Server], effects: str, second: bool
) -> None:
    one, two = servers
    one.say, two.say = busy, says("two")
    write(workspace, {**web(one, "alpha", side_effects=effects), **web(two, "beta")})
    report = await called(await start())
    assert (report.response.ok, len(two.received)) == (second, int(second))
    assert report.capability_id == ("beta" if second else "alpha")


async def test_what_was_never_sent_is_sent_elsewhere_whatever_it_does(
    start: Start, workspace: Path, servers: tuple[Server, Server]
) -> None:
    one, two = servers
    one.say, two.say = busy, says("two")
    write(workspace, {**web(one, "alpha", breaker="{failures: 1, recovery_ms: 60000}"), **web(two, "beta")})
    runtime = await start()
    assert error(await called(runtime))[0] == "Unavailable"
    assert (await called(runtime)).response.result == "two"
    assert len(one.received) == 1
    found = route(runtime)
    assert found["why"][0] == "beta answers before alpha: alpha is not well"
    assert error(await called(runtime, provider="alpha"))[1].startswith("alpha is down: it failed 1 times in a row")
    topics = [event.topic for event in runtime.bus.since(0)[0] if event.topic.startswith("/adapter/")]
    assert topics == ["/adapter/loaded", "/adapter/loaded", "/adapter/circuit_opened"]


async def test_an_error_that_no_attempt_mends_is_the_answer(
    start: Start, workspace: Path, servers: tuple[Server, Server]
) -> None:
    servers[0].say = lambda _: answer("", "404 No")
    write(workspace, {**web(servers[0], "alpha", side_effects="none"), **web(servers[1], "beta")})
    assert error(await called(await start()))[0] == "HostError"
    assert servers[1].received == []


async def test_lua_that_cannot_is_followed_by_who_can(
    start: Start, workspace: Path, servers: tuple[Server, Server]
) -> None:
    body = 'function invoke() return {ok = false, error = {kind = "Unavailable", message = "x", retryable = true}} end'
    servers[0].say = says("web")
    write(workspace, {**tool("out", body, priority="90"), **web(servers[0], "api")})
    runtime = await start()
    report = await called(runtime)
    assert (report.response.result, report.capability_id) == ("web", "api")
    write(workspace, tool("out", body, priority="90", side_effects="mutating"))
    await runtime.reloader.run(actor=ANN, explicit=True)
    assert error(await called(runtime)) == ("Unavailable", "x")


async def test_too_many_calls_a_second_are_refused(
    start: Start, workspace: Path, servers: tuple[Server, Server]
) -> None:
    write(workspace, web(servers[0], "api", limits="{rate_per_s: 1}"))
    servers[0].say = says(1)
    runtime = await start()
    found = [error(report)[0] for _ in range(3) if not (report := await called(runtime)).response.ok]
    assert "ConcurrencyLimited" in found


class Hand:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.at = 100.0

    def monotonic(self) -> float:
        return self.at


def test_a_circuit_opens_after_faults_in_a_row_and_one_call_tries_it() -> None:
    clock, breaker = Hand(), Breaker(failures=2, recovery_ms=1_000)
    circuit = Circuit(clock)  # type: ignore[arg-type]
    assert circuit.leave(ErrorKind.TIMEOUT, breaker) is None
    assert circuit.leave(None, breaker) is None
    assert circuit.leave(ErrorKind.TIMEOUT, breaker) is None
    assert circuit.leave(ErrorKind.POLICY_DENIED, breaker) is None
    assert circuit.leave(ErrorKind.HOST_ERROR, breaker) is True
    assert not circuit.enter(breaker)
    clock.at += 1.0
    assert circuit.enter(breaker)
    assert not circuit.enter(breaker)
    assert circuit.leave(ErrorKind.UNAVAILABLE, breaker) is None
    assert not circuit.enter(breaker)
    clock.at += 1.0
    assert circuit.enter(breaker)
    assert circuit.leave(ErrorKind.HANDLER_ERROR, breaker) is False
    assert circuit.enter(breaker)


def test_a_rate_is_kept_over_any_second() -> None:
    clock = Hand()
    rate = Rate(clock)  # type: ignore[arg-type]
    assert [rate.take(2) for _ in range(3)] == [True, True, False]
    clock.at += 0.5
    assert [rate.take(2) for _ in range(2)] == [True, False]
    assert all(rate.take(None) for _ in range(100))
