"""``eva audit tail --follow`` and ``eva events --follow``: streams of one object a line."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from evatui.control.failing import CommandFailed
from evatui.control.opening import OpenMode
from evatui.kernel.model.errors import ErrorKind
from tests.cli.fake import Eva, FakeOperator, Said


def record(seq: int) -> dict[str, Any]:
    return {"seq": seq, "at": "t", "code": "call.ok", "outcome": "ok", "actor": {"type": "cli", "id": "me"}}


def event(seq: int) -> dict[str, Any]:
    payload = {"id": "greet", "generation": "g2", "from_generation": "g1", "reason": None, "diagnostics": []}
    envelope = {"event_id": f"evt_{seq}", "topic": "/capability/loaded", "at": "t", "cause": "req_1"}
    return {"seq": seq, **envelope, "actor": {"type": "kernel", "id": ""}, "payload": payload}


class Stream(FakeOperator):
    """Answers page by page, saying at once that there is more, and ends like a lost runtime or one that stopped."""

    stopped = False

    async def run(self, command: str, **params: Any) -> dict[str, Any]:
        pages: list[dict[str, Any]] = self.answers[command]
        self.asked.append((command, params))
        if not pages:
            raise CommandFailed(ErrorKind.UNAVAILABLE, "the runtime is gone", context={"stopped": self.stopped})
        if not pages[0]["more"]:
            self.notify()
        return pages.pop(0)


Follow = Callable[..., tuple[Said, FakeOperator]]


@pytest.fixture
def follow(eva: Eva, monkeypatch: pytest.MonkeyPatch) -> Follow:
    def run(line: str, key: str, *pages: dict[str, Any]) -> tuple[Said, FakeOperator]:
        made: list[Stream] = []

        def stream(answers: Any) -> Stream:
            made.append(Stream(answers))
            return made[0]

        monkeypatch.setattr("tests.cli.fake.FakeOperator", stream)
        return eva(*line.split(), **{key: list(pages)}), made[0]

    return run


def page(name: str, make: Callable[[int], dict[str, Any]], *seqs: int, **about: Any) -> dict[str, Any]:
    return {name: [make(seq) for seq in seqs], "seq": max(seqs, default=0), "dropped": 0, "more": False, **about}


KINDS = pytest.mark.parametrize(
    ("words", "key", "name", "make", "since"),
    [
        ("audit tail", "audit__tail", "records", record, "since_seq"),
        ("events", "events", "events", event, "since"),
    ],
)


@KINDS
def test_the_newest_come_first_and_then_each_new_one_once(follow: Follow, words, key, name, make, since) -> None:
    pages = [page(name, make, 1, 2), page(name, make, 3, more=True), page(name, make, 4, 5)]
    said, operator = follow(f"{words} --follow -o json", key, *pages)
    *lines, last = [json.loads(line) for line in said.out.splitlines()]
    assert [line["seq"] for line in lines] == [1, 2, 3, 4, 5]
    assert [params.get(since) for _, params in operator.asked] == [None, 2, 3, 5]
    assert [params.get("limit") is not None for _, params in operator.asked] == [True, False, False, False]
    assert (said.code, last["error"]["message"]) == (4, "the runtime is gone")
    assert operator.opened[0][0] is OpenMode.ATTACH
    assert operator.closed == 1


@KINDS
def test_what_was_lost_is_said_in_its_place(follow: Follow, words, key, name, make, since) -> None:
    pages = (page(name, make, 1), page(name, make, 9, dropped=7))
    said, _ = follow(f"{words} --follow -o json", key, *pages)
    assert [json.loads(line).get("dropped") for line in said.out.splitlines()] == [None, 7, None, None]
    said, _ = follow(f"{words} --follow", key, *(dict(one) for one in pages))
    assert "· 7 were lost" in said.err
    assert [line.split()[0] for line in said.out.splitlines()] == ["1", "9"]


@KINDS
def test_it_ends_well_with_a_runtime_that_stops(
    follow: Follow, monkeypatch: pytest.MonkeyPatch, words, key, name, make, since
) -> None:
    monkeypatch.setattr(Stream, "stopped", True)
    said, operator = follow(f"{words} --follow -o json", key, page(name, make, 1))
    assert (said.code, said.err) == (0, "· the runtime stopped\n")
    assert operator.closed == 1


def test_filters_go_along(follow: Follow) -> None:
    _, operator = follow("events --follow --topic /repo/** --limit 3", "events", page("events", event))
    assert operator.asked == [
        ("events", {"limit": 3, "topic": "/repo/**"}),
        ("events", {"topic": "/repo/**", "since": 0}),
    ]
    _, operator = follow("audit tail --follow --code call", "audit__tail", page("records", record))
    assert [params["code"] for _, params in operator.asked] == ["call", "call"]


def test_an_event_reads_as_a_line(eva: Eva) -> None:
    said = eva("events", events=page("events", event, 4, live=True, more=True))
    line = said.out.splitlines()[1]
    assert line.split() == ["4", "t", "/capability/loaded", "kernel", "req_1", "greet", "g1", "→", "g2"]
    assert "there are older ones" in said.err
    said = eva("events", events=page("events", event, live=False))
    assert "no runtime holds this workspace" in said.err
