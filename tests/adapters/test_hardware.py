"""The transport ``hardware``: a handler asks for what a device can do, by its name, and never sees a port."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from evatui.control.devices import Devices
from evatui.hardware.simulators.faults import Fault
from evatui.kernel.model.errors import ErrorKind
from evatui.kernel.registry.providers.circuit import Rate
from evatui.kernel.workspace.home import OperatorHome
from tests.adapters.ground import ANN, Start, adapter, asked, called, error, home
from tests.support.workspaces import write

__all__ = ["home"]

RELAY = (
    "{bus: sim, match: {serial: relay}, identity: {logical_name: relay.board},"
    ' protocol: {kind: line_text, commands: {relay.set: "{what} {channel}", relay.read: STATE}}}'
)
NAMES = "[relay.set, relay.read]"


async def test_a_handler_asks_by_name_and_the_answer_says_that_it_is_simulated(start: Start, workspace: Path) -> None:
    write(workspace, adapter("board", "hardware", RELAY, NAMES))
    runtime = await start()
    payload = {"logical_id": "relay.board", "what": "ON", "channel": 3}
    answer = (await asked(runtime, capability="relay.set", payload=payload))["answered"]
    assert answer == {"ok": True, "result": {"text": "00100000", "simulated": True, "device_generation": 1}}
    assert (await called(runtime, "relay.read")).response.result["text"] == "00100000"
    records = await asyncio.to_thread(runtime.audit.tail, 20)
    intent, record = [one for one in records if one["capability"] == "relay.read"]
    assert (intent["code"], record["code"], record["capability_id"]) == ("effect.intent", "call.ok", "board")
    assert record["host_calls"][0]["target"] == "relay.board relay.read"


async def test_what_is_meant_is_checked_before_anything_is_sent(start: Start, workspace: Path) -> None:
    write(workspace, adapter("board", "hardware", RELAY, NAMES))
    runtime = await start()
    for payload, kind in (
        ({"logical_id": "scale.main"}, "DeviceNotFound"),
        ({"logical_id": "/dev/ttyUSB0"}, "DeviceNotFound"),
        ({"expected_generation": 7}, "DeviceStaleGeneration"),
        ({"expected_generation": "\x1b" * 10_000}, "InvalidInput"),
        ({"expected_generation": True}, "InvalidInput"),
        ("raw", "InvalidInput"),
    ):
        assert error(await called(runtime, "relay.read", payload))[0] == kind
    refused = await called(runtime, "relay.set", {"what": "ON 1\nOFF", "channel": 2})
    assert error(refused)[0] == "InvalidInput"
    assert (await called(runtime, "relay.read")).response.result["text"] == "00000000"


async def test_a_device_that_goes_away_in_mid_call_is_an_error_and_comes_back(start: Start, workspace: Path) -> None:
    write(workspace, adapter("board", "hardware", RELAY, NAMES))
    runtime = await start()
    await called(runtime, "relay.read")
    runtime.simulators.script("relay", Fault.MUTE)
    call = asyncio.create_task(called(runtime, "relay.read"))
    tap = runtime.hardware.using.tap(runtime.hardware.using.named("relay.board"))
    async with asyncio.timeout(60):
        while tap.totals.tx_messages < 2:
            await asyncio.sleep(0.001)
    runtime.simulators.script("relay", Fault.UNPLUG)
    report = await asyncio.wait_for(call, 20)
    assert report.response.error is not None
    assert (report.response.error.kind, report.response.error.origin) == ("DeviceDisconnected", "kernel")
    assert runtime.providers.serving["board"].state.word == "down"
    runtime.simulators.script("relay", Fault.NONE)
    await runtime.hardware.rescan(20)
    assert (await called(runtime, "relay.read")).response.result["device_generation"] == 2


async def test_the_policy_says_which_capabilities_no_device_has(start: Start, workspace: Path) -> None:
    write(workspace, adapter("board", "hardware", RELAY, NAMES))
    write(workspace, {"capabilities/policies/no.yaml": "hardware: {denied_capabilities: [relay.set]}\n"})
    runtime = await start()
    assert error(await called(runtime, "relay.set", {"what": "ON", "channel": 1}))[0] == ErrorKind.POLICY_DENIED
    assert (await called(runtime, "relay.read")).response.ok
    write(workspace, {"capabilities/policies/no.yaml": "hardware: {simulators: false}\n"})
    await runtime.reloader.run(explicit=True)
    await runtime.hardware.rescan(20)
    assert error(await called(runtime, "relay.read"))[0] == "DeviceUnauthorized"


async def test_a_manifest_that_reaches_for_a_real_device_waits_for_trust(
    start: Start, workspace: Path, home: OperatorHome
) -> None:
    real = RELAY.replace("bus: sim", "bus: serial")
    write(workspace, adapter("real", "hardware", real, NAMES) | adapter("simulated", "hardware", RELAY, "[relay.read]"))
    runtime = await start(home=home)
    assert [*runtime.providers.held] == ["real"]
    ((_, part),) = runtime.providers.parts()
    assert part.power["devices"] == {"relay.board": {"bus": "serial", "serial": "relay"}}
    assert "simulated" in runtime.providers.serving


async def test_a_manifest_must_say_what_is_sent(start: Start, workspace: Path) -> None:
    write(workspace, adapter("board", "hardware", RELAY, "[relay.set, relay.blow]"))
    write(workspace, adapter("path", "hardware", "{bus: serial, path: /dev/ttyUSB0}", "[test.raw]"))
    runtime = await start()
    said = " ".join(problem.message for problem in runtime.problems)
    assert "protocol.commands does not say what is sent for relay.blow" in said
    assert "path" in said
    assert not {"board", "path"} & {*runtime.providers.serving}


async def test_an_adapter_that_goes_and_comes_back_speaks_for_its_device_again(start: Start, workspace: Path) -> None:
    files = adapter("board", "hardware", RELAY, NAMES)
    write(workspace, files)
    runtime = await start()
    await called(runtime, "relay.read")
    before = runtime.providers.serving["board"].way
    (path,) = files
    (workspace / path).unlink()
    await runtime.reloader.run(explicit=True)
    write(workspace, files)
    await runtime.reloader.run(explicit=True)
    await before.close()
    report = await called(runtime, "relay.read")
    assert report.response.ok, report.response.error
    assert report.response.result["device_generation"] == 1


PANEL = (
    "{bus: sim, match: {serial: panel}, identity: {logical_name: panel.main},"
    ' protocol: {kind: hid_report, report_id: 1, commands: {lamp.set: "{lamp} {on}"}}}'
)


async def test_a_hid_device_is_spoken_to_in_reports(start: Start, workspace: Path) -> None:
    write(workspace, adapter("panel", "hardware", PANEL, "[lamp.set]"))
    runtime = await start()
    report = await called(runtime, "lamp.set", {"lamp": 3, "on": 1})
    assert report.response.result == {"report_id": 1, "hex": "08010000", "simulated": True, "device_generation": 1}


class Standing:
    """A clock on which nothing passes."""

    def monotonic(self) -> float:
        return 0.0


async def test_a_capability_that_is_called_too_often_is_told_when_to_come_again(
    start: Start, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    standing = Standing()
    monkeypatch.setattr("evatui.adapters.hardware.Rate", lambda _, burst: Rate(standing, burst))  # type: ignore[arg-type]
    monkeypatch.setattr("evatui.kernel.registry.providers.provider.Rate", lambda _: Rate(standing))  # type: ignore[arg-type]
    write(workspace, adapter("board", "hardware", RELAY, NAMES))
    write(workspace, adapter("panel", "hardware", PANEL, "[lamp.set]", limits="{rate_per_s: 1}"))
    runtime = await start()
    found = [(await called(runtime, "relay.read")).response.error for _ in range(41)]
    assert found[:-1] == [None] * 40
    assert found[-1] is not None
    assert (found[-1].kind, found[-1].retryable) == ("DeviceRateLimited", True)
    assert found[-1].details["retry_after_ms"] == 50
    assert (await called(runtime, "relay.set", {"what": "ON", "channel": 1})).response.ok
    assert (await called(runtime, "lamp.set", {"lamp": 3, "on": 1})).response.ok
    assert error(await called(runtime, "lamp.set", {"lamp": 3, "on": 1}))[0] == "DeviceRateLimited"


async def test_what_is_said_to_a_device_is_heard_and_written_down_as_long_as_that_is_wanted(
    start: Start, workspace: Path
) -> None:
    write(workspace, adapter("board", "hardware", RELAY, NAMES))
    runtime = await start()
    await runtime.hardware.open()
    assert await runtime.hardware.settled(30)
    work = Devices(runtime).work

    async def order(name: str, **params: Any) -> dict[str, Any]:
        return await work[f"hardware.{name}"]({"key": "relay.board", **params}, ANN)

    assert (await order("monitor"))["heard"] == []
    assert (await order("log"))["log"] == "devices/relay.board.log"
    await called(runtime, "relay.read")
    told = await order("monitor")
    assert [(one["direction"], bytes.fromhex(one["hex"])) for one in told["heard"]] == [
        ("tx", b"STATE\n"),
        ("rx", b"00000000\r\n"),
    ]
    assert (told["simulated"], told["log"], told["totals"]["rx_bytes"]) == (True, "devices/relay.board.log", 10)
    assert sum(told["traffic"]) == 16
    await called(runtime, "relay.read")
    later = await order("monitor", since=told["seq"])
    assert ([one["seq"] for one in later["heard"]], later["dropped"]) == ([3, 4], 0)
    assert (await order("log", off=True))["log"] is None
    await called(runtime, "relay.read")
    rows = (runtime.layout.state_dir / "devices/relay.board.log").read_text().splitlines()
    assert [row.split(" ", 1)[1] for row in rows] == ["tx 6 53544154450a", f"rx 10 {(b'0' * 8).hex()}0d0a"] * 2
