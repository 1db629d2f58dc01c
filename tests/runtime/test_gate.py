"""What waits for a person: wider permissions, powers, schemas, names, and a workspace that nobody trusts yet."""

from __future__ import annotations

import os
import stat
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from evatui.kernel.model.call import Actor, CallerType
from evatui.kernel.model.errors import CallFailed, ErrorKind
from evatui.kernel.model.lifecycle import State
from evatui.kernel.registry.keeping import Keeping
from evatui.kernel.workspace.home import OperatorHome
from evatui.kernel.workspace.layout import open_layout
from evatui.runtime import Runtime
from tests.runtime.conftest import records
from tests.support.workspaces import EVERYTHING, tool, write

ANN = Actor(CallerType.USER, "ann")
OK = "function invoke(ctx, request) return {ok = true, result = %s} end"
Start = Callable[..., Awaitable[Runtime]]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Reloaded by hand alone, so that each test sees the whole of what a reload says."""
    settings = "runtime: {hot_reload: false}\n"
    write(tmp_path / "ws", {"eva.yaml": settings, "capabilities/policies/p.yaml": EVERYTHING, **made("1")})
    return tmp_path / "ws"


def made(result: str, name: str = "one", **manifest: str) -> dict[str, str]:
    return tool(name, OK % result, **manifest)


@pytest.fixture
async def start(root: Path) -> AsyncIterator[Start]:
    """Without a home whoever opens the workspace vouches for it."""
    opened: list[Runtime] = []

    async def start(home: OperatorHome | None = None) -> Runtime:
        opened.append(await Runtime.serve(open_layout(root), home=home))
        return opened[-1]

    yield start
    for runtime in opened:
        await runtime.close()


async def reload(runtime: Runtime, root: Path, files: dict[str, str], name: str = "one") -> dict[str, object]:
    write(root, files)
    plan = await runtime.reloader.run(explicit=True, ids=(name,))
    (change,) = plan.changes
    return change.to_json()


def held(runtime: Runtime, name: str = "one") -> str:
    waits = runtime.registry.capabilities[name].held
    assert waits is not None
    return waits.digest


def serves(runtime: Runtime, name: str = "one") -> str | None:
    active = runtime.registry.capabilities[name].active
    return active.digest if active else None


@pytest.mark.parametrize(
    ("before", "after", "change_class"),
    [
        ({}, {}, "hot"),
        ({}, {"priority": "90", "limits": "{timeout_ms: 60000}"}, "hot"),
        ({"permissions": "{fs: {read: [workspace]}}"}, {"permissions": "{fs: {read: [workspace/docs]}}"}, "hot"),
        ({"permissions": "{network: {hosts: [a.org]}}"}, {"permissions": "{network: false}"}, "hot"),
        ({}, {"permissions": "{fs: {read: [workspace]}}"}, "approval"),
        ({}, {"permissions": "{env: [KEY]}"}, "approval"),
        ({}, {"permissions": "{events: {emit: [/x/**]}}"}, "approval"),
        (
            {"permissions": "{network: {hosts: [a.org]}}"},
            {"permissions": "{network: {hosts: [a.org, b.org]}}"},
            "approval",
        ),
        ({}, {"permissions": "{network: {hosts: [a.org]}}"}, "restart"),
        ({}, {"permissions": "{shell: {commands: [[git, status]]}}"}, "restart"),
        ({}, {"permissions": "{fs: {write: [workspace/out]}}"}, "restart"),
        (
            {"permissions": "{fs: {write: [workspace/out]}}"},
            {"permissions": "{fs: {write: [workspace/out, workspace/more]}}"},
            "restart",
        ),
    ],
)
async def test_each_change_has_its_class(
    start: Start, root: Path, before: dict[str, str], after: dict[str, str], change_class: str
) -> None:
    write(root, made("1", **before))
    runtime = await start()
    old = serves(runtime)
    write(root, made("2", **after))
    (planned,) = (await runtime.reloader.plan(("one",))).changes
    change = await reload(runtime, root, {})
    assert change["change_class"] == planned.to_json()["change_class"] == change_class
    assert change["action"] == planned.action.value == ("update" if change_class == "hot" else "hold")
    assert (serves(runtime) != old) is (change_class == "hot")
    reason = {"hot": "", "approval": "approval_required", "restart": "restart_required"}[change_class]
    assert change["reason"] == reason


async def test_methods_that_come_with_the_first_host_are_no_cause_of_their_own(start: Start, root: Path) -> None:
    runtime = await start()
    change = await reload(runtime, root, made("2", permissions="{network: {hosts: [a.org]}}"))
    (cause,) = change["diagnostics"]  # type: ignore[misc]
    assert (cause["code"], "network.hosts" in cause["message"]) == ("EVA-431", True)
    widened = [field["path"] for field in change["diff"]["permissions"] if field["change"] == "widened"]  # type: ignore[index]
    assert widened == ["network.hosts", "network.methods"]


async def test_an_incompatible_schema_waits_and_a_compatible_one_does_not(start: Start, root: Path) -> None:
    files = made("{}")
    path, open_schema = "capabilities/one.yaml", "input_schema: {type: object}"
    wider = files[path].replace(open_schema, "input_schema: {}")
    narrower = files[path].replace(open_schema, "input_schema: {type: object, required: [name]}")
    runtime = await start()
    assert (await reload(runtime, root, {**files, path: wider}))["action"] == "update"
    change = await reload(runtime, root, {**files, path: narrower})
    assert (change["action"], change["change_class"]) == ("hold", "approval")
    assert change["diagnostics"][0]["code"] == "EVA-432"  # type: ignore[index]


async def test_approval_is_bound_to_the_digest_and_takes_effect_at_once(start: Start, root: Path) -> None:
    runtime = await start()
    old = serves(runtime)
    change = await reload(runtime, root, made("2", permissions="{fs: {read: [workspace]}}"))
    digest = held(runtime)
    assert f"--digest {digest}" in str(change["diagnostics"])
    assert runtime.registry.capabilities["one"].state is State.ACTIVE
    with pytest.raises(CallFailed) as failed:
        await runtime.approvals.approve("one", "0" * 64, ANN)
    assert failed.value.error.kind is ErrorKind.CONFLICT
    await reload(runtime, root, made("3", permissions="{fs: {read: [workspace]}}"))
    with pytest.raises(CallFailed):
        await runtime.approvals.approve("one", digest, ANN)
    assert serves(runtime) == old
    receipt = await runtime.approvals.approve("one", held(runtime), ANN)
    assert receipt.target is not None
    assert runtime.registry.capabilities["one"].held is None
    codes = [record["code"] for record in await records(runtime, 20)]
    assert codes.count("capability.held") == 2
    assert "capability.approved" in codes
    topics = [event.topic for event in runtime.bus.since(0)[0]]
    assert topics.count("/capability/approval_required") == 2
    # narrowed and widened again: the baseline is the last grant, but these very bytes were approved
    await reload(runtime, root, made("4"))
    assert (await reload(runtime, root, made("5", permissions="{fs: {read: [workspace]}}")))["action"] == "hold"
    assert (await reload(runtime, root, made("3", permissions="{fs: {read: [workspace]}}")))["action"] == "update"


async def test_a_version_that_was_overtaken_at_the_last_moment_is_not_what_others_are_held_against(
    start: Start, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither narrower nor, approved, wider: it never had what it was granted."""
    reads, more = "{fs: {read: [workspace]}}", "{fs: {read: [workspace]}, events: {emit: [/x/**]}}"
    write(root, made("1", permissions=reads))
    runtime = await start()
    keep = Keeping.keep

    def overtaken(*arguments: Any) -> int:
        runtime.registry.capabilities["one"].wanted += 1
        return keep(*arguments)

    await reload(runtime, root, made("3", permissions=more))
    with monkeypatch.context() as patched:
        patched.setattr(Keeping, "keep", overtaken)
        await runtime.approvals.approve("one", held(runtime), ANN)
        assert (await reload(runtime, root, made("2")))["to"] is None
    for again in (False, True):
        if again:
            await runtime.close()
            runtime = await start()
        assert (await reload(runtime, root, made(f"{4 + again}", permissions=more)))["action"] == "hold"
        assert (await reload(runtime, root, made(f"{6 + again}", permissions=reads)))["action"] == "update"


async def test_an_approval_is_for_what_it_was_given_for(start: Start, root: Path) -> None:
    runtime = await start()
    approved = made("2", permissions="{fs: {read: [workspace]}}")
    await reload(runtime, root, approved)
    await runtime.approvals.approve("one", held(runtime), ANN)
    wider = made("3")
    path, takes = "capabilities/one.yaml", "input_schema: {type: object}"
    assert takes in wider[path]
    change = await reload(runtime, root, {**wider, path: wider[path].replace(takes, "input_schema: {}")})
    assert change["action"] == "update"
    change = await reload(runtime, root, approved)
    assert (change["action"], change["reason"]) == ("hold", "approval_required")


async def test_a_power_takes_effect_at_the_next_start_after_approval(start: Start, root: Path) -> None:
    runtime = await start()
    old = serves(runtime)
    await reload(runtime, root, made("2", permissions="{network: {hosts: [a.org]}}"))
    digest = held(runtime)
    receipt = await runtime.approvals.approve("one", digest, ANN)
    assert (receipt.target, serves(runtime)) == (None, old)
    assert "restart" in receipt.note
    await runtime.approvals.revoke("one", digest, ANN)
    await runtime.close()
    runtime = await start()
    assert (serves(runtime), held(runtime)) == (old, digest)
    await runtime.approvals.approve("one", digest, ANN)
    await runtime.close()
    assert serves(await start()) == digest


async def test_neither_deleting_nor_a_restart_is_a_way_round(start: Start, root: Path) -> None:
    runtime = await start()
    (root / "capabilities/one.yaml").unlink()
    await runtime.reloader.run(explicit=True)
    assert (await reload(runtime, root, made("2", permissions="{shell: {commands: [[git]]}}")))["action"] == "hold"
    await runtime.close()
    assert held(await start())


async def test_a_new_id_with_a_power_waits_while_running_and_one_that_computes_does_not(
    start: Start, root: Path
) -> None:
    runtime = await start()
    new = made("1", "two", permissions="{fs: {write: [workspace/out]}}")
    change = await reload(runtime, root, new, "two")
    assert (change["action"], change["change_class"], change["reason"]) == ("hold", "approval", "approval_required")
    assert runtime.registry.capabilities["two"].state is State.SHADOW
    assert (await reload(runtime, root, made("1", "three"), "three"))["action"] == "add"
    assert (await runtime.approvals.approve("two", held(runtime, "two"), ANN)).target is not None


async def test_an_id_that_could_not_be_loaded_at_the_start_gains_no_power_with_its_repair(
    start: Start, root: Path
) -> None:
    broken = tool("one", "function oops(")
    write(root, broken)
    runtime = await start()
    assert serves(runtime) is None
    change = await reload(runtime, root, made("2", permissions="{network: {hosts: [a.org]}}"))
    assert (change["action"], change["reason"]) == ("hold", "approval_required")
    assert (await reload(runtime, root, made("2")))["action"] == "add"


def named(name: str, among: str, priority: int) -> dict[str, str]:
    files = made("1", name)
    path = f"capabilities/{name}.yaml"
    return {**files, path: files[path].replace(f"test.{name}", among) + f"priority: {priority}\n"}


async def test_no_name_is_taken_over_without_approval(start: Start, root: Path) -> None:
    runtime = await start()
    new = named("two", "test.one", 90)
    change = await reload(runtime, root, new, "two")
    assert change["diagnostics"][0]["code"] == "EVA-433"  # type: ignore[index]
    assert runtime.table.providers["test.one"] == ("one",)
    await runtime.close()
    runtime = await start()
    assert runtime.table.providers["test.one"] == ("one",)
    await runtime.approvals.approve("two", held(runtime, "two"), ANN)
    assert runtime.table.providers["test.one"] == ("two", "one")


async def test_another_spelling_of_a_name_takes_it_over_as_well(start: Start, root: Path) -> None:
    runtime = await start()
    change = await reload(runtime, root, named("two", "Test.ONE", 90), "two")
    assert change["diagnostics"][0]["code"] == "EVA-433"  # type: ignore[index]
    await runtime.approvals.approve("two", held(runtime, "two"), ANN)
    assert (runtime.table.providers["test.one"], runtime.table.providers["Test.ONE"]) == (("one",), ("two",))
    change = await reload(runtime, root, named("two", "test.one", 90), "two")
    assert change["action"] == "hold", "the name as the other one writes it was not approved"


async def test_a_name_that_nobody_provides_any_more_is_free_in_every_spelling(start: Start, root: Path) -> None:
    runtime = await start()
    assert (await reload(runtime, root, named("one", "test.ones", 50)))["action"] == "update"
    assert (await reload(runtime, root, named("two", "Test.One", 50), "two"))["action"] == "add"


@pytest.mark.parametrize(
    ("who", "typed", "may"), [("never", "one", False), ("console", None, False), ("console", "one", True)]
)
async def test_the_policy_says_who_may_approve(
    start: Start, root: Path, who: str, typed: str | None, may: bool
) -> None:
    write(root, {"capabilities/policies/q.yaml": f"version: 1\napprovals: {{widening: {who}}}\n"})
    runtime = await start()
    await reload(runtime, root, made("2", permissions="{fs: {read: [workspace]}}"))
    if may:
        assert (await runtime.approvals.approve("one", held(runtime), ANN, typed=typed)).target is not None
        return
    with pytest.raises(CallFailed) as failed:
        await runtime.approvals.approve("one", held(runtime), ANN, typed=typed)
    assert failed.value.error.kind is ErrorKind.POLICY_DENIED
    await runtime.close()
    assert "capability.approval_refused" in [r["code"] for r in runtime.audit.tail(20)]


async def test_what_was_approved_is_undone_by_a_rollback_and_switching_off_ends_the_waiting(
    start: Start, root: Path
) -> None:
    runtime = await start()
    old = serves(runtime)
    await reload(runtime, root, made("2", permissions="{fs: {read: [workspace]}}"))
    digest = held(runtime)
    await runtime.approvals.approve("one", digest, ANN)
    with pytest.raises(CallFailed):
        await runtime.approvals.revoke("one", digest, ANN)
    await runtime.operations.rollback("one", ANN)
    assert serves(runtime) == old
    await reload(runtime, root, made("3", permissions="{fs: {read: [workspace]}}"))
    held(runtime)
    await runtime.operations.disable("one", ANN)
    assert runtime.registry.capabilities["one"].held is None


# -- trust -----------------------------------------------------------------------------------


async def test_an_untrusted_workspace_computes_but_does_not_connect_until_it_is_trusted(
    start: Start, root: Path, tmp_path: Path
) -> None:
    home = OperatorHome(tmp_path / "config")
    write(root, made("1", "net", permissions="{network: {hosts: [a.org]}, env: [KEY]}"))
    runtime = await start(home)
    assert serves(runtime, "one")
    assert serves(runtime, "net") is None
    ruling = runtime.registry.capabilities["net"].held.ruling  # type: ignore[union-attr]
    assert (ruling.reason, ruling.diagnostics[0].code) == ("approval_required", "EVA-435")  # type: ignore[union-attr]
    (part,) = runtime.approvals.trusted()["parts"]
    assert (part["name"], part["status"], part["power"]["env"]) == ("capability net", "held", ["KEY"])
    with pytest.raises(CallFailed):
        await runtime.approvals.trust(ANN, expected="0" * 64)
    told = await runtime.approvals.trust(ANN, expected=runtime.approvals.trusted()["digest"])
    assert ([p["status"] for p in told["parts"]], told["waiting"]) == (["trusted"], [])
    assert serves(runtime, "net")
    assert stat.S_IMODE(os.stat(home.trust_file).st_mode) == 0o600
    await runtime.close()
    runtime = await start(home)
    assert serves(runtime, "net")
    # a change while it runs is a hot one, and what is trusted follows; one behind its back is not
    assert (
        await reload(runtime, root, made("2", "net", permissions="{network: {hosts: [a.org]}, env: [KEY]}"), "net")
    )["action"] == "update"
    await runtime.close()
    runtime = await start(home)
    trusted = serves(runtime, "net")
    assert trusted
    await runtime.close()
    write(root, made("3", "net", permissions="{network: {hosts: [a.org]}, env: [KEY]}"))
    runtime = await start(home)
    assert (serves(runtime, "net"), held(runtime, "net") != trusted) == (trusted, True)
    (part,) = runtime.approvals.trusted()["parts"]
    assert (part["status"], part["changed"]) == ("changed", ["capabilities/tools/net.lua: changed"])
    write(root, made("4", "net", permissions="{network: {hosts: [a.org]}, env: [KEY]}"))
    await runtime.reloader.run(explicit=True)
    assert serves(runtime, "net") == trusted


async def test_trust_that_is_revoked_stops_what_needs_it(start: Start, root: Path, tmp_path: Path) -> None:
    home = OperatorHome(tmp_path / "config")
    write(root, made("1", "net", permissions="{network: {hosts: [a.org]}}"))
    runtime = await start(home)
    await runtime.approvals.trust(ANN)
    assert serves(runtime, "net")
    await runtime.approvals.distrust(ANN)
    assert serves(runtime, "net") is None
    assert held(runtime, "net")
    assert serves(runtime, "one")


async def test_a_rollback_gives_no_trust_back_that_was_revoked(start: Start, root: Path, tmp_path: Path) -> None:
    home = OperatorHome(tmp_path / "config")
    write(root, made("1", permissions="{network: {hosts: [a.org]}}"))
    runtime = await start(home)
    await runtime.approvals.trust(ANN)
    await reload(runtime, root, made("2"))
    await runtime.approvals.distrust(ANN)
    with pytest.raises(CallFailed) as failed:
        await runtime.operations.rollback("one", ANN)
    assert failed.value.error.kind is ErrorKind.POLICY_DENIED
    assert serves(runtime)
    assert runtime.trust.known == 0


async def test_an_approval_shipped_with_a_workspace_is_no_trust(start: Start, root: Path, tmp_path: Path) -> None:
    write(root, made("1", "net", permissions="{network: {hosts: [a.org]}}"))
    runtime = await start()  # somebody else's machine, where all of it serves and is in the history
    assert serves(runtime, "net")
    await runtime.close()
    assert serves(await start(OperatorHome(tmp_path / "config")), "net") is None


@pytest.mark.parametrize("text", ["{", '{"version": 2, "workspaces": {}}', '{"version": 1, "workspaces": {"x": 1}}'])
async def test_a_record_of_trust_that_cannot_be_read_trusts_nothing(
    start: Start, root: Path, tmp_path: Path, text: str
) -> None:
    home = OperatorHome(tmp_path / "config")
    home.folder.mkdir()
    home.trust_file.write_text(text)
    write(root, made("1", "net", permissions="{network: {hosts: [a.org]}}"))
    runtime = await start(home)
    assert held(runtime, "net")
    assert home.trust_file.read_text() == text


async def test_an_operators_policy_is_read_again_at_a_reload(start: Start, root: Path, tmp_path: Path) -> None:
    home = OperatorHome(tmp_path / "config")
    write(root, made("1", permissions="{fs: {read: [workspace]}}"))
    runtime = await start(home)
    assert serves(runtime)
    home.folder.mkdir()
    (home.folder / "policy.yaml").write_text("version: 1\ndeny: {ids: [one]}\n")
    await runtime.reloader.run(explicit=True)
    assert serves(runtime) is None
    (home.folder / "policy.yaml").unlink()
    await runtime.reloader.run(explicit=True)
    assert serves(runtime)
