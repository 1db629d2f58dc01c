"""``eva audit tail --follow``: a stream of one object a line."""

from __future__ import annotations

import json
from typing import Any

import pytest

from evatui.control.opening import OpenMode
from evatui.control.operator import CommandFailed
from evatui.control.snapshot import AuditRow, ConsoleSnapshot, Cursor, Indicator, RuntimeInfo
from evatui.kernel.model.errors import ErrorKind
from tests.cli.fake import Eva, FakeOperator, Said


def record(seq: int) -> dict[str, Any]:
    return {"seq": seq, "at": "t", "code": "call.ok", "outcome": "ok", "actor": {"type": "cli", "id": "me"}}


def snapshot(*seqs: int) -> ConsoleSnapshot:
    blank: dict[str, Any] = dict.fromkeys(("capability_id", "capability", "generation", "request_id", "error_kind"), "")
    rows = tuple(
        AuditRow(seq=n, at="t", code="c", outcome="ok", actor="me", duration_us=1, record=record(n), **blank)
        for n in seqs
    )
    runtime = RuntimeInfo(pid=1, host="h", workspace="w", since="t", mode="normal", attached=True)
    nothing: dict[str, Any] = dict.fromkeys(("capabilities", "rejections", "calls", "transitions", "events"), ())
    return ConsoleSnapshot(
        at="t",
        runtime=runtime,
        cursor=Cursor(audit=max(seqs, default=0)),
        counts={},
        audit=rows,
        dropped=0,
        watch=Indicator(ok=True),
        health=Indicator(ok=True),
        **nothing,
    )


class Stream(FakeOperator):
    """Ends like a lost runtime when its snapshots are used up, or like one that ``stopped``."""

    stopped = False

    async def snapshot(self, since: Cursor) -> ConsoleSnapshot:
        if not self.snapshots:
            raise CommandFailed(ErrorKind.UNAVAILABLE, "the runtime is gone", context={"stopped": self.stopped})
        return await super().snapshot(since)


@pytest.fixture
def follow(eva: Eva, monkeypatch: pytest.MonkeyPatch) -> Any:
    def run(*snapshots: ConsoleSnapshot, output: str = "json") -> tuple[Said, FakeOperator]:
        made: list[Stream] = []

        def stream(answers: Any) -> Stream:
            made.append(Stream(answers, snapshots=list(snapshots)))
            return made[0]

        monkeypatch.setattr("tests.cli.fake.FakeOperator", stream)
        tail = {"records": [record(1), record(2)]}
        return eva("audit", "tail", "--follow", "-o", output, audit__tail=tail), made[0]

    return run


def test_the_tail_comes_first_and_then_each_new_record_once(follow: Any) -> None:
    said, operator = follow(snapshot(3), snapshot(4, 5))
    *lines, last = [json.loads(line) for line in said.out.splitlines()]
    assert [line["seq"] for line in lines] == [1, 2, 3, 4, 5]
    assert [cursor.audit for cursor in operator.cursors] == [2, 3]
    assert (said.code, last["error"]["message"]) == (4, "the runtime is gone")
    assert operator.closed == 1


def test_as_text_each_record_is_a_line(follow: Any) -> None:
    said, _ = follow(snapshot(3), output="text")
    assert [line.split()[0] for line in said.out.splitlines()] == ["1", "2", "3"]
    assert "error: the runtime is gone" in said.err


def test_it_follows_only_a_runtime_that_holds_the_workspace(follow: Any) -> None:
    _, operator = follow(snapshot(3))
    assert operator.opened[0][0] is OpenMode.ATTACH


def test_it_ends_well_with_a_runtime_that_stops(follow: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Stream, "stopped", True)
    said, operator = follow(snapshot(3))
    assert (said.code, said.err) == (0, "· the runtime stopped\n")
    assert [json.loads(line)["seq"] for line in said.out.splitlines()] == [1, 2, 3]
    assert operator.closed == 1
