"""`eva events` as a script meets it: which events a change of the workspace makes, in which order, and why."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from evatui.cli.main import run
from evatui.control.layouts import layout_of
from evatui.control.opening import operator_home, start_kernel
from tests.support.programs import EVA
from tests.support.workspaces import GREETER, SCRIPT, save, tool, write

BROKEN = "function invoke( end"

Eva = Callable[..., tuple[int, dict[str, Any]]]


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    root = tmp_path / "ws"
    write(root, GREETER)
    return root


class Told:
    """The lines of a process that follows."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        self._lines = process.stdout

    def until(self, word: str) -> list[dict[str, Any]]:
        """Events up to the first one whose topic ends with ``word``."""
        found = []
        while not found or not found[-1]["topic"].endswith(word):
            found.append(json.loads(self._lines.readline()))
        return found


@pytest.fixture
def eva(workspace: Path, capsys: pytest.CaptureFixture[str]) -> Eva:
    def eva(*line: str) -> tuple[int, dict[str, Any]]:
        code = run([*line, "-w", str(workspace), "-o", "json"])
        return code, json.loads(capsys.readouterr().out)

    return eva


@pytest.fixture
def told(workspace: Path) -> Iterator[Told]:
    """A process that follows what happens to capabilities in a runtime that holds the workspace."""
    kernel = start_kernel(layout_of(workspace, None), writes=True, listens=True, home=operator_home())
    follow = [*EVA, "events", "--follow", "--topic", "/capability/*", "-o", "json"]
    following = subprocess.Popen(follow, cwd=workspace, stdout=subprocess.PIPE, text=True)
    yield Told(following)
    kernel.stop()
    following.communicate(timeout=60)
    assert following.returncode == 0, "a runtime that stops ends it well"


def words(events: list[dict[str, Any]]) -> list[str]:
    return [event["topic"].rpartition("/")[2] for event in events]


def test_each_change_tells_its_events_in_order(told: Told, workspace: Path, eva: Eva) -> None:
    first = told.until("loaded")
    assert words(first) == ["loading", "loaded"]
    generation = first[-1]["payload"]["generation"]
    assert [event["payload"]["state"] for event in first] == ["PendingValidation", "Active"]

    save(workspace, "capabilities/tools/greet.lua", SCRIPT.replace("one", "two"))
    update = told.until("reloaded")
    assert words(update) == ["loading", "loaded", "draining", "reloaded"]
    begun, loaded, draining, reloaded = (event["payload"] for event in update)
    assert (begun["from_generation"], draining["generation"], reloaded["from_generation"]) == (generation,) * 3
    assert loaded["generation"] == reloaded["generation"] != generation
    assert begun["digest"] != first[0]["payload"]["digest"]
    assert update[0]["at"] <= reloaded["published_at"] <= update[3]["at"]
    assert [event["cause"] for event in update] == [None, *[update[0]["event_id"]] * 3]

    save(workspace, "capabilities/tools/greet.lua", BROKEN)
    failed = told.until("reload_failed")
    assert words(failed) == ["loading", "reload_failed"]
    assert failed[-1]["payload"]["from_generation"] == loaded["generation"]
    assert failed[-1]["payload"]["digest"] == failed[0]["payload"]["digest"]
    assert failed[-1]["payload"]["diagnostics"][0]["code"] == "EVA-502"
    assert failed[-1]["cause"] == failed[0]["event_id"]

    write(workspace, tool("wrong", BROKEN))
    assert words(told.until("rejected")) == ["loading", "rejected"]

    (workspace / "capabilities/greet.yaml").unlink()
    gone = told.until("unregistered")
    assert words(gone) == ["draining", "unregistered"]
    assert {event["payload"]["generation"] for event in gone} == {loaded["generation"]}
    assert gone[1]["cause"] == gone[0]["event_id"]

    assert eva("capability", "retry", "wrong")[0] == 0
    ordered = told.until("rejected")
    (cause,) = {event["cause"] for event in ordered}
    _, said = eva("audit", "query", "--request", cause)
    codes = [record["code"] for record in said["data"]["records"]]
    assert codes == ["capability.rejected", "capability.retried"], "what was ordered is found by its request"

    code, said = eva("events", "--topic", "/capability/*", "--limit", "4")
    assert (code, said["data"]["more"], said["data"]["live"]) == (0, True, True)
    assert words(said["data"]["events"]) == ["draining", "unregistered", "loading", "rejected"]
    assert said["data"]["events"][2:] == ordered


def test_without_a_runtime_there_is_nothing_to_follow_but_a_start_to_see(eva: Eva) -> None:
    code, said = eva("events", "--topic", "/*/loaded")
    assert (code, words(said["data"]["events"]), said["data"]["live"]) == (0, ["loaded"], False)
    assert eva("events", "--follow")[0] == 4
    assert eva("events", "--topic", "capability")[1]["error"]["kind"] == "InvalidInput"
    assert eva("events", "--limit", "0")[0] == 64
