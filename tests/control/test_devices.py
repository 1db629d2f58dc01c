"""Devices by the operator: seen, explained, named; in the process, over the socket, and where no runtime is."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from evatui.control.failing import CommandFailed
from evatui.control.opening import OpenMode
from evatui.control.operator import Operator
from evatui.control.snapshot import Cursor
from evatui.kernel.model.errors import ErrorKind
from tests.control.crowd import ANN, opened
from tests.support.ports import Ports
from tests.support.workspaces import GREETER, write

STRONG = "serial:0403:6001:s.FT-EVA-1"
SIM = "sim:1209:e7a0:sim.scale"
WEAK = "serial:0403:6001:t.1-2"


@pytest.fixture(autouse=True)
def ports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ports:
    folder = tmp_path / "dev"
    folder.mkdir()
    ports = Ports(folder, monkeypatch)
    ports.plug("ttyUSB0", "FT-EVA-1", "1-1")
    ports.plug("ttyUSB1", None, "1-2")
    return ports


async def state(operator: Operator, key: str) -> str:
    rows = (await operator.run("hardware.rescan"))["devices"]
    return next((row["state"] for row in rows if key in (row["key"], row["logical_id"])), "")


async def until(operator: Operator, key: str, wanted: str) -> None:
    async with asyncio.timeout(60):
        while await state(operator, key) != wanted:
            await asyncio.sleep(0)


async def test_what_is_plugged_in_is_listed_with_the_reason_why_it_may_not_be_used(
    operator: Operator, tmp_path: Path
) -> None:
    found = await operator.run("hardware.list")
    rows = {row["key"]: row for row in found["devices"] if not row["simulated"]}
    assert {key: (row["state"], row["strength"], row["generation"]) for key, row in rows.items()} == {
        STRONG: ("quarantined", "strong", 1),
        WEAK: ("quarantined", "weak", 1),
    }
    assert rows[WEAK]["fix"] == f"eva hardware bind {WEAK} NAME"
    assert {source["name"]: source["problem"] for source in found["sources"]} == {
        "serial": "",
        "hidraw": "",
        "remote": "",
        "simulators": "",
    }
    assert str(tmp_path) not in str(found) + str(await operator.run("hardware.inspect", key=STRONG))


async def test_a_name_is_kept_over_replugging_and_taken_away_again(operator: Operator, ports: Ports) -> None:
    await operator.run("hardware.list")
    bound = await operator.run("hardware.bind", key=WEAK, name="scale.main")
    assert bound == {"key": "serial:0403:6001:b.scale.main", "logical_id": "scale.main", "was": None}
    assert await state(operator, "scale.main") == "authorized"
    with pytest.raises(CommandFailed, match="already means") as failed:
        await operator.run("hardware.bind", key=STRONG, name="scale.main")
    assert failed.value.kind is ErrorKind.CONFLICT
    ports.unplug("ttyUSB1")
    await until(operator, "scale.main", "lost")
    ports.plug("ttyUSB1", None, "1-2")
    await until(operator, "scale.main", "authorized")
    history = (await operator.run("hardware.inspect", key="scale.main"))["history"]
    assert [(link["generation"], link["reason"]) for link in history] == [(2, ""), (1, "unplugged")]
    assert (await operator.run("hardware.bind", key="scale.main", remove=True))["was"] == "scale.main"
    assert await state(operator, WEAK) == "quarantined"
    async with asyncio.timeout(60):
        while True:
            codes = [row["code"] for row in (await operator.run("audit.tail", limit=50))["records"]]
            if {"device.bound", "device.unbound"} <= {*codes}:
                break
    topics = {event["topic"] for event in (await operator.run("events"))["events"]}
    assert {f"/hardware/device/{what}" for what in ("discovered", "settled", "quarantined", "offline")} <= topics


async def test_a_name_that_nobody_gave_is_not_taken_away(operator: Operator) -> None:
    for key in (WEAK, SIM):
        with pytest.raises(CommandFailed, match="nobody has given") as failed:
            await operator.run("hardware.bind", key=key, remove=True)
        assert failed.value.kind is ErrorKind.CONFLICT


async def test_a_name_that_is_none_is_refused_and_so_is_a_device_that_is_not_there(operator: Operator) -> None:
    for name in ("", "a b", "/dev/ttyUSB0", "x" * 129):
        with pytest.raises(CommandFailed) as failed:
            await operator.run("hardware.bind", key=WEAK, name=name)
        assert failed.value.kind is ErrorKind.INVALID_INPUT
    with pytest.raises(CommandFailed) as failed:
        await operator.run("hardware.inspect", key="scale.main")
    assert (failed.value.kind, failed.value.suggestion) == (ErrorKind.DEVICE_NOT_FOUND, "eva hardware list")


async def test_a_source_that_fails_leaves_the_last_good_list_and_says_so(operator: Operator, ports: Ports) -> None:
    await operator.run("hardware.list")
    ports.problem = TypeError("/dev/ttyUSB0 went away")
    found = await operator.run("hardware.rescan")
    assert [row["key"] for row in found["devices"] if not row["simulated"]] == [STRONG, WEAK]
    assert next(source for source in found["sources"] if source["name"] == "serial")["problem"] == "TypeError"
    checks = {check["name"]: check for check in (await operator.run("doctor"))["checks"]}
    assert (checks["devices"]["ok"], checks["devices"]["detail"]) == (False, "serial: TypeError")
    ports.problem = None
    assert all(not source["problem"] for source in (await operator.run("hardware.rescan"))["sources"])


async def test_whoever_only_looks_waits_until_it_has_settled_and_names_are_kept(tmp_path: Path, ports: Ports) -> None:
    root = tmp_path / "other"
    write(root, GREETER)
    alone = await opened(root, OpenMode.WRITE)
    await alone.run("hardware.bind", key=STRONG, name="scale.main")
    await alone.close()
    reader = await opened(root, OpenMode.READ, readonly=True)
    rows = (await reader.run("hardware.list"))["devices"]
    with pytest.raises(CommandFailed, match="read-only"):
        await reader.run("hardware.bind", key=WEAK, name="x")
    await reader.close()
    assert {row["logical_id"]: (row["state"], row["generation"]) for row in rows if not row["simulated"]} == {
        "scale.main": ("authorized", 1),
        None: ("quarantined", 1),
    }
    ports.unplug("ttyUSB0")
    reader = await opened(root, OpenMode.READ)
    rows = (await reader.run("hardware.list"))["devices"]
    await reader.close()
    assert [row["state"] for row in rows if row["logical_id"] == "scale.main"] == ["absent"]


async def test_the_policy_decides_what_is_looked_for_and_allowed(tmp_path: Path) -> None:
    root = tmp_path / "other"
    write(root, {**GREETER, "capabilities/policies/no.yaml": "hardware: {allowed_buses: [hid]}\n"})
    reader = await opened(root, OpenMode.READ)
    rows = (await reader.run("hardware.list"))["devices"]
    await reader.close()
    assert {row["state"] for row in rows} == {"denied"}
    write(root, {"capabilities/policies/no.yaml": "hardware: {enabled: false}\n"})
    reader = await opened(root, OpenMode.READ)
    found = await reader.run("hardware.list")
    await reader.close()
    assert (found["devices"], [source["looking"] for source in found["sources"]]) == ([], [False, False, False, False])


async def test_a_plan_says_what_a_claim_would_meet_and_opens_nothing(operator: Operator) -> None:
    plan = await operator.run("hardware.plan", key=STRONG)
    steps = {step["step"]: step for step in plan["steps"]}
    assert (plan["ok"], [*steps]) == (False, ["policy", "access", "lease", "other programs", "open"])
    assert steps["policy"]["fix"] == f"eva hardware bind {STRONG} NAME"
    plan = await operator.run("hardware.plan", key=SIM)
    assert (plan["ok"], plan["steps"][-1]["detail"]) == (True, "not tried: a plan opens nothing")
    await operator.run("hardware.bind", key=SIM, name="scale.one")
    for _ in range(2):
        await operator.run("hardware.simulate", name="scale", fault="unplug")
        await operator.run("hardware.rescan")
    plan = await operator.run("hardware.plan", key="scale.one")
    access = next(step for step in plan["steps"] if step["step"] == "access")
    assert (access["ok"], access["detail"].partition(":")[0]) == (False, "it is not plugged in")


async def test_a_claim_is_shown_kept_from_others_and_released(operator: Operator) -> None:
    lease = (await operator.run("hardware.claim", key=SIM))["lease"]
    row = await operator.run("hardware.inspect", key=SIM)
    assert (row["state"], row["owner"]["who"], row["owner"]["lease_id"]) == ("online", ANN.id, lease["lease_id"])
    with pytest.raises(CommandFailed, match=f"{ANN.id} has claimed") as failed:
        await operator.run("hardware.claim", key=SIM)
    assert (failed.value.kind, failed.value.retryable) == (ErrorKind.DEVICE_BUSY, True)
    assert failed.value.suggestion == f"eva hardware plan {SIM}"
    held = [row for row in (await operator.snapshot(Cursor())).devices["devices"] if row["key"] == SIM]
    assert [row["owner"]["lease_id"] for row in held] == [lease["lease_id"]]
    await operator.run("hardware.release", key=SIM)
    with pytest.raises(CommandFailed, match="nobody has claimed"):
        await operator.run("hardware.release", key=SIM)
    row = await operator.run("hardware.inspect", key=SIM)
    assert (row["state"], row["owner"]) == ("authorized", None)
    async with asyncio.timeout(60):
        while True:
            codes = [row["code"] for row in (await operator.run("audit.tail", limit=50))["records"]]
            if {"device.claimed", "device.released"} <= {*codes}:
                break


async def test_a_simulated_device_does_what_it_is_told_and_a_real_one_is_nobodys_to_tell(operator: Operator) -> None:
    await operator.run("hardware.simulate", name="scale", fault="twin")
    rows = (await operator.run("hardware.list"))["devices"]
    assert [row["state"] for row in rows if "scale" in row["key"]] == ["ambiguous", "ambiguous"]
    await operator.run("hardware.simulate", name="scale", fault="none")
    for name, fault, kind in (("ttyUSB0", "mute", "DeviceNotFound"), ("scale", "explode", "InvalidInput")):
        with pytest.raises(CommandFailed) as failed:
            await operator.run("hardware.simulate", name=name, fault=fault)
        assert failed.value.kind == kind
