"""Devices, asked for when one looks, and again when something was plugged in or out."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

from evatui.console.view.actions import View
from evatui.console.view.devices import device_preview, device_row, devices_in, no_devices
from evatui.console.view.ink import plain
from evatui.console.view.monitor import Monitor, monitor_lines
from evatui.console.view.words import Look
from evatui.control.failing import CommandFailed
from evatui.kernel.model.errors import ErrorKind
from tests.console.conftest import OpenConsole
from tests.console.scene import at, reload_events, scene

LOOK = Look(picture=True)


def device(key: str, **more: Any) -> dict[str, Any]:
    fields = {
        "key": key,
        "logical_id": None,
        "bus": "serial",
        "state": "quarantined",
        "strength": "weak",
        "simulated": False,
        "owner": None,
        "reason": "nobody has said what it is",
        "fix": f"eva hardware bind {key} NAME",
        "name": "serial port",
        "since": at("14:00:00"),
    }
    return fields | more


DATA = {
    "devices": [
        device("serial:1"),
        device("sim:scale", logical_id="scale", bus="sim", state="online", simulated=True, reason="", fix=""),
    ],
    "sources": [{"name": "serial", "problem": ""}],
}


def test_a_row_says_its_state_its_name_and_why_it_may_not_be_used() -> None:
    first, second = devices_in(DATA)
    cells = [plain(cell) for cell in device_row(first, LOOK).cells]
    assert cells == ["⊘ quarantined", "serial port", "serial", "–", "nobody has said what it is", "14:00:00"]
    assert plain(device_row(second, LOOK).cells[1]) == "scale SIM"
    told = "\n".join(plain(part) for part in device_preview(first, 80, LOOK))
    assert "to mend it: eva hardware bind serial:1 NAME" in told


def test_a_row_says_who_has_it() -> None:
    owner = {"kind": "operator", "who": "ann", "epoch": 3, "since": at("14:00:00"), "request_id": "req_1"}
    (held,) = devices_in({"devices": [device("serial:1", owner=owner)]})
    assert plain(device_row(held, LOOK).cells[3]) == "ann"
    assert any("ann" in plain(part) for part in device_preview(held, 80, LOOK))


def test_an_empty_list_says_where_it_was_looked() -> None:
    told = [plain(row) for row in no_devices([{"name": "serial", "problem": ""}, {"name": "hid", "problem": "denied"}])]
    assert "serial: ● looked" in told
    assert "hid: ✗ denied" in told


async def test_they_are_asked_for_when_one_looks_and_again_after_an_event(console: OpenConsole) -> None:
    async with console(answers={"hardware.list": DATA}) as it:
        assert it.operator.sent("hardware.list") == []
        await it.press("4")
        assert [row.key for row in it.app.pane.rows.shown] == ["serial:1", "sim:scale"]
        assert "nobody has said what it is" in it.status
        await it.press("1", "4")
        assert len(it.operator.sent("hardware.list")) == 1
        it.operator.answers["hardware.list"] = {**DATA, "devices": []}
        plugged = replace(reload_events()[0], seq=99, topic="/hardware/device/lost")
        await it.change(scene(events=(*reload_events(), plugged), at=at("14:03:00")))
        await it.settle()
        assert "No devices." in it.screen
        it.operator.answers["hardware.list"] = CommandFailed(ErrorKind.UNAVAILABLE, "the runtime ends")
        await it.change(scene(events=(plugged, replace(plugged, seq=100)), at=at("14:04:00")))
        await it.settle()
        assert "✗ Unavailable  the runtime ends" in it.screen


OWNER = {"kind": "operator", "who": "ann", "epoch": 3, "since": at("14:00:00"), "request_id": "req_1"}
PLUGGED = [
    {"generation": 2, "attached": at("14:00:00"), "detached": "", "reason": ""},
    {"generation": 1, "attached": at("13:00:00"), "detached": at("13:30:00"), "reason": "unplugged"},
]


def test_the_selected_one_says_who_has_it_and_when_it_was_plugged_in() -> None:
    (held,) = devices_in({"devices": [device("serial:1", owner=OWNER, waiting=2, history=PLUGGED)]})
    told = [plain(part) for part in device_preview(held, 100, LOOK)]
    assert "lease    ann claimed it, since 14:00:00; 2 wait" in told
    assert "gen 2    plugged in 14:00:00, and is there" in told
    assert "gen 1    plugged in 13:00:00 to 13:30:00, unplugged" in told


async def test_a_device_is_claimed_and_released_after_a_question(console: OpenConsole) -> None:
    free = device("sim:scale", logical_id="scale", state="authorized", reason="", fix="", simulated=True)
    answers = {"hardware.list": {"devices": [free], "sources": []}, "hardware.claim": {}, "hardware.release": {}}
    async with console(answers=answers, view=View.DEVICES) as it:
        await it.settle()
        await it.press("colon", *"claim", "enter")
        assert "Claim scale?" in it.screen
        assert "eva hardware claim sim:scale" in it.screen
        await it.armed()
        await it.press("y")
        assert it.operator.sent("hardware.claim")[0]["key"] == "sim:scale"
        it.operator.answers["hardware.list"] = {"devices": [{**free, "state": "online", "owner": OWNER}], "sources": []}
        claimed = replace(reload_events()[0], seq=99, topic="/hardware/lease/granted")
        await it.change(scene(events=(*reload_events(), claimed), at=at("14:03:00")))
        await it.settle()
        await it.press("colon", *"release-force", "enter")
        assert "Take scale from ann?" in it.screen
        await it.armed()
        await it.press(*"scale", "enter")
        assert it.operator.sent("hardware.release")[0] == {"key": "sim:scale", "force": True, "typed": "scale"}


HEARD = [
    {"seq": 1, "at": at("14:00:01"), "direction": "tx", "size": 4, "epoch": 1, "hex": b"ID?\n".hex()},
    {"seq": 2, "at": at("14:00:02"), "direction": "rx", "size": 600, "epoch": 1, "hex": b"EVA-SCALE 1\r\n".hex()},
]
TOTALS = {"rx_bytes": 600, "tx_bytes": 4, "rx_messages": 1, "tx_messages": 1, "discarded": 3, "gaps": 1}
SAID = {
    "key": "sim:scale", "logical_id": "scale", "state": "online", "simulated": True, "heard": HEARD, "seq": 2,
    "more": False, "dropped": 0, "totals": TOTALS, "traffic": [0] * 59 + [604], "lines": {"cts": True, "ri": False},
    "log": None,
}  # fmt: skip


async def test_what_is_said_is_watched_filtered_stopped_and_logged(console: OpenConsole) -> None:
    online = device("sim:scale", logical_id="scale", state="online", reason="", owner=OWNER, fix="", simulated=True)
    answers = {"hardware.list": {"devices": [online], "sources": []}, "hardware.monitor": SAID, "hardware.log": {}}
    async with console(answers=answers, view=View.DEVICES) as it:
        await it.settle()
        await it.press("enter", "2")
        assert "req_1" in it.screen
        assert it.operator.sent("hardware.monitor") == []
        await it.press("3")
        assert it.operator.sent("hardware.monitor")[0] == {"key": "sim:scale"}
        for told in ("→ 0000  49 44 3f 0a", "ID?.", "+587 bytes", "CTS", "3 discarded", "1 gaps", "← 600 B"):
            assert told in it.screen
        it.operator.answers["hardware.monitor"] = {**SAID, "heard": []}
        await it.press("t", "slash", *"eva-", "enter")
        assert ("ID?" in it.screen, "45 56 41 2d" in it.screen) == (False, True)
        await it.press("L")
        assert it.operator.sent("hardware.log") == [{"key": "sim:scale"}]
        await it.press("space")
        it.operator.answers["hardware.monitor"] = {**SAID, "heard": HEARD, "seq": 4, "log": "devices/scale.log"}
        async with asyncio.timeout(60):
            while "stopped, +" not in it.screen or "to devices/scale.log" not in it.screen:
                await it.pilot.pause(0.02)
        assert "since" in it.operator.sent("hardware.monitor")[-1]
        await it.press("L")
        assert it.operator.sent("hardware.log")[1:] == [{"key": "sim:scale", "off": True}]


async def test_how_much_was_said_and_lost_stands_still_while_the_rest_goes_by(console: OpenConsole) -> None:
    online = device("sim:scale", logical_id="scale", state="online", reason="", fix="", simulated=True)
    heard = [{**HEARD[0], "seq": number} for number in range(1, 60)]
    answers = {"hardware.list": {"devices": [online], "sources": []}, "hardware.monitor": {**SAID, "heard": heard}}
    async with console(answers=answers, view=View.DEVICES, size=(80, 24)) as it:
        await it.settle()
        await it.press("enter", "3")
        async with asyncio.timeout(60):
            while not it.app.screen.query_one(".body").scroll_offset.y:
                await it.pilot.pause(0.02)
        for told in ("3 Monitor", "← 600 B", "3 discarded", "L log"):
            assert told in it.screen


async def test_what_mends_a_device_is_copied_and_never_run(console: OpenConsole) -> None:
    async with console(answers={"hardware.list": DATA}, view=View.DEVICES, size=(80, 24)) as it:
        await it.settle()
        await it.press("enter", "shift+tab")
        assert "eva hardware bind serial:1 NAME" in it.screen
        await it.press("tab", "tab", "tab", "tab")
        assert "never plugged in" in it.screen
        await it.press("tab")
        await it.armed()
        await it.press("C")
        assert it.app.clipboard == "eva hardware bind serial:1 NAME"


def test_the_bytes_of_the_last_seconds_stand_beside_a_device() -> None:
    (used,) = devices_in({"devices": [device("serial:1", traffic=[0] * 58 + [7, 14])]})
    assert f"bytes    {'▁' * 28}▅█ 14 B/s at most" in [plain(part) for part in device_preview(used, 80, LOOK)]
    (idle,) = devices_in({"devices": [device("serial:1", traffic=[0] * 60)]})
    assert not any("bytes" in plain(part) for part in device_preview(idle, 80, LOOK))


async def test_each_snapshot_has_the_devices_and_whoever_has_them(console: OpenConsole) -> None:
    async with console(answers={"hardware.list": DATA}, view=View.DEVICES) as it:
        await it.settle()
        taken = {**DATA, "devices": [device("serial:1", state="online", owner=OWNER)]}
        await it.change(replace(scene(events=reload_events(), at=at("14:03:00")), devices=taken))
        assert [row.key for row in it.app.pane.rows.shown] == ["serial:1"]
        assert "ann" in it.screen


async def test_a_device_gets_a_name_after_a_question(console: OpenConsole) -> None:
    answers = {"hardware.list": DATA, "hardware.bind": {}}
    async with console(answers=answers, view=View.DEVICES) as it:
        await it.settle()
        await it.press("colon", *"bind", "enter")
        assert "Bind serial port" in it.screen
        await it.armed()
        await it.press(*"scale", "full_stop", *"main", "enter")
        assert "From now on scale.main means this device." in it.screen
        assert "known by where it is plugged in" in it.screen
        await it.armed()
        await it.press("y")
        assert it.operator.sent("hardware.bind") == [{"key": "serial:1", "name": "scale.main"}]


def test_a_device_that_floods_makes_no_more_lines_than_somebody_could_read_the_newest_last() -> None:
    monitor = Monitor()
    said = [{**HEARD[1], "seq": number, "hex": bytes([number % 251]).hex() * 1_024} for number in range(1, 301)]
    monitor.take({**SAID, "heard": said})
    rows = [plain(row) for row in monitor_lines(monitor, 110, LOOK)]
    assert 400 <= len(rows) < 500
    assert f"{300 % 251:02x} {300 % 251:02x}" in rows[-1]
    monitor.query = "^(27 ?)+$"
    assert not any("passes" in plain(row) for row in monitor_lines(monitor, 110, LOOK))
