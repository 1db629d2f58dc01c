"""What a version changes, as a person reads it before deciding: permissions first, and no line too much."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from evatui.console.comparing import AROUND_BROAD
from evatui.console.view.actions import View
from evatui.console.view.code_diff import MAX_ROWS, SIDE_BY_SIDE, diff_rows, shown
from evatui.console.view.comparison import compared_lines, refused_lines
from evatui.console.view.ink import Ink, measure, plain
from evatui.control.failing import CommandFailed
from evatui.kernel.model.errors import ErrorKind
from tests.console.conftest import OpenConsole
from tests.console.scene import field

LINES = [
    [" ", 1, 1, "local function sentence(files, folder)"],
    ["-", 2, None, "  local many = #files"],
    ["+", None, 2, "  local many = count(files)"],
    [
        "+",
        None,
        3,
        "  -- of 天気予報, and of nothing else at all, whatever anybody may say about it afterwards, ever",
    ],
    [" ", 40, 41, "end"],
    ["-", 41, None, "gone()"],
]
DATA: dict[str, Any] = {
    "id": "repo-summary",
    "from": "g41",
    "to": "g42",
    "fields": [
        {"path": "version", "from": "1.1.9", "to": "1.2.0"},
        {"path": "input_schema.properties.depth.maximum", "from": 4, "to": 8},
        {"path": "permissions.network.hosts", "from": [], "to": ["b.example.org"]},
    ],
    "permissions": [field("network.hosts", "widened", [], ["b.example.org"], gained=["b.example.org"])],
    "lines": [
        {"path": "capabilities/a.yaml", "change": "changed", "lines": [["-", 1, None, "version: 1.1.9"]]},
        {"path": "capabilities/tools/a.lua", "change": "changed", "lines": LINES},
        {"path": "schemas/a.json", "change": "new", "lines": []},
    ],
    "account": {
        "change_class": "approval",
        "approved": True,
        "widened": ["network.hosts"],
        "examples": [
            {
                "name": "a folder",
                "ok": True,
                "changed": True,
                "before": {"ok": True, "result": {"text": "3 files in src"}},
                "after": {"ok": False, "error": {"kind": "HandlerError", "message": "no"}},
            },
            {"name": "nothing", "ok": True, "changed": False},
        ],
    },
}


def told(width: int, **changes: Any) -> list[str]:
    return [plain(row).rstrip() for row in compared_lines(DATA | changes)(width)]


def test_permissions_come_first_then_fields_schemas_examples_code_and_the_manifest() -> None:
    lines = told(100)
    order = ["Permissions", "Manifest", "Schemas", "Examples", "schemas/a.json  is new", "capabilities/tools/a.lua"]
    places = [lines.index(title) for title in (*order, "capabilities/a.yaml")]
    assert places == sorted(places)
    assert lines[0] == "g41 → g42  approval: network.hosts is wider; it was approved"
    assert sum("b.example.org" in row for row in lines) == 1  # not once more as a field
    assert '      − {"text": "3 files in src"}' in lines
    assert "      + HandlerError no" in lines


def test_how_far_a_change_goes_is_said_or_that_it_is_not_known() -> None:
    hot = {"change_class": "hot", "approved": False, "widened": [], "examples": []}
    assert "hot: it took effect at once" in told(100, account=hot)[0]
    assert "not known" in told(100, account=None)[0]
    waits = {"change_class": "restart", "approved": False, "widened": [], "examples": []}
    assert "somebody has to approve it, and takes effect at the next start" in told(100, account=waits)[0]
    assert any("no more and no less" in row for row in told(100, permissions=[]))


def test_beside_each_other_where_there_is_room_and_else_beneath() -> None:
    rows = diff_rows(LINES)
    beside = [plain(row) for row in shown(rows, SIDE_BY_SIDE)]
    assert beside[1].split(" │ ")[0].rstrip().endswith("local many = #files")
    assert beside[1].split(" │ ")[1].rstrip().endswith("local many = count(files)")
    assert {measure(row) for row in shown(rows, 131)} - {measure((("     …", Ink.DIM),))} <= {130, 131}
    under = [plain(row) for row in shown(rows, 77)]
    assert [row.strip()[:12] for row in under[1:3]] == ["2 −   local ", "2 +   local "]
    assert any("…" in row for row in under)
    assert all(measure(row) <= 77 for row in shown(rows, 77))
    assert "".join(row[8:].strip() for row in under[3:5]).startswith("-- of 天気予報")


def test_only_what_differs_in_a_line_is_painted_as_such() -> None:
    row = shown(diff_rows(LINES), 77)[1]
    assert [text for text, ink in row if ink is Ink.BAD] == ["− ", "#files"]
    whole = shown(diff_rows([["-", 1, None, "abc def"], ["+", None, 1, "quite another"]]), 77)
    assert [text for text, ink in whole[0] if ink is Ink.BAD] == ["− abc def"]


def test_a_long_difference_is_cut_and_says_so() -> None:
    many = [["+", None, number, f"line {number}"] for number in range(1, MAX_ROWS + 500)]
    lines = told(80, lines=[{"path": "a.lua", "change": "changed", "lines": many}])
    assert lines[-1] == "only the first 2,000 lines of it are shown"
    assert sum(row.lstrip().startswith(tuple("0123456789")) for row in lines) == MAX_ROWS


@given(st.lists(st.tuples(st.sampled_from(" -+"), st.text(max_size=12)), max_size=40))
def test_no_line_is_lost_or_told_twice(given_lines: list[tuple[str, str]]) -> None:
    lines, old, new = [], 0, 0
    for mark, text in given_lines:
        old, new = old + (mark != "+"), new + (mark != "-")
        lines.append([mark, old if mark != "+" else None, new if mark != "-" else None, text])
    rows = diff_rows(lines)
    assert [row.old[0] for row in rows if row.old] == list(range(1, old + 1))
    assert [row.new[0] for row in rows if row.new] == list(range(1, new + 1))


def test_a_refusal_that_is_over_shows_its_lines_too() -> None:
    refused = {
        "diagnostics": [{"code": "EVA-204", "message": "m", "rendered": "EVA-204 m\n  --> a.yaml:1:1"}],
        "against": "g41",
        "difference": [],
        "diff": "--- a\n+++ a\n+broken",
    }
    lines = [plain(row) for row in refused_lines({"rejections": [refused]})]
    assert lines[0] == "EVA-204 m"
    assert "What differs from g41" in lines
    assert lines[-1] == "+broken"


async def test_a_reload_and_a_capability_show_what_changed_in_lines_made_off_the_loop(console: OpenConsole) -> None:
    async with console(answers={"capability.diff": DATA}, view=View.RELOADS, size=(120, 36)) as it:
        await it.press("k", "enter")
        assert it.operator.sent("capability.diff")[0]["new"] == "g42"
        assert "it was approved" in it.screen
        assert "published  repo-summary" in it.screen
        made = it.dialog._source.cache_info()  # type: ignore[attr-defined]
        assert (made.misses, made.hits > 0, AROUND_BROAD) == (3, True, 9)  # in a thread, with what is copied
        await it.press("G")
        assert "local many = count(files)" in it.screen
        await it.press("escape", "1")
        it.app.pane.rows.move_to("repo-summary")
        await it.press("v")
        assert it.operator.sent("capability.diff")[1] == {"id": "repo-summary"}
        assert "Permissions" in it.screen


async def test_a_refused_one_shows_the_refusal_and_what_cannot_be_compared_its_times(console: OpenConsole) -> None:
    gone = CommandFailed(ErrorKind.NOT_FOUND, "repo-summary has no g41; kept: g42")
    refused = {"rejections": [{"diagnostics": [{"rendered": "EVA-204 unknown key"}], "difference": [], "diff": ""}]}
    answers = {"capability.diff": gone, "capability.explain_rejected": refused}
    async with console(answers=answers, view=View.RELOADS, size=(80, 24)) as it:
        it.app.pane.rows.move_to_end(last=False)
        await it.press("j", "j", "v")
        assert "EVA-204 unknown key" in it.screen
        await it.press("escape", "G", "k", "v")
        assert "published" in it.dialog.query_one(".body").lines[0][0][0] + it.screen
        await it.press("escape")
        assert "has no g41" in it.status
