"""The event bus: everyone hears in order, a slow listener loses only its own oldest events, and it shows."""

from __future__ import annotations

import asyncio
import threading

import pytest

from evatui.kernel.model.call import Actor, CallerType
from evatui.kernel.model.clock import SYSTEM_CLOCK
from evatui.kernel.records.events import EventBus


@pytest.fixture
def bus() -> EventBus:
    return EventBus(SYSTEM_CLOCK)


def test_an_event_is_numbered_and_enveloped(bus: EventBus) -> None:
    actor = Actor(CallerType.CAPABILITY, "repo-summary")
    first = bus.emit("/repo/done", {"files": 3}, actor=actor, cause="req_1")
    second = bus.emit("/repo/done", {})
    assert (first.seq, second.seq) == (1, 2)
    assert first.event_id != second.event_id
    assert first.to_json() | {"at": "", "event_id": ""} == {
        "seq": 1,
        "event_id": "",
        "topic": "/repo/done",
        "at": "",
        "actor": {"type": "capability", "id": "repo-summary"},
        "cause": "req_1",
        "payload": {"files": 3},
    }


@pytest.mark.parametrize("topic", ["", "repo", "/", "/a//b", "/a/*", "/a b", "/" + "x" * 65])
def test_what_is_no_topic_is_not_emitted(bus: EventBus, topic: str) -> None:
    with pytest.raises(ValueError, match="not a topic"):
        bus.emit(topic, {})
    assert bus.since(0) == ((), 0)


def test_a_payload_that_is_not_json_is_not_emitted(bus: EventBus) -> None:
    with pytest.raises(TypeError):
        bus.emit("/a", {"x": object()})
    assert bus.since(0) == ((), 0)


def test_a_payload_changed_later_does_not_change_the_event(bus: EventBus) -> None:
    payload = {"files": [1]}
    event = bus.emit("/a", payload)
    payload["files"].append(2)
    assert event.payload == {"files": [1]}


async def test_a_subscriber_hears_what_its_pattern_matches(bus: EventBus) -> None:
    repo = bus.subscribe("/repo/*")
    everything = bus.subscribe()
    for topic in ("/repo/a", "/other", "/repo/a/b", "/repo/c"):
        bus.emit(topic, {})
    repo.close()
    everything.close()
    assert [event.topic async for event in repo] == ["/repo/a", "/repo/c"]
    assert [event.seq async for event in everything] == [1, 2, 3, 4]


def test_a_pattern_that_is_none_is_refused(bus: EventBus) -> None:
    with pytest.raises(ValueError, match="pattern"):
        bus.subscribe("/**/a")


async def test_a_slow_subscriber_loses_its_own_oldest_events_and_it_shows(bus: EventBus) -> None:
    slow, quick = bus.subscribe(capacity=3), bus.subscribe(capacity=100)
    for _ in range(10):
        bus.emit("/a", {})
    assert (slow.dropped, quick.dropped, bus.lost) == (7, 0, 7)
    slow.close()
    assert [event.seq async for event in slow] == [8, 9, 10]


async def test_a_new_subscriber_begins_with_the_last_of_what_it_listens_to(bus: EventBus) -> None:
    for number in range(6):
        bus.emit("/repo/a" if number % 2 else "/other", {"n": number})
    late, early = bus.subscribe("/repo/*", last=2), bus.subscribe("/repo/*", last=0)
    bus.emit("/repo/b", {"n": 6})
    everything = bus.subscribe(last=1_000)
    for subscription, heard in ((late, [3, 5, 6]), (early, [6]), (everything, [0, 1, 2, 3, 4, 5, 6])):
        subscription.close()
        assert [event.payload["n"] async for event in subscription] == heard
        assert subscription.dropped == 0


async def test_get_waits_for_an_event_from_another_thread(bus: EventBus) -> None:
    subscription = bus.subscribe()
    waiting = asyncio.create_task(subscription.get())
    await asyncio.sleep(0)
    thread = threading.Thread(target=bus.emit, args=("/a", {"n": 1}))
    thread.start()
    event = await waiting
    thread.join()
    assert event is not None
    assert event.payload == {"n": 1}


async def test_closing_ends_a_waiting_reader_and_stops_the_flow(bus: EventBus) -> None:
    subscription = bus.subscribe()
    waiting = asyncio.create_task(subscription.get())
    await asyncio.sleep(0)
    subscription.close()
    subscription.close()
    assert await waiting is None
    bus.emit("/a", {})
    assert await subscription.get() is None


async def test_a_reader_whose_loop_has_ended_does_not_stop_the_bus(bus: EventBus) -> None:
    subscription = bus.subscribe()

    def read_a_little() -> None:
        async def give_up() -> None:
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(subscription.get(), 0.001)

        asyncio.run(give_up())

    await asyncio.to_thread(read_a_little)
    bus.emit("/a", {})
    event = await subscription.get()
    assert event is not None


def test_since_gives_what_is_kept_and_counts_what_is_not() -> None:
    bus = EventBus(SYSTEM_CLOCK, ring=5)
    for _ in range(8):
        bus.emit("/a", {})
    events, dropped = bus.since(1)
    assert ([event.seq for event in events], dropped) == ([4, 5, 6, 7, 8], 2)
    assert [event.seq for event in bus.since(6)[0]] == [7, 8]
    assert bus.since(8) == ((), 0)
    assert bus.since(0)[1] == 0


def test_large_payloads_cannot_fill_the_memory(bus: EventBus) -> None:
    subscription = bus.subscribe(capacity=1_000)
    for _ in range(200):
        bus.emit("/a", {"text": "x" * 200_000})
    assert len(bus.since(0)[0]) < 90
    assert subscription.dropped > 110


def test_events_of_many_threads_are_numbered_without_gaps(bus: EventBus) -> None:
    def emit_many() -> None:
        for _ in range(200):
            bus.emit("/a", {})

    threads = [threading.Thread(target=emit_many) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [event.seq for event in bus.since(0)[0]] == list(range(1, 801))


def test_the_hook_hears_each_event_and_may_look_back(bus: EventBus) -> None:
    heard = []
    bus.on_emit = lambda event: heard.append((event.seq, len(bus.since(0)[0])))
    bus.emit("/a", {})
    bus.emit("/b", {})
    assert heard == [(1, 1), (2, 2)]
