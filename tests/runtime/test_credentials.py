"""A policy that lets a secret go further is a widening like any other, though the bytes stay the same."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from evatui.kernel.model.call import Actor, CallerType
from evatui.kernel.model.errors import CallFailed, ErrorKind
from evatui.kernel.registry.in_force import InForce
from evatui.kernel.workspace.layout import open_layout
from evatui.runtime import Runtime
from tests.support.workspaces import EVERYTHING, tool, write

ANN = Actor(CallerType.USER, "ann")
OK = "function invoke(ctx, request) return {ok = true, result = %s} end"
PERMISSIONS = "{network: {hosts: ['*.org']}, env: [KEY]}"
Start = Callable[[], Awaitable[Runtime]]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    settings = "runtime: {hot_reload: false}\n"
    write(tmp_path, {"eva.yaml": settings, "capabilities/policies/p.yaml": EVERYTHING, **version("1")})
    define(tmp_path, "[a.org]")
    return tmp_path


@pytest.fixture
async def start(root: Path) -> AsyncIterator[Start]:
    opened: list[Runtime] = []

    async def start() -> Runtime:
        opened.append(await Runtime.serve(open_layout(root)))
        return opened[-1]

    yield start
    for runtime in opened:
        await runtime.close()


def version(result: str) -> dict[str, str]:
    return tool("one", OK % result, permissions=PERMISSIONS)


def define(root: Path, hosts: str, header: str = "Authorization") -> None:
    one = f"credentials: {{KEY: {{from: env, hosts: {hosts}, header: {header}}}}}"
    write(root, {"capabilities/policies/q.yaml": f"version: 1\n{one}\n"})


async def reload(runtime: Runtime) -> dict[str, Any]:
    (change,) = (await runtime.reloader.run(explicit=True, ids=("one",))).changes
    return change.to_json()


def goes_to(runtime: Runtime) -> list[str]:
    """The hosts that the credential may be sent to by what serves."""
    active = runtime.registry.capabilities["one"].active
    assert active is not None
    return list(InForce(lambda: runtime.policy).credentials(active.candidate).get("KEY", {"hosts": []})["hosts"])


async def test_a_wider_credential_is_not_in_force_until_it_is_approved(start: Start, root: Path) -> None:
    runtime = await start()
    before = runtime.registry.capabilities["one"].active
    define(root, "[a.org, b.org]")
    change = await reload(runtime)
    assert (change["action"], change["change_class"], change["reason"]) == ("hold", "approval", "approval_required")
    (widened,) = [field for field in change["diff"]["permissions"] if field["change"] == "widened"]
    assert (widened["path"], widened["gained"]) == ("credentials.KEY", ["b.org"])
    assert "credentials.KEY is wider than before" in change["diagnostics"][0]["rendered"]
    assert runtime.registry.capabilities["one"].active is before
    assert goes_to(runtime) == ["a.org"]
    assert before is not None
    with pytest.raises(CallFailed) as failed:
        await runtime.approvals.approve("one", before.digest, ANN)
    assert failed.value.error.kind is ErrorKind.CONFLICT
    receipt = await runtime.approvals.approve("one", change["digest"], ANN)
    assert receipt.target is not None
    assert receipt.target != before.name
    assert goes_to(runtime) == ["a.org", "b.org"]


async def test_a_narrower_one_is_in_force_at_once_and_one_that_is_taken_back_waits_no_longer(
    start: Start, root: Path
) -> None:
    define(root, "[a.org, b.org]")
    runtime = await start()
    define(root, "[b.org]")
    assert (await reload(runtime))["action"] == "update"
    assert goes_to(runtime) == ["b.org"]
    define(root, "['*.org']")
    assert (await reload(runtime))["action"] == "hold"
    define(root, "[b.org]")
    assert (await reload(runtime))["action"] == "unchanged"
    assert runtime.registry.capabilities["one"].held is None


@pytest.mark.parametrize(("hosts", "header"), [("[a.org]", "X-Key"), ("['*']", "Authorization")])
async def test_another_header_and_a_pattern_wait_as_well(start: Start, root: Path, hosts: str, header: str) -> None:
    runtime = await start()
    define(root, hosts, header)
    assert (await reload(runtime))["action"] == "hold"
    assert goes_to(runtime) == ["a.org"]


async def test_neither_a_restart_nor_a_rollback_nor_a_former_approval_is_a_way_round(start: Start, root: Path) -> None:
    runtime = await start()
    write(root, version("2"))
    await reload(runtime)
    define(root, "[a.org, b.org]")
    assert (await reload(runtime))["action"] == "hold"
    await runtime.operations.rollback("one", ANN)
    assert goes_to(runtime) == ["a.org"]
    await runtime.close()
    runtime = await start()
    assert goes_to(runtime) == ["a.org"]
    assert runtime.registry.capabilities["one"].active is not None


async def test_a_definition_where_none_was_waits(start: Start, root: Path) -> None:
    (root / "capabilities/policies/q.yaml").unlink()
    runtime = await start()
    assert goes_to(runtime) == []
    define(root, "[a.org]")
    assert (await reload(runtime))["action"] == "hold"
    assert goes_to(runtime) == []


async def test_a_version_comes_back_with_what_it_had_though_the_one_after_it_had_none(start: Start, root: Path) -> None:
    runtime = await start()
    write(root, tool("one", OK % "2"))
    assert (await reload(runtime))["action"] == "update"
    define(root, "[a.org, b.org]")
    await reload(runtime)
    await runtime.operations.rollback("one", ANN)
    assert goes_to(runtime) == ["a.org"]
