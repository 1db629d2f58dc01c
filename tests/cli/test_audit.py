"""`eva audit` and `eva metrics`: the same answers with a runtime and without one."""

from __future__ import annotations

import json
import os
import signal
import sys
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from evatui.cli.main import run
from evatui.cli.screen import Screen
from tests.cli.real import Eva, holding
from tests.support.workspaces import GREETER, tool, write

FAILS = 'function invoke(ctx, request) error("no scale") end'
DENIED = 'function invoke(ctx, request) ctx.host.fs_read_text{path = "x"} return {ok = true, result = {}} end'


@pytest.fixture(params=["with a runtime", "without one"])
def eva(tmp_path: Path, request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]) -> Iterator[Eva]:
    root = tmp_path / "ws"
    write(root, {**GREETER, **tool("fails", FAILS), **tool("denied", DENIED)})
    with holding(root) if request.param == "with a runtime" else nullcontext():
        eva = Eva(root, capsys)
        for name in ("ann", "bob"):
            eva.json("capability", "call", "text.greet", "--payload", json.dumps({"name": name}))
        eva.json("capability", "call", "test.fails", code=6)
        eva.json("capability", "call", "test.denied", code=6)
        yield eva


def test_records_are_found_by_all_that_they_have(eva: Eva) -> None:
    tail = eva.data("audit", "tail", "--limit", "50")["records"]
    seqs = [record["seq"] for record in tail]
    assert seqs == list(range(1, len(seqs) + 1))
    calls = [record for record in tail if record["code"].startswith("call.")]
    assert [record["code"] for record in calls] == ["call.ok", "call.ok", "call.error", "call.error"]
    one = calls[1]

    def found(*line: str) -> list[int]:
        return [record["seq"] for record in eva.data("audit", "query", *line)["records"]]

    def wanted(**fields: str) -> list[int]:
        return [record["seq"] for record in tail if all(record[name] == value for name, value in fields.items())]

    assert found("--request", one["request_id"]) == found("--trace", one["trace_id"]) == [one["seq"]]
    assert found("--generation", one["generation"]) == wanted(generation=one["generation"])
    assert found("--capability", "greet") == wanted(capability_id="greet")
    assert found("--capability", "text.greet") == wanted(capability="text.greet")
    assert found("--code", "call") == [record["seq"] for record in calls]
    assert found("--code", "call.error", "--outcome", "error") == [record["seq"] for record in calls[2:]]
    assert found("--code", "cal") == []
    assert found("--actor", "cli", "--code", "call") == [record["seq"] for record in calls]
    assert found("--actor", f"cli:{one['actor']['id']}", "--request", one["request_id"]) == [one["seq"]]
    assert found("--since", one["at"], "--until", one["at"], "--code", "call") == [
        record["seq"] for record in calls if record["at"] == one["at"]
    ]
    assert found("--since", "1h") == seqs
    assert found("--until", "2020-01-01") == []
    newest = eva.data("audit", "query", "--code", "call", "--limit", "2")
    assert ([record["seq"] for record in newest["records"]], newest["more"]) == ([c["seq"] for c in calls[2:]], True)
    out, err = eva.text("audit", "query", "--code", "call", "--limit", "2")
    assert [line.split()[2] for line in out.splitlines()] == ["CODE", "call.error", "call.error"]
    assert "--limit shows more" in err


def test_the_log_is_whole_here_and_where_it_was_exported_to(eva: Eva, tmp_path: Path) -> None:
    while eva.data("audit", "verify")["signed"] is None:
        pass  # the head follows the records, a little later
    copy = tmp_path / "copy.jsonl"
    copy.write_text(eva.text("audit", "export")[0])
    lines = copy.read_text().splitlines()
    key = json.loads(lines[0])["audit_head"]["key"]
    found = eva.data("audit", "verify", str(copy), "--key", key)
    assert (found["ok"], found["records"], found["signed"]["key"]) == (True, len(lines) - 1, key)
    assert eva.data("audit", "verify")["ok"]
    assert "each in its place" in eva.text("audit", "verify")[0]
    only = [json.loads(line) for line in eva.text("audit", "export", "--capability", "fails")[0].splitlines()]
    assert {record["capability_id"] for record in only} == {"fails"}
    copy.write_text("\n".join([*lines[:2], lines[2].replace('"outcome":"ok"', '"outcome":"OK"', 1), *lines[3:]]) + "\n")
    said = eva.json("audit", "verify", str(copy), code=2)
    assert (said["data"]["first_bad"]["kind"], said["data"]["first_bad"]["line"]) == ("edit", 3)
    assert "edit at record 2, copy.jsonl line 3" in eva.text("audit", "verify", str(copy), code=2)[1]


def test_wrong_words_are_usage_and_wrong_values_invalid_input(eva: Eva) -> None:
    for line, code in (
        (("audit", "query"), 64),
        (("audit", "verify", "--key", "00"), 64),
        (("audit", "tail", "--limit", "0"), 64),
        (("audit", "query", "--outcom", "ok"), 64),
        (("audit", "query", "--since", "yesterday"), 2),
        (("audit", "query", "--request", "x" * 300), 2),
        (("audit", "export", "--until", "soon"), 2),
    ):
        assert eva.json(*line, code=code)["error"]["kind"] == "InvalidInput"
    assert eva.json("audit", "verify", "no-such-file", code=4)["error"]["kind"] == "Unavailable"


def test_metrics_read_as_text_and_as_json(eva: Eva) -> None:
    text = eva.data("metrics")["text"]
    assert "# TYPE capability_inflight gauge" in text
    assert 'capability_generation_active{capability_id="greet",generation="greet@1.0.0+build.' in text
    assert eva.text("metrics")[0].startswith("# HELP capability_invocations_total")


@pytest.mark.skipif(sys.platform == "win32", reason="it is ended by a signal")
def test_serve_gives_metrics_over_http_and_each_record_to_its_reader(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, GREETER)
    say, scraped = Screen.object, []

    def heard(screen: Screen, step: Mapping[str, Any]) -> None:
        say(screen, step)
        if step["event"] == "serving":
            with urllib.request.urlopen(step["metrics"]) as answer:
                scraped.append(answer.read())
            os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr(Screen, "object", heard)
    assert run(["serve", "-w", str(tmp_path), "--metrics", "0", "--audit-stdout", "-o", "json"]) == 0
    assert b'capability_inflight{capability_id="greet",kind="lua_tool"} 0.0' in scraped[0]
    records = [line for line in map(json.loads, capfd.readouterr().out.splitlines()) if "seq" in line]
    [file] = (tmp_path / ".eva/audit").glob("*.jsonl")
    assert records == [json.loads(line) for line in file.read_text().splitlines()]
    assert records[-1]["code"] == "runtime.stopped"
