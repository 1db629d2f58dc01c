"""A repair that needs no thought: shown as it would be written, and written only into what was shown."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from evatui.console.view.actions import View
from evatui.console.view.ink import plain
from evatui.console.view.mending import edits_of, mended, repair_lines
from evatui.control.snapshot import ConsoleSnapshot
from evatui.kernel.model.diagnostic import Edit, Span
from tests.console.conftest import OpenConsole
from tests.console.scene import refused, scene

FILE = "capabilities/weather-radar.yaml"
TEXT = "id: weather-radar\nlimits:\n  timeout_s: 5\n"


def edit(line: int, column: int, end: int, replacement: str, *, end_line: int | None = None) -> Edit:
    return Edit(Span(FILE, line, column, end_line or line, end), replacement)


def with_edits(*edits: Edit) -> ConsoleSnapshot:
    row = refused()
    found = replace(row.diagnostics[0], edits=edits)
    return scene(rejections=(replace(row, diagnostics=(found, found)),))


def test_what_the_edits_make_of_a_text() -> None:
    assert mended(TEXT, [edit(3, 3, 12, "timeout_ms"), edit(3, 14, 15, "5000")]) == TEXT.replace(
        "timeout_s: 5", "timeout_ms: 5000"
    )
    assert mended("\ufeffid: a\r\nx: y\r\n", [edit(2, 4, 5, '"y"')]) == '\ufeffid: a\r\nx: "y"\r\n'
    assert mended("ä: 天\n", [edit(1, 4, 5, "日")]) == "ä: 日\n"


def test_what_has_no_place_in_it_changes_nothing() -> None:
    assert mended(TEXT, [edit(9, 1, 2, "x")]) is None
    assert mended(TEXT, [edit(3, 3, 12, "a"), edit(3, 5, 14, "b")]) is None
    assert mended("", [edit(1, 5, 9, "x")]) is None


def test_the_same_edit_of_two_diagnostics_is_made_once() -> None:
    row = with_edits(edit(3, 3, 12, "timeout_ms")).rejections[0]
    assert {file: len(found) for file, found in edits_of(row.diagnostics).items()} == {FILE: 1}


def test_the_repair_is_shown_line_by_line() -> None:
    after = TEXT.replace("timeout_s: 5", "timeout_ms: 5000")
    lines = [plain(row).rstrip() for row in repair_lines({FILE: TEXT}, {FILE: after}, 80)]
    assert lines[0] == FILE
    assert "    3 −   timeout_s: 5" in lines
    assert "    3 +   timeout_ms: 5000" in lines


async def test_it_is_shown_then_written_in_one_step_into_what_was_shown(console: OpenConsole, tmp_path: Path) -> None:
    root = tmp_path / "ws"
    file = root / FILE
    file.parent.mkdir(parents=True)
    file.write_text(TEXT)
    file.chmod(0o640)
    async with console(with_edits(edit(3, 3, 12, "timeout_ms")), view=View.REJECTED) as it:
        it.app.workspace = root
        assert "shows the repair" in it.screen
        await it.press("F")
        assert "timeout_ms: 5" in it.screen
        assert file.read_text() == TEXT
        await it.armed()
        await it.press("enter")
        assert file.read_text() == TEXT.replace("timeout_s", "timeout_ms")
        assert file.stat().st_mode & 0o777 == 0o640
        assert "mended capabilities/weather-radar.yaml" in it.status
        assert [path.name for path in file.parent.iterdir()] == [file.name]
        file.write_text(TEXT)
        await it.press("F")
        await it.armed()
        file.write_text("id: other\n")
        await it.press("enter")
        assert file.read_text() == "id: other\n"
        assert "changed since you looked" in it.status
        await it.press("F")
        assert it.open_dialogs == 0
        assert "another one by now" in it.status
        file.unlink()
        (tmp_path / "secret").write_text(TEXT)
        file.symlink_to(tmp_path / "secret")  # out of the workspace
        await it.press("F")
        assert it.open_dialogs == 0
        assert (tmp_path / "secret").read_text() == TEXT


async def test_where_a_repair_needs_thought_the_editor_is_named(console: OpenConsole) -> None:
    async with console(view=View.REJECTED) as it:
        await it.press("F")
        assert "needs thought; e opens the editor" in it.status
