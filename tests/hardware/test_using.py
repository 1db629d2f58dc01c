"""Devices in use: one at a time, and never an answer that is somebody else's."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evatui.hardware.dialect import Dialect
from evatui.hardware.hardware import Hardware
from evatui.hardware.simulators.faults import Fault
from evatui.hardware.trouble import Trouble
from evatui.kernel.records.record import canonical
from evatui.kernel.storage.database import Database
from tests.hardware.bench import RULES
from tests.hardware.rooms import ANN, BOB, SCALE, SCALE_BLOCK, Room, Witness, contend, fails


async def test_the_first_call_opens_it_and_the_others_find_it_open(room: Room) -> None:
    assert room.state() == "authorized"
    assert (await room.ask())["reading"] == 1
    assert room.state() == "online"
    assert [(await room.ask())["reading"] for _ in range(3)] == [2, 3, 4]


async def test_a_device_that_is_unplugged_while_it_is_asked_fails_the_call_at_once_and_comes_back_anew(
    room: Room,
) -> None:
    await room.ask()
    await room.script(Fault.MUTE)
    call = await room.asked()
    room.simulators.script("scale", Fault.UNPLUG)
    trouble = await fails("DeviceDisconnected", asyncio.wait_for(call, 10))
    assert trouble.sent
    assert room.state() == "lost"
    await fails("DeviceDisconnected", room.ask())
    await room.script(Fault.NONE)
    await fails("DeviceStaleGeneration", room.ask(expected=1))
    assert (await room.ask(expected=2))["reading"] > 0


async def test_a_late_answer_is_never_taken_for_another(room: Room) -> None:
    await room.ask()
    await room.script(Fault.SLOW)
    await fails("Timeout", room.ask(0.05))
    assert room.state() == "degraded"
    assert (await room.ask())["reading"] == 3
    assert room.state() == "online"


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (Fault.GARBAGE, "DeviceHandshakeFailed"),
        (Fault.BUSY, "DeviceBusy"),
        (Fault.DENIED, "DeviceNoAccess"),
        (Fault.UNPLUG, "DeviceNotFound"),
        (Fault.TWIN, "DeviceDisconnected"),
    ],
)
async def test_whatever_keeps_it_from_being_used_is_named_and_mended(room: Room, fault: Fault, kind: str) -> None:
    await room.script(fault)
    with contextlib.suppress(Trouble):
        room.hardware.using.named("scale.main")
    if fault is Fault.UNPLUG:
        kind = "DeviceDisconnected"  # it has a name, and is expected back
    await fails(kind, room.ask())
    await room.script(Fault.NONE)
    async with asyncio.timeout(20):
        while True:
            with contextlib.suppress(Trouble):  # after a failure it is left alone for a moment
                assert (await room.ask())["weight_g"] > 0
                return
            await asyncio.sleep(0.02)


async def test_half_an_answer_is_none_and_costs_the_connection_where_answers_have_no_number(room: Room) -> None:
    await room.ask()
    await room.script(Fault.PARTIAL)
    await fails("Timeout", room.ask(0.05))
    await room.script(Fault.NONE)
    assert (await room.ask())["reading"] == 3


async def test_an_answer_is_told_by_its_size_and_digest_ten_times_a_second_at_most(room: Room) -> None:
    device, start = room.hardware.using.named("scale.main"), room.hardware.now
    answer = await room.ask()
    for later_s in (0, 0.05, 0.09, 0.11, 0.15, 0.22):
        now = replace(start, monotonic=start.monotonic + 60 + later_s)
        room.telling.answered(device, "weigh", answer, now)
    told = [event.payload for event in room.bus.since(0)[0] if event.topic == "/hardware/device/data"]
    said = canonical(answer)
    assert len(told) == 1 + 3
    assert {(one["capability"], one["size"], one["sha8"], one["simulated"]) for one in told} == {
        ("weigh", len(said), hashlib.sha256(said).hexdigest()[:8], True)
    }


async def test_an_answer_that_is_no_json_is_told_by_nobody(room: Room) -> None:
    device = room.hardware.using.named("scale.main")
    room.telling.answered(device, "weigh", {"weight_g": 10**20}, room.hardware.now)
    assert "data" not in room.told("/hardware/device")


@pytest.mark.parametrize(("fault", "kind"), [(Fault.GARBAGE, "DeviceProtocolError"), (Fault.MUTE, "Timeout")])
async def test_a_device_that_does_not_do_what_its_manifest_says_is_told_as_an_error_of_its_own(
    room: Room, fault: Fault, kind: str
) -> None:
    await room.ask()
    await room.script(fault)
    trouble = await fails(kind, room.ask(0.05))
    told = [event.payload for event in room.bus.since(0)[0] if event.topic == "/hardware/device/error"]
    assert [(one["kind"], one["cause"], one["logical_id"]) for one in told] == [(kind, trouble.message, "scale.main")]


async def test_what_is_no_fault_of_a_device_is_not_told_as_one(room: Room) -> None:
    await room.hardware.claim(room.hardware.using.named("scale.main"), ANN, "req_1", force=False)
    await fails("DeviceBusy", room.ask())
    room.hardware.using.release(room.hardware.using.named("scale.main"), ANN, force=False)
    await room.script(Fault.BUSY)
    await fails("DeviceBusy", room.ask())
    await fails("DeviceOpenFailed", room.ask())  # it is left alone for a moment
    assert "error" not in room.told("/hardware/device")


async def test_who_gives_up_leaves_nothing_behind_for_the_next(room: Room) -> None:
    await room.ask()
    await room.script(Fault.SLOW)
    call = await room.asked()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert (room.state(), room.told("/hardware/command")) == (
        "authorized",
        ["accepted", "completed", "accepted", "cancelled"],
    )
    await room.script(Fault.NONE)
    assert (await room.ask())["reading"] >= 2


async def test_what_an_operator_has_claimed_is_nobody_elses_until_it_is_released(room: Room) -> None:
    device = room.hardware.using.named("scale.main")
    lease = await room.hardware.claim(device, ANN, "req_1", force=False)
    assert (room.state(), room.hardware.using.lease_of(device)) == ("online", lease)
    assert "ann has claimed" in (await fails("DeviceBusy", room.ask())).message
    await fails("DeviceBusy", room.hardware.claim(device, BOB, "req_2", force=False))
    with pytest.raises(Trouble, match="ann has claimed"):
        room.hardware.using.release(device, BOB, force=False)
    taken = await room.hardware.claim(device, BOB, "req_2", force=True)
    assert taken.epoch > lease.epoch
    with pytest.raises(Trouble, match="bob has claimed"):
        room.hardware.using.release(device, ANN, force=False)
    room.hardware.using.release(device, ANN, force=True)
    assert room.state() == "authorized"
    assert (await room.ask())["weight_g"] > 0
    assert room.told("/hardware/lease") == ["granted", "revoked", "granted", "revoked"]


async def test_a_claim_ends_when_the_device_goes_and_releasing_it_brings_nothing_back(room: Room) -> None:
    device = room.hardware.using.named("scale.main")
    await room.hardware.claim(device, ANN, "req_1", force=False)
    await room.script(Fault.UNPLUG)
    assert room.state() == "lost"
    with pytest.raises(Trouble, match="nobody has claimed"):
        room.hardware.using.release(device, ANN, force=True)
    assert room.state() == "lost"
    await room.script(Fault.NONE)
    assert (room.state(), room.hardware.using.lease_of(device)) == ("authorized", None)
    assert room.told("/hardware/lease") == ["granted", "revoked"]


async def test_a_claim_that_is_wanted_again_comes_back_with_the_device_as_another_lease(room: Room) -> None:
    device = room.hardware.using.named("scale.main")
    lease = await room.hardware.claim(device, ANN, "req_1", force=False, again=True)
    await room.script(Fault.UNPLUG)
    with pytest.raises(Trouble, match="somebody else wants"):
        room.hardware.release(device, BOB, force=False)
    await room.script(Fault.NONE)
    async with asyncio.timeout(60):
        while room.told("/hardware/lease")[-1] != "granted":
            await asyncio.sleep(0.01)
    now = room.hardware.using.lease_of(device)
    assert now is not None
    assert (now.owner.who, now.generation, now.epoch > lease.epoch) == ("ann", 2, True)
    await room.script(Fault.UNPLUG)
    assert room.hardware.release(device, ANN, force=False).owner.who == "ann"
    await room.script(Fault.NONE)
    assert (await room.ask())["weight_g"] > 0
    assert room.told("/hardware/lease") == ["granted", "revoked", "granted", "revoked"]


async def test_one_that_comes_back_as_another_is_wanted_no_more(room: Room) -> None:
    device = room.hardware.using.named("scale.main")
    await room.hardware.claim(device, ANN, "req_1", force=False, again=True)
    await room.script(Fault.UNPLUG)
    room.simulators.script("scale", Fault.DENIED)
    async with asyncio.timeout(60):
        while room.told("/hardware/lease")[-1] != "expired":
            await room.hardware.rescan(30)
    assert room.told("/hardware/lease") == ["granted", "revoked", "expired"]


async def test_a_claim_of_a_runtime_that_died_is_told_at_the_next_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Hardware, "rules", RULES)
    database = Database(None)
    before = Room(database)
    await before.hardware.open()
    await before.hardware.settled(20)
    await before.hardware.claim(before.hardware.using.named("scale.main"), ANN, "req_1", force=False)
    after = Room(database)
    await after.hardware.open()
    assert after.told("/hardware/lease") == ["orphaned"]
    for room in (before, after):
        await room.hardware.close()


async def test_the_policy_takes_a_device_from_whoever_has_it(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    await room.ask()
    await room.script(Fault.MUTE)
    call = await room.asked()
    monkeypatch.setattr(Hardware, "rules", type(RULES)(enabled=True, buses=frozenset(), simulators=True))
    await room.hardware.rescan(20)
    await fails("DeviceUnauthorized", asyncio.wait_for(call, 10))
    await fails("DeviceUnauthorized", room.ask())


async def test_of_many_that_ask_at_once_each_gets_its_own_answer_while_the_plug_is_pulled_and_claims_come_and_go(
    room: Room,
) -> None:
    await contend(room, rounds=6)


DEEDS = ("ask", "ask", "ask", "other", "claim", "take", "release", "unplug", "plug", "mute", "give up")


@given(st.lists(st.sampled_from(DEEDS), min_size=4, max_size=14))
@settings(max_examples=8, deadline=None, derandomize=True)
def test_whatever_happens_in_whatever_order_one_writes_at_a_time_and_no_answer_is_anothers(deeds: list[str]) -> None:
    asyncio.run(play(deeds))


async def play(deeds: list[str]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Hardware, "rules", RULES)
        patch.setattr("evatui.hardware.device.DEBOUNCE_S", 0.0)
        room, witness, others = Room(Database(None)), Witness(), Dialect({**SCALE_BLOCK, "baud_rate": 19_200})
        await room.hardware.open()
        await room.hardware.settled(30)
        using, device = room.hardware.using, room.hardware.using.named("scale.main")
        using.tap(device).log_to(witness)
        asked: list[asyncio.Task[object]] = []
        for deed in deeds:
            match deed:
                case "ask" | "other":
                    dialect = SCALE if deed == "ask" else others
                    asked.append(asyncio.create_task(room.ask(0.1, dialect=dialect)))
                case "claim" | "take":
                    with contextlib.suppress(Trouble):
                        await room.hardware.claim(using.named("scale.main"), ANN, "req", force=deed == "take")
                case "release":
                    with contextlib.suppress(Trouble):
                        using.release(using.named("scale.main"), ANN, force=True)
                case "give up" if asked:
                    asked[-1].cancel()
                case "unplug" | "mute":
                    room.simulators.script("scale", Fault(deed))
                case "plug":
                    await room.script(Fault.NONE)
            await asyncio.sleep(0.001)
        answers = [one for one in await asyncio.gather(*asked, return_exceptions=True) if isinstance(one, dict)]
        await room.hardware.close()
        readings = [one["reading"] for one in answers]
        assert len(readings) == len({*readings})
        assert witness.wrong == []


async def test_plugging_and_unplugging_leaves_no_descriptor_open(room: Room) -> None:
    await room.ask()
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(20):
        await room.script(Fault.UNPLUG)
        await room.script(Fault.NONE)
        await room.ask()
    async with asyncio.timeout(20):
        while len(os.listdir("/proc/self/fd")) > before:
            await asyncio.sleep(0.01)
