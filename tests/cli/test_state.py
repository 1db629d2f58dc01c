"""``eva state``, and a rollback that would lose some of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evatui.cli.main import run
from tests.support.workspaces import GREETER, save, tool, write

NOTE = """
function invoke(ctx, request)
  return {ok = true, result = ctx.host.state_set({key = request.payload.key, value = {1, request.payload.key}})}
end
function migrate_1_2(ctx, rows)
  for _, row in ipairs(rows) do ctx.host.state_set({key = row.key, value = row.value}) end
end
"""
SECOND = "{schema_version: 2, migrations: [{from: 1, to: 2, entry: migrate_1_2}]}"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    root = tmp_path / "ws"
    write(root, {**GREETER, **tool("note", NOTE)})
    return root


@pytest.fixture
def eva(workspace: Path, capsys: pytest.CaptureFixture[str]):
    def eva(*words: str) -> tuple[int, dict[str, Any]]:
        code = run([*words, "-w", str(workspace), "-o", "json"])
        return code, json.loads(capsys.readouterr().out)

    return eva


def note(eva, key: str) -> None:
    assert eva("capability", "call", "test.note", "--payload", json.dumps({"key": key}))[0] == 0


def test_what_was_stored_is_listed_read_and_deleted(eva) -> None:
    note(eva, "a")
    note(eva, "a")
    note(eva, "b")
    code, listed = eva("state", "list", "note")
    assert (code, listed["data"]["schema_version"]) == (0, 1)
    rows = [(row["key"], row["version"], row["schema_version"], row["in_force"]) for row in listed["data"]["rows"]]
    assert rows == [("a", 2, 1, True), ("b", 1, 1, True)]
    (size,) = eva("state", "list")[1]["data"]["capabilities"]
    assert (size["id"], size["keys"]) == ("note", 2)
    assert size["bytes"] == sum(row["bytes"] for row in listed["data"]["rows"])
    assert eva("state", "get", "note", "a")[1]["data"]["value"] == [1, "a"]
    assert eva("state", "delete", "note", "a")[1]["data"]["deleted"] == 1
    assert eva("state", "get", "note", "a")[0] == 2
    assert eva("state", "delete", "note", "a")[0] == 2
    assert eva("state", "delete", "note", "--all")[1]["data"]["deleted"] == 1
    records = [row for row in eva("audit", "tail")[1]["data"]["records"] if row["code"] == "state.deleted"]
    assert [row["details"]["key"] for row in records] == ["a", None]


def test_what_does_not_exist_is_not_found_and_half_an_order_is_none(eva, capsys: pytest.CaptureFixture[str]) -> None:
    assert eva("state", "list", "nobody")[0] == 2
    assert eva("state", "list", "note")[1]["data"]["rows"] == []
    assert eva("state", "delete", "note")[0] == 64
    assert eva("state", "delete", "note", "a", "--all")[0] == 64


def test_an_older_schema_can_be_read_but_not_changed(eva, workspace: Path) -> None:
    note(eva, "a")
    for path, text in tool("note", NOTE, state=SECOND).items():
        save(workspace, path, text)
    note(eva, "b")
    rows = [
        (row["key"], row["schema_version"], row["in_force"]) for row in eva("state", "list", "note")[1]["data"]["rows"]
    ]
    assert rows == [("a", 1, False), ("a", 2, True), ("b", 2, True)]
    assert eva("state", "delete", "note", "--all")[1]["data"]["deleted"] == 2
    assert eva("state", "get", "note", "a", "--schema", "1")[0] == 0
    assert eva("state", "get", "note", "a")[0] == 2


def test_people_read_a_table(workspace: Path, eva, capsys: pytest.CaptureFixture[str]) -> None:
    note(eva, "a")
    assert run(["state", "list", "note", "-w", str(workspace)]) == 0
    assert "KEY" in capsys.readouterr().out
    assert run(["state", "get", "note", "a", "-w", str(workspace)]) == 0
    assert '"a"' in capsys.readouterr().out
    assert run(["state", "list", "-w", str(workspace)]) == 0
    assert "note" in capsys.readouterr().out
