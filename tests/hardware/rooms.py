"""Simulated devices in use, through real ports, and those who use them at once."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

import pytest

from evatui.hardware.dialect import Dialect
from evatui.hardware.hardware import Hardware
from evatui.hardware.matching import Match
from evatui.hardware.sighting import Bus
from evatui.hardware.simulators.faults import Fault
from evatui.hardware.simulators.simulators import Simulators
from evatui.hardware.sources.remote_ports import RemotePorts
from evatui.hardware.station import Owner
from evatui.hardware.tap import Direction, Heard
from evatui.hardware.telling import Telling
from evatui.hardware.trouble import Trouble
from evatui.kernel.model.call import Actor, CallerType
from evatui.kernel.model.clock import SYSTEM_CLOCK
from evatui.kernel.records.events import EventBus
from evatui.kernel.storage.database import Database
from evatui.kernel.storage.device_book import DeviceBook
from tests.hardware.bench import RULES

__all__ = ["ANN", "BASE", "BOB", "SCALE", "SCALE_BLOCK", "Room", "Witness", "contend", "fails", "opened_room"]

BASE: dict[str, Any] = {
    "kind": "line_text",
    "commands": {"relay.set": "{what} {channel}"},
    "terminator": "\r\n",
    "max_frame_bytes": 64,
    "frame_bytes": 1,
    "length_bytes": 2,
    "delimiter": ";",
    "baud_rate": 9600,
    "data_bits": 8,
    "parity": "none",
    "stop_bits": 1,
    "dtr_on_open": "keep",
    "rts_on_open": "keep",
    "report_id": 0,
    "answer_report_id": None,
    "report_type": "output",
    "settle_ms": 0,
    "handshake": None,
    "handshake_timeout_ms": 100,
}
"""Of a manifest."""
ANN, BOB = Actor(CallerType.USER, "ann"), Actor(CallerType.USER, "bob")
GREETING = {"handshake": {"send": "ID?", "expect": "EVA-SCALE"}, "handshake_timeout_ms": 10_000}
SCALE_BLOCK = {**BASE, **GREETING, "kind": "line_json", "terminator": "\n"}
SCALE = Dialect(SCALE_BLOCK)


class Quiet:
    """A journal of which nobody asks anything."""

    def write(self, *_: object, **__: object) -> None: ...

    def defect(self, where: str, error: BaseException) -> None:
        raise error

    def later(self, work: Any) -> None:
        work()


class Room:
    def __init__(self, database: Database) -> None:
        self.simulators = Simulators()
        self.bus = EventBus(SYSTEM_CLOCK, ring=512)
        self.telling = telling = Telling(self.bus, Quiet())  # type: ignore[arg-type]
        self.hardware = Hardware(
            (self.simulators, RemotePorts(lambda: self.hardware.addresses)),
            DeviceBook(database),
            lambda: None,
            telling,
            SYSTEM_CLOCK,
        )
        self.hardware.expect("scale-main", Match("scale.main", Bus.SIM, serial="scale"), SCALE)

    async def ask(
        self, left_s: float = 20.0, expected: int | None = None, dialect: Dialect = SCALE, **payload: Any
    ) -> Any:
        device = self.hardware.using.named("scale.main")
        owner = Owner("call", "ann")
        return await self.hardware.using.ask(device, dialect, "weigh", payload, owner, left_s, expected)

    async def script(self, fault: Fault) -> None:
        self.simulators.script("scale", fault)
        await self.hardware.rescan(20)
        await self.hardware.rescan(20)

    async def asked(self) -> asyncio.Task[Any]:
        """A call that is under way: its request was sent."""
        tap = self.hardware.using.tap(self.hardware.using.named("scale.main"))
        before = tap.totals.tx_messages
        call = asyncio.create_task(self.ask())
        async with asyncio.timeout(60):
            while tap.totals.tx_messages == before and not call.done():
                await asyncio.sleep(0.001)
        return call

    def state(self) -> str:
        return self.hardware.using.named("scale.main").state.value

    def told(self, root: str) -> list[str]:
        return [event.topic.rpartition("/")[2] for event in self.bus.since(0)[0] if event.topic.startswith(root)]


@contextlib.asynccontextmanager
async def opened_room(patch: pytest.MonkeyPatch) -> AsyncIterator[Room]:
    """With all its devices settled, and no debounce."""
    patch.setattr(Hardware, "rules", RULES)
    patch.setattr("evatui.hardware.device.DEBOUNCE_S", 0.0)
    room = Room(Database(None))
    await room.hardware.open()
    assert await room.hardware.settled(60)
    yield room
    await room.hardware.close()


async def fails(kind: str, work: Any) -> Trouble:
    with pytest.raises(Trouble) as trouble:
        await work
    assert trouble.value.kind == kind, trouble.value.message
    return trouble.value


class Witness:
    """Hears all that is said to a device: under one lease after the other, each answer under that of its request."""

    def __init__(self) -> None:
        self.newest = 0
        self.requests = 0
        self.wrong: list[str] = []

    def __call__(self, heard: Heard) -> None:
        if heard.direction is Direction.SENT:
            self.requests += 1
            if heard.epoch < self.newest:
                self.wrong.append(f"written under lease {heard.epoch} after {self.newest}")
            self.newest = heard.epoch
        elif heard.epoch != self.newest:
            self.wrong.append(f"read under lease {heard.epoch}, and lease {self.newest} had written")

    def close(self) -> None: ...


async def contend(room: Room, rounds: int) -> None:
    """Eight that ask, of two versions of a capability that speak in three ways, an operator who claims, and somebody
    who pulls the plug. There are never two that write, and readings never repeat."""
    readings: list[int] = []
    over, witness = asyncio.Event(), Witness()
    versions = [SCALE, SCALE, Dialect({**SCALE_BLOCK, "baud_rate": 19_200}), Dialect(SCALE_BLOCK)]
    turned = 0
    room.hardware.using.tap(room.hardware.using.named("scale.main")).log_to(witness)

    async def asking() -> None:
        while not over.is_set():
            with contextlib.suppress(Trouble):
                readings.append((await room.ask(5.0, dialect=versions[turned % len(versions)]))["reading"])
            await asyncio.sleep(0.002)

    async def claiming() -> None:
        while not over.is_set():
            with contextlib.suppress(Trouble):
                device = room.hardware.using.named("scale.main")
                lease = await room.hardware.claim(device, ANN, "req", force=True)
                assert room.hardware.using.lease_of(device) in (lease, None)
                room.hardware.using.release(device, ANN, force=True)
            await asyncio.sleep(0.02)

    tasks = [asyncio.create_task(asking()) for _ in range(8)] + [asyncio.create_task(claiming())]
    for number in range(rounds):
        room.simulators.script("scale", Fault.UNPLUG if number % 2 else Fault.SLOW if number % 4 else Fault.NONE)
        await asyncio.sleep(0.02)
        turned += 1
        await room.script(Fault.NONE)
    while (before := len(readings)) < rounds:  # it goes on, however slowly
        async with asyncio.timeout(60):
            while len(readings) == before:
                await asyncio.sleep(0.01)
    over.set()
    await asyncio.gather(*tasks)
    assert len(readings) == len(set(readings))
    assert witness.wrong == []
    assert witness.requests >= len(readings)
    print(f"\n{rounds} pulled plugs: {len(readings)} answers to {witness.requests} requests, leases {witness.newest}")
