"""What the form of a call asks for: does a payload fit, and may it be kept as an example."""

from __future__ import annotations

from pathlib import Path

import pytest

from evatui.control.failing import CommandFailed
from evatui.control.local import LocalOperator
from evatui.control.opening import OpenMode
from evatui.control.operator import Operator
from evatui.kernel.model.errors import ErrorKind
from tests.control.crowd import opened


async def test_what_does_not_fit_is_said_by_place_and_nothing_is_called(operator: Operator) -> None:
    told = await operator.run("capability.validate", id="greet", payload={"name": 3, "more": 1})
    assert ("/name" in {one["pointer"] for one in told["violations"]}) is True
    assert told["generation"].startswith("greet@")
    fits = await operator.run("capability.validate", id="greet", payload={"name": "bob"})
    assert fits["violations"] == []
    records = (await operator.run("audit.tail", limit=50))["records"]
    assert [record for record in records if record["code"].startswith("call")] == []


async def test_an_example_reads_back_as_what_was_sent(operator: Operator, workspace: Path) -> None:
    payloads = {"one": {"name": 'Größe: no\n"x" 😀'}, "three": {"name": "on", "n": [1.5, None]}, "two": {"name": "1e3"}}
    for name, payload in payloads.items():
        kept = await operator.run("capability.keep_example", id="greet", name=name, payload=payload)
        assert kept["path"] == f"capabilities/examples/greet/{name}.yaml"
        assert name in (workspace / kept["path"]).read_text()
    tested = await operator.run("capability.test", id="greet")
    assert [one["name"] for one in tested["capabilities"][0]["examples"]] == sorted(payloads)
    with pytest.raises(CommandFailed) as refused:
        await operator.run("capability.keep_example", id="greet", name="one", payload={})
    assert refused.value.kind is ErrorKind.CONFLICT


async def test_a_name_that_leads_elsewhere_is_none(holder: LocalOperator, workspace: Path) -> None:
    for name in ("../x", ".hidden", "a/b", "", "x" * 65, "a.b"):
        with pytest.raises(CommandFailed) as refused:
            await holder.run("capability.keep_example", id="greet", name=name, payload={})
        assert refused.value.kind is ErrorKind.INVALID_INPUT, name
    assert not (workspace / "capabilities/examples").exists()


async def test_no_example_is_written_through_a_link(holder: LocalOperator, workspace: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (workspace / "capabilities/examples").symlink_to(outside)
    with pytest.raises(CommandFailed):
        await holder.run("capability.keep_example", id="greet", name="one", payload={})
    assert list(outside.iterdir()) == []


async def test_whoever_only_looks_may_ask_and_keeps_nothing(holder: LocalOperator, workspace: Path) -> None:
    reader = await opened(workspace, OpenMode.ATTACH, readonly=True)
    await reader.run("capability.validate", id="greet", payload={})
    with pytest.raises(CommandFailed, match="read-only"):
        await reader.run("capability.keep_example", id="greet", name="one", payload={})
    await reader.close()
