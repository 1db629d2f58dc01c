"""What the libraries see, whatever they do; and that looking opens nothing."""

from __future__ import annotations

import asyncio
import itertools
import os
import sys
import threading
from pathlib import Path

import pytest

from evatui.hardware.fix import holder_fix, udev_fix, wsl_fix
from evatui.hardware.sighting import Bus, Sighting
from evatui.hardware.sources import looking
from evatui.hardware.sources.hid_devices import HidDevices
from evatui.hardware.sources.looking import Looking
from evatui.hardware.sources.node import glance_at_nodes, look_at_node
from evatui.hardware.sources.serial_ports import SerialPorts
from tests.hardware.bench import port
from tests.support.ports import Ports

ENTRY = {
    "path": b"/dev/hidraw7",
    "vendor_id": 0x16C0,
    "product_id": 0x05DF,
    "serial_number": "",
    "release_number": 1,
    "manufacturer_string": "maker\x1b[31m\u202e\n",
    "product_string": "USBRelay2",
    "usage_page": 0xFF00,
    "usage": 1,
    "interface_number": 0,
    "bus_type": 1,
}


def test_a_serial_port_says_who_it_is_and_where(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ports = Ports(tmp_path, monkeypatch)
    ports.plug("ttyUSB0", "FT-EVA-1", "1-2.3:1.1")
    (seen,) = SerialPorts().scan()
    assert (seen.vendor, seen.product, seen.serial, seen.topology, seen.interface) == (
        0x0403,
        0x6001,
        "FT-EVA-1",
        "1-2.3",
        "if1",
    )
    assert str(tmp_path) not in repr(seen)
    ports.plug("ttyUSB0", "FT-EVA-1", "1-2.3:1.1")
    assert SerialPorts().scan()[0].attachment != seen.attachment


def test_a_hid_device_with_several_usages_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    more = {**ENTRY, "usage_page": 1, "usage": 6}
    other = {**ENTRY, "path": b"/dev/hidraw8", "interface_number": -1, "serial_number": None, "product_string": None}
    monkeypatch.setattr("hidraw.enumerate", lambda: [ENTRY, more, other])
    one, two = HidDevices().scan()
    assert (one.usage, one.interface, one.name) == ("0001.0006", "if0", "USBRelay2")
    assert not set(one.maker) & {"\x1b", "\u202e", "\n"}
    assert (two.interface, two.serial, two.name) == ("", "", "HID device")
    assert (one.access.ok, "no device node" in one.access.reason) == (False, True)


def test_the_library_of_that_name_must_be_hidapi(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("hidraw.device")
    with pytest.raises(ImportError, match="another package"):
        HidDevices().scan()


def test_the_real_libraries_answer_here_whatever_is_plugged_in() -> None:
    for source in (SerialPorts(), HidDevices()):
        assert all(seen.bus is source.bus for seen in source.scan())


def test_a_node_that_is_closed_says_whose_it_is_and_what_to_type(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    node = tmp_path / "ttyUSB0"
    node.touch()
    monkeypatch.setattr(os, "access", lambda *_, **__: False)
    monkeypatch.setattr(os, "supports_effective_ids", {os.access})
    node.chmod(0o600)
    _, closed = look_at_node(str(node), Bus.SERIAL, 0x0403, 0x6001)
    assert 'SUBSYSTEM=="tty", ATTRS{idVendor}=="0403", ATTRS{idProduct}=="6001", TAG+="uaccess"' in closed.fix
    os.chown(node, -1, 20) if os.geteuid() == 0 else None
    node.chmod(0o660)
    if node.stat().st_gid != 0:
        _, grouped = look_at_node(str(node), Bus.SERIAL, 0x0403, 0x6001)
        assert grouped.fix.startswith("sudo usermod -aG ")
    assert str(tmp_path) not in closed.reason + closed.fix


def test_a_rule_for_hid_covers_both_ways_to_it() -> None:
    rule = udev_fix(Bus.HID, 0x16C0, 0x05DF)
    assert 'SUBSYSTEM=="hidraw"' in rule
    assert 'SUBSYSTEM=="usb"' in rule


def test_a_program_that_asks_everything_whether_it_is_a_modem_is_told_to_leave_it_alone() -> None:
    assert 'ATTRS{idProduct}=="6001", ENV{ID_MM_DEVICE_IGNORE}="1"' in holder_fix("ModemManager", 7, 0x0403, 0x6001)
    assert holder_fix("picocom", 7, 0x0403, 0x6001) == "end pid 7, or wait for it"


def test_only_windows_subsystem_for_linux_has_to_be_handed_its_devices() -> None:
    assert "usbipd attach" in wsl_fix("5.15.90.1-microsoft-standard-WSL2")
    assert wsl_fix("6.1.0-18-amd64") == ""


class Scripted:
    name = "scripted"
    bus = Bus.SERIAL
    from_memory = False

    def __init__(self, *answers: object) -> None:
        self.answers = list(answers)
        self.seen: object = None
        self.go_on = threading.Event()

    def glance(self) -> object:
        return self.seen

    def scan(self) -> list[Sighting]:
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        if answer == "hang":
            self.go_on.wait(30)
            return []
        assert isinstance(answer, list)
        return answer


async def test_whatever_a_library_raises_is_a_problem_with_its_kind_and_nothing_that_it_says() -> None:
    watched = Looking(Scripted(TypeError("/dev/ttyUSB0"), OSError(5, "/dev/ttyUSB0"), [port()]))
    assert [(await watched.look()).problem for _ in range(2)] == ["TypeError", "OSError"]
    assert (await watched.look()).sightings == (port(),)
    watched.close()


async def test_a_source_that_hangs_is_given_up_for_now_and_its_late_answer_is_taken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(looking, "DEADLINE_S", 0.01)
    source = Scripted("hang", [port()])
    watched = Looking(source)
    assert "no answer" in (await watched.look()).problem
    assert "no answer" in (await watched.look()).problem
    source.go_on.set()
    async with asyncio.timeout(30):
        while (look := await watched.look()).sightings is None:
            pass
    assert look.sightings == ()
    assert (await watched.look()).sightings == (port(),)
    watched.close()


async def test_what_was_seen_twice_and_looks_the_same_at_a_glance_is_not_read_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    source = Scripted([port()], [port()], [], [], OSError(5, "gone"), [port()], [port()], [], [port()])
    watched = Looking(source)
    source.seen = "one node"
    assert [(await watched.look()).sightings for _ in range(4)] == [(port(),)] * 4
    source.seen = "none"
    assert [(await watched.look()).sightings for _ in range(4)] == [()] * 4
    watched.renew()
    assert (await watched.look()).problem == "OSError"
    assert [(await watched.look()).sightings for _ in range(4)] == [(port(),)] * 4, "after a failure it is read"
    monkeypatch.setattr(looking, "FULL_S", 0.0)
    watched.renew()
    assert [(await watched.look()).sightings for _ in range(2)] == [(), (port(),)], "and now and then without a reason"
    watched.close()
    assert not source.answers


async def test_a_reading_that_misses_a_device_does_not_stand_for_the_next_one() -> None:
    source = Scripted([port()], [port()], [], [port()])
    watched = Looking(source)
    source.seen = "one node"
    assert [(await watched.look()).sightings for _ in range(2)] == [(port(),)] * 2
    source.seen = "another one besides"
    assert [(await watched.look()).sightings for _ in range(2)] == [(), (port(),)]
    watched.close()


@pytest.mark.skipif(sys.platform != "linux", reason="there are no such nodes")
def test_a_glance_tells_whatever_may_change_a_port(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evatui.hardware.sources.node._FOLDER", str(tmp_path))
    (tmp_path / "ttyUSB0").touch()
    (tmp_path / "tty1").touch()
    seen = [glance_at_nodes("tty")]
    (tmp_path / "tty1").write_text("somebody typed")
    assert glance_at_nodes("tty") == seen[0]
    anew = tmp_path / "anew"
    changes = [
        lambda: (tmp_path / "ttyACM0").touch(),
        lambda: (anew.touch(), anew.replace(tmp_path / "ttyUSB0")),
        lambda: (tmp_path / "ttyUSB0").chmod(0o600),
        lambda: (tmp_path / "ttyACM0").unlink(),
    ]
    for change in changes:
        change()
        seen.append(glance_at_nodes("tty"))
    assert all(one != other for one, other in itertools.pairwise(seen))
    monkeypatch.setattr("evatui.hardware.sources.node._FOLDER", str(tmp_path / "none"))
    assert glance_at_nodes("tty") is None
