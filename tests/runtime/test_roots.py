"""A root that leads to another folder than before lets the same bytes reach further: a widening like any other."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from evatui.kernel.model.call import Actor, CallerType
from evatui.kernel.workspace.layout import open_layout
from evatui.runtime import Runtime
from tests.support.workspaces import EVERYTHING, tool, write

ANN = Actor(CallerType.USER, "ann")
OK = "function invoke(ctx, request) return {ok = true} end"
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
