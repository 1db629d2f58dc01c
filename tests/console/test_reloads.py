"""The timeline of reloads: what the events tell, one line each, and what lies on disk before them."""

from __future__ import annotations

from dataclasses import replace

from evatui.console.view.actions import View
from evatui.console.view.ink import plain
from evatui.console.view.numbers import Numbers, number_of
from evatui.console.view.older import past_reloads
from evatui.console.view.reloads import reload_brief, reload_preview, reload_row
from evatui.console.view.table import Query
from evatui.console.view.timeline import Timeline, What
from evatui.console.view.words import Look
from evatui.kernel.model.event import Event
from evatui.kernel.model.lifecycle import State
from tests.console.conftest import OpenConsole
from tests.console.scene import at, record, reload_events, scene, step

LOOK = Look(picture=True)
SUMMARY = "repo-summary@1.2.0+build.20260504.{:03d}"
NUMBERS = {SUMMARY.format(number): f"g{number}" for number in (41, 42)}


def timeline(*events: Event) -> Timeline:
    told = Timeline()
    told.add(events or reload_events())
    return told


def later(event: Event, topic: str, time: str, **payload: object) -> Event:
    return replace(
        event, seq=event.seq + 100, event_id=f"evt_later_{topic}_{time}", topic=f"/capability/{topic}", at=at(time),
        payload=event.payload | payload,
    )  # fmt: skip


def test_one_line_for_each_version_whatever_its_events() -> None:
    assert [(row.id, row.what) for row in timeline().reloads.values()] == [
        ("repo-summary", What.PUBLISHED),
        ("weather-radar", What.REFUSED),
        ("prompt-compose", What.HELD),
        ("topic-normalize", What.CANARY),
        ("topic-normalize", What.TAKEN_BACK),
        ("repo-summary", What.PUBLISHED),
        ("scale-report", What.WITHDRAWN),
    ]


def test_a_reload_ends_when_what_it_replaced_is_freed() -> None:
    told = timeline()
    update = list(told.reloads.values())[5]
    assert (update.source, update.target, update.draining) == (SUMMARY.format(41), SUMMARY.format(42), True)
    first = next(event for event in reload_events() if event.payload["generation"] == update.target)
    freed = later(first, "reloaded", "14:02:19", from_generation=update.source, cut=2)
    assert told.add([freed]) == {update.key}
    now = told.reloads[update.key]
    assert (now.freed_at, now.cut, now.draining) == (at("14:02:19"), 2, False)
    shown = "\n".join(plain(part) for part in reload_preview(now, NUMBERS, 60, LOOK))
    assert "the one before is freed, 2 cut" in shown
    assert "2 calls cut" in plain(reload_brief(now, NUMBERS, 60, LOOK)[1])


def test_what_came_back_says_so_and_what_was_overtaken_too() -> None:
    told = timeline()
    loading = reload_events()[0]
    told.add([later(loading, "loading", "14:05:00"), later(loading, "loading", "14:05:01")])
    assert [row.what for row in told.reloads.values()][-2:] == [What.OVERTAKEN, What.LOADING]
    back = {"generation": SUMMARY.format(43), "from_generation": SUMMARY.format(42)}
    told.add([later(loading, "loaded", "14:05:02", **back), later(loading, "rolled_back", "14:05:02", **back)])
    newest = list(told.reloads.values())[-1]
    assert (newest.what, newest.source, newest.target) == (What.ROLLED_BACK, SUMMARY.format(42), SUMMARY.format(43))


def test_a_deleted_manifest_is_removed_once_its_calls_have_ended() -> None:
    drains = next(event for event in reload_events() if event.payload["id"] == "scale-report")
    told = timeline(drains, later(drains, "unregistered", "14:03:00"))
    assert [(row.what, row.freed_at) for row in told.reloads.values()] == [(What.REMOVED, at("14:03:00"))]


def test_a_version_that_says_itself_that_it_is_off_is_no_riddle() -> None:
    loading = reload_events()[0]
    off = [
        later(loading, "loading", "14:03:00", from_generation="x@1+build.1.001"),
        later(loading, "draining", "14:03:01", generation="x@1+build.1.001", from_generation=None),
    ]
    assert [row.what for row in timeline(*off).reloads.values()] == [What.WITHDRAWN]


def test_a_refusal_says_whether_anything_answers_meanwhile() -> None:
    refused = list(timeline().reloads.values())[1]
    assert "what served goes on" in "\n".join(plain(row) for row in reload_preview(refused, NUMBERS, 80, LOOK))
    first = replace(refused, source="")
    assert "nothing answers in its place" in "\n".join(plain(row) for row in reload_preview(first, NUMBERS, 80, LOOK))


def test_an_end_whose_beginning_is_not_known_is_told_all_the_same() -> None:
    refused = reload_events()[3]
    assert [row.what for row in timeline(refused).reloads.values()] == [What.REFUSED]


def test_a_generation_is_found_by_its_whole_number_and_a_refusal_by_its_reason() -> None:
    rows = [reload_row(reload, NUMBERS, LOOK) for reload in timeline().reloads.values()]
    assert [row.key for row in Query.parse("gen:42").select(rows)] == [rows[5].key]
    assert Query.parse("gen:4").select(rows) == []
    assert [row.key for row in Query.parse("err:manifest cap:weather").select(rows)] == [rows[1].key]
    assert plain(rows[5].cells[3]) == "g41 → g42"
    assert plain(rows[1].cells[4]) == "1.0 s"


def test_records_of_earlier_runs_are_reloads_too() -> None:
    rows = [
        record(7, "09:00:00", "repo-summary", code="capability.published"),
        record(8, "09:00:01", "repo-summary", code="call.ok"),
        record(9, "09:00:02", "repo-summary", code="capability.unregistered"),
    ]
    found = past_reloads(rows)
    assert [(one.what, one.source, one.target) for one in found] == [
        (What.PUBLISHED, "", rows[0].generation),
        (What.REMOVED, rows[2].generation, ""),
    ]


async def test_older_ones_come_from_disk_when_they_are_asked_for(console: OpenConsole) -> None:
    found = dict(record(3, "09:00:00", "repo-summary", code="capability.published").record)
    async with console(answers={"audit.query": {"records": [found], "more": False}}, view=View.RELOADS) as it:
        assert len(it.app.pane.rows.shown) == 8
        await it.press("g", "enter")
        assert [params["code"] for params in it.operator.sent("audit.query")] == ["capability", "canary"]
        assert it.app.pane.rows.shown[0].key == "record 3"
        assert "1 older from disk, and that is all that is kept" in it.status
        await it.press("G")
        assert it.app.pane.rows.shown[-1].key == it.key


async def test_where_the_log_begins_with_this_run_nothing_older_is_offered(console: OpenConsole) -> None:
    async with console(scene(audit=(record(1, "11:00:00", "repo-summary"),)), view=View.RELOADS) as it:
        assert it.app.pane.rows.lead is None
        await it.press("6")
        assert it.app.pane.rows.lead is None


async def test_nothing_older_is_offered_before_a_record_tells_that_there_is_any(console: OpenConsole) -> None:
    async with console(scene(audit=()), view=View.RELOADS) as it:
        assert it.app.pane.rows.lead is None
        await it.change(scene(audit=(record(1, "11:00:00", "repo-summary"),), at=at("14:02:30")))
        assert it.app.pane.rows.lead is None


async def test_older_records_of_the_audit_come_a_thousand_at_a_time(console: OpenConsole) -> None:
    page = [dict(record(seq, "09:00:00", "repo-summary").record) for seq in range(41, 101)]
    async with console(answers={"audit.query": {"records": page, "more": True}}, view=View.AUDIT) as it:
        assert it.app.pane.rows.follow
        await it.press("g", "enter")
        assert it.operator.sent("audit.query") == [{"until": at("14:01:40"), "limit": 1000}]
        assert "60 older from disk" in it.status
        assert [row.key for row in it.app.pane.rows.shown[:2]] == ["older", "41"]
        await it.change(scene(audit=(*scene().audit, record(106, "14:02:30", "repo-summary")), at=at("14:02:30")))
        assert it.app.pane.rows.total == 66


def test_generations_are_told_by_their_numbers_also_those_that_are_gone() -> None:
    numbers = Numbers()
    numbers.learn(scene(capabilities=(), transitions=(step(1, "14:00:00", "a", 7, None, State.PENDING),)))
    assert number_of("a@1.2.0", numbers.known) == "g7"
    assert number_of("a@1.2.0+build.20260504.041", {}) == "0504.041"
    assert number_of("", {}) == ""
