"""What the lists, the header and the status line say, without a screen."""

from __future__ import annotations

from dataclasses import replace

import pytest

from evatui.console.view.actions import Actions, View
from evatui.console.view.answer import described
from evatui.console.view.card import card
from evatui.console.view.cli import command_line
from evatui.console.view.detail import brief, preview
from evatui.console.view.editor import editor_argv, place_of
from evatui.console.view.empty import empty_registry
from evatui.console.view.foot import action_rows, footer
from evatui.console.view.header import Link, header
from evatui.console.view.ink import measure, plain
from evatui.console.view.outcome import outcome
from evatui.console.view.payload import first_payload
from evatui.console.view.rows import (
    REGISTRY_COLUMNS,
    RegistryRows,
    audit_row,
    counts_down,
    registry_rows,
)
from evatui.console.view.sent import Sent
from evatui.console.view.sentence import sentence
from evatui.console.view.table import Query, lay_out
from evatui.console.view.unserved import rejected_rows
from evatui.console.view.widths import shown_columns
from evatui.console.view.words import Look, clock, duration
from evatui.control.deciding import PermissionRow
from evatui.control.failing import CommandFailed
from evatui.control.snapshot import Beside, Indicator
from evatui.kernel.model.diagnostic import Diagnostic, Reason, Span
from evatui.kernel.model.errors import ErrorKind
from evatui.kernel.workspace.watch_health import WatchHealth
from tests.console.scene import capability, held, record, refused, scene

LOOK = Look(picture=True)


def text_of(rows: list[tuple[tuple[str, object], ...]]) -> str:
    return "\n".join("".join(text for text, _ in row) for row in rows)


def registry_line(id: str, width: int = 79, elapsed: float = 0.0) -> str:
    row = next(row for row in registry_rows(scene(), LOOK, elapsed) if row.key == id)
    return plain(lay_out(row, REGISTRY_COLUMNS, shown_columns(REGISTRY_COLUMNS, width)))


def test_a_capability_shows_what_lives_beside_it() -> None:
    assert "● Active" in registry_line("repo-summary")
    assert "g42" in registry_line("repo-summary")
    assert "◐ g41 drains 2 calls, 8 s left" in registry_line("repo-summary")
    assert "✗ disk refused EVA-204" in registry_line("weather-radar")


def test_a_drain_counts_down_by_the_age_of_the_snapshot() -> None:
    assert "3 s left" in registry_line("repo-summary", elapsed=5.0)
    assert "0 s left" in registry_line("repo-summary", elapsed=50.0)
    assert counts_down(scene())
    assert not counts_down(scene(capabilities=()))


def test_the_header_is_one_line_of_just_the_width() -> None:
    for width in (40, 60, 80, 120, 200):
        assert measure(header(scene(), Link(), width, LOOK)) == width
    assert plain(header(None, Link(), 20, LOOK)) == "EVA  loading …      "


def test_the_header_names_what_is_not_well() -> None:
    ill = scene(
        watch=Indicator(ok=False, word="~ polling"),
        health=Indicator(ok=False, word="CALLS REFUSED"),
        runtime=replace(scene().runtime, attached=True),
    )
    shown = plain(header(ill, Link(dropped=120, readonly=True, stalled_s=4), 160, LOOK))
    for word in ("~ polling", "CALLS REFUSED", "dropped 120", "READ-ONLY", "attached pid 4182", "stalled 4 s"):
        assert word in shown
    assert "LOST" in plain(header(scene(), Link(lost=True), 120, LOOK))


@pytest.mark.parametrize(
    ("health", "shown"),
    [
        (WatchHealth(True, "inotify", folders=4), "watch ● "),
        (WatchHealth(True, "polling", "eva.yaml asks for it"), "watch ~ polling "),
        (WatchHealth(False, "polling", "a limit is reached"), "watch ✗ polling "),
        (WatchHealth(True, "inotify", overflows=2), "watch ~ 2 overflows "),
        (WatchHealth(False, blind_since="2026-11-30T08:10:30.123Z"), "watch ✗ blind since 08:10:30 "),
    ],
)
def test_the_header_says_how_the_watch_is_at_any_width(health: WatchHealth, shown: str) -> None:
    told = scene(watch=Indicator(ok=health.ok, word=health.word, since=health.blind_since or ""))
    for width in (80, 160):
        line = plain(header(told, Link(), width, Look(picture=True)))
        assert shown in line
        assert len(line) == width


def test_a_count_that_is_not_known_is_no_zero() -> None:
    assert "●–" in plain(header(scene(counts={}), Link(), 120, LOOK))


@pytest.mark.parametrize("width", [80, 120])
def test_the_status_line_keeps_what_why_since_and_the_keys(width: int) -> None:
    row = next(row for row in scene().capabilities if row.id == "weather-radar")
    shown = plain(sentence(row, LOOK, width))
    assert len(shown) == width
    for words in ("weather-radar", "EVA-204", "since 13:40:00", "3 why", "e editor"):
        assert words in shown
    shown = plain(sentence(refused(), LOOK, width))
    for words in ("weather-radar", "EVA-204", "since 14:02:10", "g38 serves", "enter read"):
        assert words in shown
    assert "enter record" in plain(sentence(record(7, "14:00:00", "repo-summary"), LOOK, width))


def test_the_preview_and_its_short_form_name_the_generations_that_are_kept() -> None:
    row = next(row for row in scene().capabilities if row.id == "repo-summary")
    assert "g37 1.1.8  kept" in text_of(preview(row, 40, LOOK))
    assert "kept g41 g37" in text_of(brief(row, 100, LOOK))
    assert all(measure(line) <= 40 for line in preview(row, 40, LOOK)[:12])


def test_the_preview_tells_each_permission_with_the_grant_that_gave_it_or_the_rule_that_took_it() -> None:
    given = PermissionRow(permission="fs.read", entry="workspace", in_force=True, why="granted by p.yaml:4")
    taken = PermissionRow(permission="network.hosts", entry="*", in_force=False, why="denied: p.yaml:9")
    shown = text_of(preview(capability("x", 1, permissions=(given, taken)), 80, LOOK))
    assert "✓ fs.read workspace  granted by p.yaml:4" in shown
    assert "✗ network.hosts *  denied: p.yaml:9" in shown


def test_what_waits_says_for_what_and_which_key_decides() -> None:
    for waits_for, key in (("trust", "T trust"), ("approval", "a approve")):
        beside = (Beside(what="held", number="g43", code="EVA-430", waits_for=waits_for),)
        shown = plain(sentence(capability("radar", 38, beside=beside), LOOK, 120))
        assert f"g43 waits for {waits_for} EVA-430" in shown
        assert key in shown
        assert key in plain(sentence(held(waits_for=waits_for), LOOK, 120))


def test_where_it_runs_is_told_with_the_reason_and_marked_where_it_was_moved() -> None:
    why = "moved there after 2 timeouts; enable takes it back"
    moved = capability(
        "wild", 7, marks=("demoted",), calls=5, errors=2, isolation="process", isolation_why=why
    )  # fmt: skip
    for width in (79, 117):
        row = registry_rows(scene(capabilities=(moved,)), LOOK)[0]
        shown = plain(lay_out(row, REGISTRY_COLUMNS, shown_columns(REGISTRY_COLUMNS, width)))
        assert "demoted  2 of 5 failed" in shown
    assert Query.parse("demoted").select([row]) == [row]
    assert f"in a process of its own: {why}" in " ".join(text_of(preview(moved, 60, LOOK)).split())
    assert "demoted" in text_of(brief(moved, 79, LOOK))
    assert why in text_of(brief(moved, 79, LOOK))
    assert "moved there after" in plain(sentence(moved, LOOK, 80))
    foreign = replace(moved, marks=("process",), isolation_why="the policy does not trust its source, user", errors=0)
    (row,) = registry_rows(scene(capabilities=(foreign,)), LOOK)
    assert "process" in plain(lay_out(row, REGISTRY_COLUMNS, shown_columns(REGISTRY_COLUMNS, 79)))


def test_a_card_shows_each_diagnostic_as_it_is_rendered_and_what_serves_meanwhile() -> None:
    shown = text_of(card(refused(), 100, LOOK))
    assert "g38 goes on answering" in shown
    assert "   |   ^^^^^^^^^ not a limit" in text_of(card(refused(), 100, LOOK)).replace("18 |", "   |")
    assert "= fix: write `timeout_ms: 5000`" in shown
    assert "Nothing answers in its place" in text_of(card(refused(serving=None), 100, LOOK))


def test_a_card_shows_in_which_lines_the_refused_version_differs() -> None:
    row = replace(refused(), against="g38", difference=("--- a.yaml", "@@ -1 +1 @@", "-id: x", "+id: y"))
    assert "What differs from g38:\n  --- a.yaml\n  @@ -1 +1 @@\n  -id: x\n  +id: y" in text_of(card(row, 100, LOOK))
    assert "differs" not in text_of(card(refused(), 100, LOOK))


def test_a_diagnostic_that_was_not_rendered_still_says_everything() -> None:
    bare = Diagnostic(
        "EVA-101", Reason.YAML_INVALID, "not YAML", (Span("a.yaml", 3, 4),), notes=("a note",), help="help"
    )
    shown = text_of(card(replace(refused(), diagnostics=(bare,)), 80, LOOK))
    for words in ("EVA-101 not YAML", "a.yaml:3:4", "a note", "help"):
        assert words in shown


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("weather", ["weather-radar", "weather-tides"]),
        ("WEATHER tides", ["weather-tides"]),
        ("cap:repo", ["repo-summary"]),
        ("gen:g42", ["repo-summary"]),
        ("state:disabled", ["scale-report"]),
        ("weather !tides", ["weather-radar"]),
        ("!", [row.id for row in scene().capabilities]),
    ],
)
def test_the_filter_of_the_registry(query: str, found: list[str]) -> None:
    assert [row.key for row in Query.parse(query).select(registry_rows(scene(), LOOK))] == found


@pytest.mark.parametrize(
    ("query", "found"),
    [("err:", ["102"]), ("err:handler", ["102"]), (">1s", ["102"]), (">10ms", ["102", "103", "104"])],
)
def test_the_filter_of_the_audit(query: str, found: list[str]) -> None:
    rows = [audit_row(row, LOOK, {}) for row in scene().audit]
    assert [row.key for row in Query.parse(query).select(rows)] == found


def test_rejections_without_an_id_go_by_their_path() -> None:
    stray = replace(refused("capabilities/x.yaml", path="capabilities/x.yaml"), id=None)
    (row,) = rejected_rows(scene(rejections=(stray,)), LOOK)
    assert row.key == "capabilities/x.yaml"


def test_an_empty_registry_says_where_to_put_a_manifest() -> None:
    shown = text_of(empty_registry(scene(capabilities=())))
    assert "capabilities/" in shown
    assert "eva init" in shown


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_the_footer_always_ends_with_help_and_leave(width: int) -> None:
    row = scene().capabilities[3]
    shown = plain(footer(Actions(readonly=False), View.REGISTRY, scene(), row, width)).rstrip()
    assert shown.endswith("? help  q leave")
    assert len(shown) <= width


def test_help_names_every_key() -> None:
    actions = Actions(readonly=False).all
    for action, row in zip(actions, action_rows(actions, lambda _: None), strict=True):
        shown = " ".join(plain(cell) for cell in row.cells)
        assert all(told in shown for told in (action.help, action.name_of_key, f":{action.word}"))


@pytest.mark.parametrize(
    ("editor", "argv"),
    [
        (["vi"], ["vi", "+18", "/w/a.yaml"]),
        (["/usr/bin/nano", "-w"], ["/usr/bin/nano", "-w", "+18", "/w/a.yaml"]),
        (["emacs", "-nw"], ["emacs", "-nw", "+18", "/w/a.yaml"]),
        (["code"], ["code", "--wait", "-g", "/w/a.yaml:18"]),
        (["ed"], ["ed", "/w/a.yaml"]),
    ],
)
def test_editors_are_told_the_line_each_in_its_way(editor: list[str], argv: list[str]) -> None:
    assert editor_argv(editor, "/w/a.yaml", 18) == argv


def test_the_editor_opens_at_the_mistake_or_at_the_script() -> None:
    assert place_of(refused()) == ("capabilities/weather-radar.yaml", 18)
    assert place_of(capability("a-b", 1)) == ("capabilities/tools/a_b.lua", 1)


@pytest.mark.parametrize(
    ("command", "params", "shown"),
    [
        ("capability.plan", {"ids": ["a"]}, "eva capability reload --dry-run a"),
        ("capability.reload", {"ids": ["a"], "plan": "d1"}, "eva capability reload a --plan d1"),
        ("capability.drain", {"id": "a", "if_generation": "a@1"}, "eva capability drain a --if-generation a@1"),
        ("capability.rollback", {"id": "a", "to": "g4"}, "eva capability rollback a --to g4"),
        (
            "capability.call",
            {"name": "a.b", "provider": "a", "payload": {"q": "it's"}},
            """eva capability call a.b --provider a --payload '{"q": "it'"'"'s"}'""",
        ),
        ("capability.inspect", {"id": "a", "if_generation": None}, "eva capability inspect a"),
    ],
)
def test_the_equal_command_line(command: str, params: dict[str, object], shown: str) -> None:
    assert command_line(command, params) == shown


@pytest.mark.parametrize(
    ("command", "params", "shown"),
    [
        ("trust.give", {"digest": "ab12"}, "eva trust --digest ab12"),
        ("trust.revoke", {}, "eva trust --revoke"),
        ("capability.approve", {"id": "x", "digest": "ab12", "typed": "x"}, "eva capability approve x --digest ab12"),
        ("capability.revoke", {"id": "x", "digest": "ab12"}, "eva capability approve x --digest ab12 --revoke"),
    ],
)
def test_the_equal_command_line_of_a_decision(command: str, params: dict[str, object], shown: str) -> None:
    assert command_line(command, params) == shown


def test_an_outcome_says_what_how_long_and_how_to_undo_it() -> None:
    sent = Sent(
        command="capability.rollback",
        params={"id": "a", "to": "g4"},
        took_ms=12.4,
        data={"from_number": "g5", "to_number": "g6", "cut": 2, "note": "held"},
    )
    shown = plain(outcome(sent))
    assert shown.startswith("✓ rolled back a g5 → g6 2 calls cut held in 12 ms")
    assert "eva capability rollback a --to g4" in shown


def test_a_failure_says_kind_message_and_what_to_try() -> None:
    failed = CommandFailed(ErrorKind.CONFLICT, "it moved", suggestion="look again")
    sent = Sent(command="capability.drain", params={"id": "a"}, took_ms=1.0, failed=failed)
    assert plain(outcome(sent)) == "✗ Conflict a: it moved  look again"


def test_a_payload_has_what_is_required_and_what_has_a_default() -> None:
    schema = {
        "type": "object",
        "required": ["path", "deep", "mode"],
        "properties": {
            "path": {"type": "string"},
            "mode": {"enum": ["fast", "slow"]},
            "deep": {"type": "object", "required": ["n"], "properties": {"n": {"type": ["integer", "null"]}}},
            "limit": {"type": "integer", "default": 5},
            "other": {"type": "string"},
        },
    }
    assert first_payload(schema) == {"path": "", "mode": "fast", "deep": {"n": 0}, "limit": 5}


@pytest.mark.parametrize("schema", [None, True, [], {"type": "string"}, {"properties": 3}, {"required": 7}])
def test_a_strange_schema_gives_an_empty_payload(schema: object) -> None:
    assert first_payload(schema) == {}


def test_data_is_described_by_name() -> None:
    shown = text_of(described({"id": "a", "limits": {"timeout_ms": 5}, "list": [1, {"x": 2, "y": None}], "none": None}))
    assert shown == "id: a\n\nlimits\n  timeout_ms: 5\n\nlist\n  - 1\n  - x: 2\n    y: null\nnone: –"


def test_times_and_durations() -> None:
    assert clock("2026-05-04T14:02:11.204Z", LOOK) == "14:02:11"
    assert clock("2026-05-04T14:02:11.204Z", LOOK, millis=True) == "14:02:11.204"
    assert clock("", LOOK) == "–"
    assert [duration(ms) for ms in (0.94, 3.21, 41.2, 1240, 180_000)] == ["940 µs", "3.2 ms", "41 ms", "1.2 s", "3 min"]


def test_a_capability_of_which_nothing_changed_keeps_its_row() -> None:
    made = RegistryRows(LOOK)
    before = made.of(scene(), 0.0)
    rows = scene().capabilities
    changed = scene(capabilities=(replace(rows[0], calls=32), *rows[1:]))
    after = made.of(changed, 1.0)
    same = [one is other for one, other in zip(before, after, strict=True)]
    assert [row.key for row, kept in zip(after, same, strict=True) if not kept] == [rows[0].id, "repo-summary"]
