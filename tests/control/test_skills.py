"""Skills of a running workspace: asked for in the process and over the socket, seen, and followed on disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from evatui.control.failing import CommandFailed
from evatui.control.local import LocalOperator
from evatui.control.opening import OpenMode
from evatui.control.operator import Operator
from evatui.control.snapshot import Cursor
from evatui.kernel.model.errors import ErrorKind
from tests.control.crowd import opened
from tests.support.plugins import plugin
from tests.support.waiting import until
from tests.support.workspaces import save, tool, write

SEARCH = "---\nname: deep-search\ndescription: 'Searches & finds'\nrequires_bins: no-such-program\n---\nBody\n"
FILES = {"skills/deep-search/SKILL.md": SEARCH, "skills/broken/SKILL.md": "nothing"}


@pytest.fixture
def workspace(workspace: Path) -> Path:
    write(workspace, FILES)
    return workspace


async def test_a_running_runtime_answers_what_is_asked_of_skills(operator: Operator, workspace: Path) -> None:
    data = await operator.run("skill.list")
    (mine,) = [row for row in data["skills"] if row["layer"] == "skills"]
    assert (mine["name"], mine["available"], mine["missing"]) == ("deep-search", False, ["no-such-program"])
    assert (mine["class"], mine["location"]) == ("workflow_skill", "skills/deep-search/SKILL.md")
    (refused,) = data["rejected"]
    assert (refused["path"], refused["diagnostics"][0]["code"]) == ("skills/broken/SKILL.md", "EVA-802")
    assert "<description>Searches &amp; finds</description>" in (await operator.run("skill.index"))["index"]
    told = await operator.run("skill.context")
    assert [part["why"] for part in told["parts"]] == ["index", "always"]
    assert told["text"].startswith("<skills>\n")
    examined = await operator.run("skill.doctor")
    assert (examined["ok"], examined["counts"]["rejected"]) == (False, 1)
    save(workspace, "skills/deep-search/SKILL.md", SEARCH.replace("requires_bins", "other"))
    shown = await operator.run("skill.show", name="deep-search")
    assert (shown["available"], shown["fields"]["other"], shown["body"]) == (True, "no-such-program", "Body\n")
    for name, suggestion in (("broken", "eva skill doctor"), ("deep-serch", "did you mean deep-search?")):
        with pytest.raises(CommandFailed) as failed:
            await operator.run("skill.show", name=name)
        assert (failed.value.kind, failed.value.suggestion) == (ErrorKind.NOT_FOUND, suggestion)
    assert "diagnostics" not in failed.value.context


async def test_lua_skills_are_listed_beside_the_others_and_told_to_no_agent(
    operator: Operator, workspace: Path
) -> None:
    gate = "lua_skill\nruntime_gate: {allowed_modes: [normal]}"
    for name, lines in (("lint", gate), ("off", f"{gate}\nenabled: false")):
        files = tool(name, "function invoke(ctx, request) return {ok = true, result = {}} end")
        write(workspace, {path: text.replace("lua_tool", lines) for path, text in files.items()})
    await operator.run("capability.reload")
    rows = {row["name"]: row for row in (await operator.run("skill.list"))["skills"]}
    assert list(rows) == sorted(rows)
    lint, off = rows["lint"], rows["off"]
    assert (lint["class"], lint["available"], lint["location"]) == ("lua_skill", True, "capabilities/lint.yaml")
    assert (off["available"], off["reason"]) == (False, "disabled_by_manifest")
    shown = await operator.run("skill.show", name="lint")
    assert shown["fields"]["capabilities"] == ["test.lint"]
    assert "lint" not in (await operator.run("skill.context"))["text"]
    seen = {row.name: row for row in (await operator.snapshot(Cursor())).extensions.skills}
    assert (seen["lint"].kind, seen["lint"].available, seen["off"].reason) == (
        "lua_skill",
        True,
        "disabled_by_manifest",
    )


async def test_the_snapshot_has_the_skills_and_follows_the_disk(holder: LocalOperator, workspace: Path) -> None:
    attached = await opened(workspace, OpenMode.ATTACH)

    async def names(operator: Operator) -> list[str]:
        return [row.name for row in (await operator.snapshot(Cursor())).extensions.skills]

    while "deep-search" not in await names(holder):
        await holder.snapshot(Cursor())
    here, there = [(await operator.snapshot(Cursor())).extensions for operator in (holder, attached)]
    assert here == there
    assert [row.path for row in there.refused] == ["skills/broken/SKILL.md"]
    assert there.layers[0].name == "skills"
    assert next(row for row in there.skills if row.name == "deep-search").missing == ("no-such-program",)
    count: list[int] = []
    attached.on_change(lambda: count.append(1))
    write(workspace, {"skills/later/SKILL.md": SEARCH.replace("deep-search", "later")})
    await until(lambda: count)
    while "later" not in await names(attached):
        pass
    events = (await attached.run("events", topic="/skill/**"))["events"]
    assert events[-1]["payload"]["added"] == ["later"]
    await attached.close()


async def test_a_reader_of_the_moment_sees_the_skills_too(workspace: Path) -> None:
    reader = await opened(workspace, OpenMode.READ)
    snapshot = await reader.snapshot(Cursor())
    assert "deep-search" in [row.name for row in snapshot.extensions.skills]
    await reader.close()


async def test_plugins_that_lie_elsewhere_bring_their_texts_too(operator: Operator, workspace: Path) -> None:
    guide = "---\nname: slow\ndescription: D\n---\nSay that it takes long.\n"
    slow = plugin(workspace, "slow", "exit 0", {"name": "go", "spawn_only": True}, prompts={"include": ["p/*.md"]})
    write(slow, {"SKILL.md": guide, "p/more.md": "More of it.", "p/not.txt": "nothing"})
    lacks = plugin(workspace, "lacks", "exit 0", requires={"bins": ["no-such-program"]}, prompts={"include": ["a.md"]})
    write(lacks, {"a.md": "of no use"})
    parts = (await operator.run("skill.context"))["parts"]
    assert [(part["why"], part["name"], part["location"]) for part in parts if part["name"] in ("slow", "lacks")] == [
        ("spawn_only", "slow", "plugins/slow/SKILL.md"),
        ("include", "slow", "plugins/slow/p/more.md"),
    ]
    assert [part["text"] for part in parts[-2:]] == ["Say that it takes long.\n", "More of it."]
