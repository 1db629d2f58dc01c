"""What a handler reports of how far it is: the newest is kept, and some of it is told."""

from __future__ import annotations

from typing import Any

import pytest

from evatui.kernel.host.reporting import Reporting
from evatui.kernel.model.progress import Progress
from tests.host.ground import Ground, asked


async def test_a_report_becomes_an_event_and_is_kept(ground: Ground) -> None:
    bound = ground.bind()
    assert bound.progress is None
    assert await asked(bound, "progress", {"done": 3.0, "total": 12, "message": "reading\n\x1b[31msrc"}) is None
    [event] = ground.events.since(0)[0]
    assert (event.topic, event.cause) == ("/runtime/progress", "req_1")
    assert event.actor.to_json() == {"type": "capability", "id": "repo-summary"}
    assert event.payload == {
        "id": "repo-summary",
        "generation": "repo-summary@1.0.0+build.20260102.001",
        "request_id": "req_1",
        "done": 3,
        "total": 12,
        "message": "reading⏎␛[31msrc",
    }
    assert bound.progress == Progress(3, 12, "reading⏎␛[31msrc")


async def test_a_long_message_is_cut(ground: Ground) -> None:
    bound = ground.bind()
    await asked(bound, "progress", {"done": 1, "message": "x" * 5_000})
    assert bound.progress is not None
    assert bound.progress.message == "x" * 199 + "…"


async def test_what_does_not_fit_changes_nothing(ground: Ground) -> None:
    bound = ground.bind()
    await asked(bound, "progress", {"done": 1, "total": 2})
    await ground.refusal("progress", {"done": 3, "total": 2})
    assert bound.progress == Progress(1, 2)


async def test_many_reports_make_few_events_and_the_newest_is_the_one_kept(ground: Ground) -> None:
    heard: list[int] = []
    bound = ground.bind(reported=lambda: heard.append(1))
    for done in range(201):
        await asked(bound, "progress", {"done": done, "total": 200})
    told = [event.payload["done"] for event in ground.events.since(0)[0]]
    assert told[0] == 0
    assert told[-1] == 200
    assert len(told) < 150
    assert len(heard) == 201
    assert bound.progress == Progress(200, 200)


class Clock:
    now = 5.0

    def __call__(self) -> float:
        return self.now


def test_at_most_one_report_in_its_time_is_told_but_always_the_one_that_completes() -> None:
    clock = Clock()
    reporting = Reporting(clock)

    def told(done: int, total: int | None = 10) -> bool:
        return reporting.take(Progress(done, total))

    assert told(1)
    assert not told(2)
    clock.now += 1
    assert told(3)
    assert not told(4)
    assert told(10)
    assert not told(10)
    assert not told(11, None)
    assert not told(11, 11)
    assert reporting.newest == Progress(11, 11)
    clock.now += 1
    assert told(11, 11)


@pytest.mark.parametrize(
    ("progress", "words"),
    [
        (Progress(4, 10, "src"), "40 %  4 of 10  src"),
        (Progress(1_999, 2_000), "99 %  1,999 of 2,000"),
        (Progress(2, 2), "100 %  2 of 2"),
        (Progress(0, 0), "100 %  0 of 0"),
        (Progress(1_200), "1,200 done"),
        (Progress(0.5, 2.25, "GiB"), "22 %  0.5 of 2.25  GiB"),
    ],
)
def test_progress_in_words(progress: Progress, words: str) -> None:
    assert progress.in_words() == words


async def test_a_health_check_may_report(ground: Ground) -> None:
    bound: Any = ground.bind(effects=False, audit=None, reservation=None)
    await asked(bound, "progress", {"done": 1})
    assert bound.progress == Progress(1)
