"""Adapters, MCP servers and skills: what each may do now, and why not."""

from __future__ import annotations

from typing import Any

from evatui.console.view.actions import View
from evatui.console.view.editor import place_of
from evatui.console.view.extensions import extension_preview, extension_rows, extensions_in
from evatui.console.view.ink import plain
from evatui.control.adapter_rows import AdapterRow, ServerRow, ToolRow
from evatui.control.client_sessions import ClientRow
from evatui.control.extensions import (
    Extensions,
    PluginHookRow,
    PluginRow,
    PluginTaskRow,
    PluginToolRow,
    RefusedRow,
    SkillRow,
)
from evatui.control.snapshot import ConsoleSnapshot
from evatui.kernel.model.diagnostic import Diagnostic, Reason, Span
from tests.console.conftest import OpenConsole
from tests.console.scene import at, scene


def skill(name: str, **more: Any) -> SkillRow:
    fields: dict[str, Any] = {
        "description": "Work with PDF files", "version": "1.0.0", "kind": "workflow_skill", "available": True,
        "reason": "", "missing": (), "layer": "skills", "location": f"skills/{name}/SKILL.md", "always": False,
        "tools": False, "shadows": (), "diagnostics": (),
    }  # fmt: skip
    return SkillRow(name=name, **(fields | more))


def plugin(name: str, **more: Any) -> PluginRow:
    tool = PluginToolRow(
        name="run", capability=f"plugin.{name}.run", description="Runs", risk="high", by_hand=True, background=True
    )
    fields: dict[str, Any] = {
        "description": "Makes slides", "version": "2.0.0", "kind": "tool", "signed": "signed", "key_id": "k1",
        "state": "up", "detail": "", "available": True, "reason": "", "missing": (), "layer": "plugins",
        "location": f"plugins/{name}", "digest": "d1", "tools": (tool,), "hooks": (), "servers": 0, "network": True,
        "stale": False, "shadows": (), "diagnostics": (),
    }  # fmt: skip
    return PluginRow(name=name, **(fields | more))


def hook(state: str) -> PluginHookRow:
    return PluginHookRow(event="before_tool_call", command="./check", tools=("text.*",), state=state, failures=3)


def task(handle: str, **more: Any) -> PluginTaskRow:
    fields: dict[str, Any] = {
        "plugin": "slides", "version": "2.0.0", "tool": "run", "state": "running", "fraction": 0.43,
        "message": "page 3", "began": "2026-01-31T10:00:00Z", "ended": "", "error": "",
    }  # fmt: skip
    return PluginTaskRow(handle=handle, **(fields | more))


def adapter(id: str, **more: Any) -> AdapterRow:
    fields: dict[str, Any] = {
        "name": id, "version": "1.0.0", "transport": "mcp", "path": f"capabilities/adapters/{id}.yaml", "state": "up",
        "detail": "", "capabilities": ("mcp.tool.call",), "priority": 50, "side_effects": "mutating",
    }  # fmt: skip
    return AdapterRow(id=id, **(fields | more))


def known() -> ConsoleSnapshot:
    tool = ToolRow(
        name="read", shown="read", state="changed", description="", digest="d", why="it differs", diff=("+a",)
    )
    server = ServerRow(
        address="npx files", protocol="2025-06-18", title="files", version="2", listed_at="", note="", waiting=1,
        digest="ab12", tools=(tool,),
    )  # fmt: skip
    path = "skills/broken/SKILL.md"
    found = Diagnostic("EVA-802", Reason.MANIFEST_INVALID, "there is no front matter", (Span(path, 3, 1),))
    return scene(
        adapters=(
            adapter("files", server=server, in_flight=2),
            adapter("echo", transport="stdio", state="held", detail="EVA-707 not trusted", waits_for="trust"),
        ),
        extensions=Extensions(
            skills=(
                skill("pdf", shadows=("bundled-app-skills/pdf/SKILL.md",)),
                skill("ocr", available=False, reason="missing", missing=("tesseract",)),
            ),
            refused=(RefusedRow(kind="skill", path=path, layer="skills", instead="", diagnostics=(found,)),),
        ),
    )


def test_each_says_what_it_is_and_why_it_cannot_be_used() -> None:
    rows = {row.key: [plain(cell) for cell in row.cells] for row in extension_rows(extensions_in(known()))}
    assert rows["refused skills/broken/SKILL.md"][5] == "EVA-802 there is no front matter"
    assert rows["adapter files"] == ["● up", "mcp", "files", "1.0.0", "", "1 of 1 tools wait for approval", "2"]
    assert rows["adapter echo"][0] == "◌ held"
    assert rows["skill pdf"][5] == "shadows bundled-app-skills/pdf/SKILL.md"
    assert rows["skill ocr"][:1] + rows["skill ocr"][5:6] == ["⊘ not now", "missing: tesseract"]


def test_plugins_say_who_signed_them_and_what_keeps_them_from_running() -> None:
    snapshot = scene(
        adapters=(adapter("plugin.slides", transport="plugin"),),
        extensions=Extensions(
            plugins=(
                plugin("slides"),
                plugin("bare", signed="unsigned", state="held", detail="EVA-707 not trusted"),
                plugin("lacks", available=False, reason="missing", missing=("binary 'ffmpeg' not found on PATH",)),
                plugin("deaf", hooks=(hook("armed"), hook("disabled"))),
                plugin("old", stale=True, shadows=("<builtin>/old",)),
            ),
            refused=(RefusedRow(kind="plugin", path="plugins/torn", layer="plugins", instead="", diagnostics=()),),
            tasks=(
                task("t-1"),
                task("t-2", fraction=None, message=""),
                task("t-3", state="failed", error="it broke", ended="2026-01-31T10:01:00Z"),
            ),
        ),
    )
    rows = {row.key: [plain(cell).rstrip() for cell in row.cells] for row in extension_rows(extensions_in(snapshot))}
    assert list(rows) == [
        "refused plugins/torn", "task t-1", "task t-2", "task t-3",
        "plugin slides", "plugin bare", "plugin lacks", "plugin deaf", "plugin old",
    ]  # fmt: skip
    assert rows["plugin slides"][:6] == ["● up", "plugin", "slides", "2.0.0", "plugins", "1 tool, signed"]
    assert (rows["plugin bare"][0], rows["plugin bare"][5]) == ("◌ held", "EVA-707 not trusted")
    assert rows["plugin lacks"][0::5] == ["⊘ not now", "binary 'ffmpeg' not found on PATH"]
    assert rows["plugin deaf"][5] == "disabled after three failures: before_tool_call"
    deaf = [plain(part) for part in extension_preview(snapshot.extensions.plugins[3], 100)]
    assert "  disabled    before_tool_call  ./check  for text.*" in deaf
    assert rows["plugin old"][5].startswith("goes on as it was")
    assert rows["task t-1"][:3] == ["◐ running", "task", "slides.run"]
    assert rows["task t-1"][5] == "━━━━────── 43 %  page 3"
    assert rows["task t-2"][5] == "──────────  – %"
    assert rows["task t-3"][0::5] == ["✗ failed", "it broke"]
    card = "\n".join(plain(part) for part in extension_preview(snapshot.extensions.plugins[1], 100))
    assert "waits for trust (T)" in card
    assert "plugin.bare.run  background, by hand  Runs" in card
    assert place_of(snapshot.extensions.plugins[0]) == ("plugins/slides/manifest.json", 1)


def test_a_server_shows_its_tools_what_differs_and_how_to_approve_it() -> None:
    told = "\n".join(plain(part) for part in extension_preview(known().adapters[0], 100))
    assert "eva mcp approve files --digest ab12" in told
    assert "changed read  it differs" in told
    assert "\n    +a" in told
    waits = plain(extension_preview(known().adapters[1], 100)[0])
    assert waits.endswith("waits for trust (T)")


def test_the_editor_opens_at_the_mistake() -> None:
    things = extensions_in(known())
    assert place_of(things["refused skills/broken/SKILL.md"]) == ("skills/broken/SKILL.md", 3)
    assert place_of(things["adapter echo"]) == ("capabilities/adapters/echo.yaml", 1)
    assert place_of(things["skill pdf"]) == ("skills/pdf/SKILL.md", 1)


async def test_the_view_lists_them_and_says_what_is_selected(console: OpenConsole) -> None:
    async with console(known(), view=View.EXTENSIONS, size=(80, 24)) as it:
        assert len(it.app.pane.rows.shown) == 5
        assert "skills/broken/SKILL.md" in it.status
        await it.press("j", "enter")
        assert "wait for approval" in it.screen
        await it.press("escape")
        own = Extensions(skills=(skill("use", location="<builtin>/use/SKILL.md"),))
        await it.change(scene(extensions=own, at=at("14:03:00")))
        await it.press("e")
        assert "it came with evatui" in it.status


async def test_what_waits_of_a_server_is_approved_by_typing_its_id_and_just_the_list_that_was_seen(
    console: OpenConsole,
) -> None:
    answers = {"mcp.approve": {"approved": ["files__read"]}, "mcp.revoke": {"revoked": ["read"]}}
    async with console(known(), view=View.EXTENSIONS, answers=answers) as it:
        it.app.pane.rows.move_to("adapter files")
        await it.press("colon", *"tools-approve", "enter")
        assert "+a" in it.screen
        await it.armed()
        await it.press(*"files", "enter")
        assert it.operator.sent("mcp.approve") == [{"server": "files", "digest": "ab12", "typed": "files"}]
        assert "approved the tools of files" in it.status
        assert "eva mcp approve files --digest ab12" in it.status
        await it.press("colon", *"tools-revoke", "enter")
        await it.armed()
        await it.press("enter")
        assert it.operator.sent("mcp.revoke") == [{"server": "files"}]
        it.app.pane.rows.move_to("adapter echo")
        await it.press("colon", *"tools-approve", "enter")
        assert "select an MCP server that serves" in it.status


def test_who_is_connected_as_a_client_is_listed_with_the_last_call() -> None:
    client = ClientRow(
        id="s1", principal="ann", transport="http", client="editor 1.0", protocol="2025-11-25", since="", last_seen="",
        calls=2, last_call="project_summary", last_call_at="now",
    )  # fmt: skip
    [row] = extension_rows(extensions_in(scene(clients=(client,))))
    assert [plain(cell) for cell in row.cells][:3] == ["● connected", "client", "ann"]
    assert "last project_summary" in plain(row.cells[5])
    assert any("project_summary at now" in plain(told) for told in extension_preview(client, 100))


async def test_a_skill_opens_with_the_text_that_an_agent_reads(console: OpenConsole) -> None:
    answers = {"skill.show": {"body": "Look closely.\n\x1b[31mred"}}
    async with console(known(), view=View.EXTENSIONS, answers=answers) as it:
        it.app.pane.rows.move_to("skill pdf")
        await it.press("enter")
        assert it.operator.sent("skill.show") == [{"name": "pdf"}]
        assert "Look closely." in it.screen
        assert "eva skill show pdf" in it.screen
        assert "bundled-app-skills/pdf/SKILL.md" in it.screen
        assert "\x1b" not in it.screen


async def test_a_task_is_ended_by_y_and_one_that_has_ended_is_not(console: OpenConsole) -> None:
    tasks = (task("t-1"), task("t-2", tool="walk"), task("t-3", state="done", ended="2026-01-31T10:01:00Z"))
    answers = {"call.cancel": {"what": "t-1", "cancelled": []}}
    async with console(scene(extensions=Extensions(tasks=tasks)), view=View.EXTENSIONS, answers=answers) as it:
        it.app.pane.rows.move_to("task t-3")
        await it.press("x")
        assert "it has ended" in it.status
        it.app.pane.rows.move_to("task t-1")
        await it.press("x")
        assert "Cancel slides.run in the background?" in it.screen
        assert "eva cancel t-1" in it.screen
        await it.armed()
        await it.press("enter")
        assert it.operator.sent("call.cancel") == []
        await it.press("x")
        await it.armed()
        await it.press("y")
        assert it.operator.sent("call.cancel") == [{"what": "t-1"}]
        await it.press("asterisk", "x")
        assert "Cancel 2 marked tasks?" in it.screen
        await it.armed()
        await it.press("y")
        assert [one["what"] for one in it.operator.sent("call.cancel")] == ["t-1", "t-1", "t-2"]
        assert "cancelled 2 tasks" in it.status
