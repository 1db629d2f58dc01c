"""Devices, asked for when one looks, and again when something was plugged in or out."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from evatui.console.view.devices import device_preview, device_row, devices_in, no_devices
from evatui.console.view.ink import plain
from evatui.console.view.words import Look
from evatui.control.operator import CommandFailed
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
