"""A root that leads to another folder than before lets the same bytes reach further: a widening like any other."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from evatui.kernel.model.call import Actor, CallerType
from evatui.kernel.model.errors import CallFailed, ErrorKind
from evatui.kernel.registry.capability import Capability
from evatui.kernel.workspace.layout import open_layout
from evatui.runtime import Runtime
from tests.support.workspaces import EVERYTHING, tool, write

ANN = Actor(CallerType.USER, "ann")
OK = "function invoke(ctx, request) return {ok = true} end"
READS = "{fs: {read: [notes]}}"
WRITES = "{fs: {read: [notes], write: [notes]}}"
Start = Callable[[str], Awaitable[Runtime]]


@pytest.fixture
async def start(tmp_path: Path) -> AsyncIterator[Start]:
    """Opens the workspace anew, with the root ``notes`` where it is told."""
    opened: list[Runtime] = []

    async def start(notes: str) -> Runtime:
        for runtime in opened:
            await runtime.close()
        opened.clear()
        write(tmp_path, {"eva.yaml": f"roots: {{notes: {notes}}}\nruntime: {{hot_reload: false}}\n"})
        opened.append(await Runtime.serve(open_layout(tmp_path)))
        return opened[0]

    yield start
    for runtime in opened:
        await runtime.close()


@pytest.mark.parametrize(
    ("permissions", "change_class"),
    [
        ("{fs: {read: [notes]}}", "approval"),
        ("{fs: {read: [notes/new]}}", "approval"),
        ("{fs: {read: ['*']}}", "approval"),
        ("{fs: {read: [notes], write: [notes]}}", "restart"),
    ],
)
async def test_a_root_that_leads_elsewhere_waits_for_approval(
    start: Start, tmp_path: Path, permissions: str, change_class: str
) -> None:
    files = tool("one", OK, permissions=permissions)
    write(tmp_path, {"capabilities/policies/p.yaml": EVERYTHING, **files, "a/x": "", "b/x": ""})
    runtime = await start("a")
    assert runtime.registry.capabilities["one"].active is not None
    runtime = await start("b")
    one = runtime.registry.capabilities["one"]
    assert one.active is None  # the bytes of before would reach as far, so they do not come back either
    assert one.held is not None
    assert one.held.ruling is not None
    (widened,) = one.held.ruling.widened
    assert (one.held.ruling.change_class, widened.path, widened.gained) == (change_class, "roots.notes", ("b",))
    (cause,) = one.held.ruling.diagnostics
    assert 'roots.notes is wider than before, by "b"' in cause.rendered
    assert cause.primary is not None
    assert (cause.primary.file, cause.primary.label) == ("capabilities/one.yaml", "named here")
    await runtime.approvals.approve("one", one.held.digest, ANN)
    runtime = await start("b")
    assert runtime.registry.capabilities["one"].active is not None


async def test_a_root_that_leads_deeper_or_is_not_named_is_no_widening(start: Start, tmp_path: Path) -> None:
    files = {
        **tool("one", OK, permissions="{fs: {read: [notes]}}"),
        **tool("two", OK, permissions="{fs: {read: [workspace]}}"),
    }
    write(tmp_path, {"capabilities/policies/p.yaml": EVERYTHING, **files, "a/x": "", "a/b/x": ""})
    await start("a")
    runtime = await start("a/b")
    for name in ("one", "two"):
        assert runtime.registry.capabilities[name].active is not None


async def served(start: Start, root: Path, *versions: str) -> Capability:
    """``one`` of a run with ``notes`` in ``a``, in which versions with these permissions served one after another."""
    write(root, {"capabilities/policies/p.yaml": EVERYTHING, "a/x": "", "b/x": ""})
    write(root, tool("one", f"{OK} -- 0", permissions=versions[0]))
    runtime = await start("a")
    for number, permissions in enumerate(versions[1:], 1):
        write(root, tool("one", f"{OK} -- {number}", permissions=permissions))
        await runtime.reloader.run(explicit=True)
    return runtime.registry.capabilities["one"]


async def refused(order: Awaitable[object]) -> str:
    """Why it is, for want of an approval."""
    with pytest.raises(CallFailed) as failed:
        await order
    error = failed.value.error
    assert (error.kind, error.details["reason"]) == (ErrorKind.POLICY_DENIED, "approval_required")
    return error.message


async def test_a_rollback_is_no_way_round(start: Start, tmp_path: Path) -> None:
    first = (await served(start, tmp_path, READS, READS)).kept[-1]
    runtime = await start("b")
    one = runtime.registry.capabilities["one"]
    why = await refused(runtime.operations.rollback("one", ANN, to=first.name.short))
    assert 'g1 of one would reach further than it did: roots.notes is wider than before, by "b"' in why
    assert f"eva capability approve one --digest {first.digest}" in why
    assert one.active is None
    assert not one.quarantined
    write(tmp_path, tool("one", f"{OK} -- 0", permissions=READS))  # as it was told
    await runtime.reloader.run(explicit=True)
    await runtime.approvals.approve("one", first.digest, ANN)
    assert one.active is not None
    assert one.active.digest == first.digest


async def test_nor_is_switching_on_beside_a_refused_file_nor_a_start(start: Start, tmp_path: Path) -> None:
    await served(start, tmp_path, READS)
    runtime = await start("a")
    await runtime.operations.drain("one", ANN)
    write(tmp_path, {"capabilities/tools/one.lua": "function invoke("})
    runtime = await start("b")
    assert "roots.notes" in await refused(runtime.operations.enable("one", ANN))
    runtime = await start("b")
    assert runtime.registry.capabilities["one"].active is None
    runtime = await start("a")
    assert runtime.registry.capabilities["one"].active is not None


async def test_what_was_approved_since_comes_back_but_nothing_that_was_not(start: Start, tmp_path: Path) -> None:
    writes, reads, _ = reversed((await served(start, tmp_path, WRITES, READS, READS)).kept)
    runtime = await start("b")
    one = runtime.registry.capabilities["one"]
    assert one.held is not None
    await runtime.approvals.approve("one", one.held.digest, ANN)
    await runtime.operations.rollback("one", ANN, to=reads.name.short)
    why = await refused(runtime.operations.rollback("one", ANN, to=writes.name.short))
    assert "roots.notes" in why
    assert one.active is not None
    assert one.active.digest == reads.digest


@pytest.mark.parametrize(("notes", "before"), [("a", READS), ("a", WRITES), ("b", "{fs: {read: [workspace]}}")])
async def test_a_version_that_reaches_no_further_than_it_did_comes_back(
    start: Start, tmp_path: Path, notes: str, before: str
) -> None:
    first = (await served(start, tmp_path, before, "{}")).kept[-1]
    runtime = await start(notes)
    await runtime.operations.rollback("one", ANN)
    active = runtime.registry.capabilities["one"].active
    assert active is not None
    assert active.digest == first.digest


async def test_each_generation_is_held_to_its_own_grant_also_where_an_older_one_served_last(
    start: Start, tmp_path: Path
) -> None:
    await served(start, tmp_path, "{}", READS)
    runtime = await start("a")
    one = runtime.registry.capabilities["one"]
    assert one.held is not None
    await runtime.approvals.approve("one", one.held.digest, ANN)
    write(tmp_path, tool("one", f"{OK} -- 2", permissions=READS))
    await runtime.reloader.run(explicit=True)
    latest = one.kept[0]
    write(tmp_path, tool("one", f"{OK} -- 0", permissions="{}"))
    runtime = await start("a")
    active = runtime.registry.capabilities["one"].active
    assert active is not None
    assert active.name.number < latest.name.number
    await runtime.operations.rollback("one", ANN, to=latest.name.short)
    active = runtime.registry.capabilities["one"].active
    assert active is not None
    assert active.digest == latest.digest
