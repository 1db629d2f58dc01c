"""A capability is called by form: fields, JSON, what the runtime says of it, earlier calls, examples."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from evatui.console.screens.call import CallForm
from evatui.console.screens.choose import Choose
from evatui.console.screens.name import Name
from evatui.console.widgets.editor import PlainEditor
from evatui.control.failing import CommandFailed
from evatui.kernel.model.errors import ErrorKind
from tests.console.conftest import Console, OpenConsole

SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["path"],
    "properties": {
        "path": {"type": "string", "description": "where to look"},
        "depth": {"type": "integer", "default": 3},
        "deep": {"type": "boolean"},
        "note": {"type": ["string", "null"]},
        "names": {"type": "array", "items": {"type": "string"}},
    },
}
INSPECTED = {"id": "repo-summary", "input_schema": SCHEMA}
ANSWERED: dict[str, Any] = {"response": {"ok": True, "result": {"files": 120}}, "request_id": "req_0123"}
ANSWERS: dict[str, Any] = {"capability.inspect": INSPECTED, "capability.call": ANSWERED}


async def opened(it: Console) -> CallForm:
    it.app.pane.rows.move_to("repo-summary")
    await it.press("c")
    form = it.dialog
    assert isinstance(form, CallForm)
    return form


def payloads(it: Console) -> list[Any]:
    return [call["payload"] for call in it.operator.sent("capability.call")]


async def until_said(it: Console, said: str) -> None:
    async with asyncio.timeout(60):
        while said not in it.screen:
            await it.pilot.pause(0.02)


async def test_fields_make_the_payload_and_the_line_under_them_follows(console: OpenConsole) -> None:
    async with console(answers=ANSWERS) as it:
        await opened(it)
        for said in ("path", "where to look", "depth", "‹ not sent ›", '{"depth": 3}'):
            assert said in it.screen
        await it.press(*"src")
        assert '{"path": "src", "depth": 3}' in it.screen
        assert "--payload" in it.screen
        await it.press("tab", "backspace", "5", "tab", "space", "tab", "tab", *"a", "enter", *"b")
        await it.press("ctrl+s")
        assert payloads(it) == [{"path": "src", "depth": 5, "deep": True, "names": ["a", "b"]}]
        assert '"files": 120' in it.screen


async def test_absent_empty_and_null_are_told_apart(console: OpenConsole) -> None:
    async with console(answers=ANSWERS) as it:
        await opened(it)
        assert "needed" in it.screen
        await it.press("ctrl+n")
        assert 'empty: ""' in it.screen
        await it.press("tab", "tab", "tab", "ctrl+n", "ctrl+n", "tab", "ctrl+n", "ctrl+s")
        assert payloads(it) == [{"path": "", "depth": 3, "note": None, "names": []}]


async def test_what_no_number_is_made_of_is_said_at_the_field_and_not_sent(console: OpenConsole) -> None:
    async with console(answers=ANSWERS) as it:
        await opened(it)
        await it.press("tab", *"x", "ctrl+s")
        assert "✗ a whole number is wanted" in it.screen
        assert payloads(it) == []


async def test_the_runtime_judges_while_one_types_and_it_stands_at_the_field(console: OpenConsole) -> None:
    wrong = [
        {"pointer": "", "message": '"path" is a required property'},
        {"pointer": "/depth", "message": "3 is more than the maximum of 2"},
        {"pointer": "/other", "message": "is odd [/x]"},
    ]
    async with console(answers={**ANSWERS, "capability.validate": {"violations": wrong}}) as it:
        await opened(it)
        await until_said(it, "3 is more than the maximum of 2")
        assert "✗ needed" in it.screen
        assert "/other: is odd [/x]" in it.screen
        assert it.operator.sent("capability.validate")[-1] == {"id": "repo-summary", "payload": {"depth": 3}}


async def test_json_and_form_are_two_sides_of_one_payload(console: OpenConsole) -> None:
    async with console(answers=ANSWERS) as it:
        form = await opened(it)
        await it.press(*"src", "ctrl+t")
        editor = form.query_one("#json", PlainEditor)
        assert '"path": "src"' in editor.text
        editor.text = '{"path": "lib", "depth": 1}'
        await it.press("ctrl+t")
        assert not editor.display
        assert '{"path": "lib", "depth": 1}' in it.screen
        await it.press("ctrl+t")
        editor.text = '{"path": "lib", "more": 1}'
        await it.press("ctrl+t")
        assert "stays JSON: no field holds more" in it.screen
        await it.press("ctrl+s")
        assert payloads(it) == [{"path": "lib", "more": 1}]


async def test_a_schema_that_is_too_rich_says_why_and_is_json(console: OpenConsole) -> None:
    rich = {"type": "object", "required": ["a"], "properties": {"a": {"anyOf": [{"type": "string"}]}}}
    async with console(answers={**ANSWERS, "capability.inspect": {"input_schema": rich}}) as it:
        form = await opened(it)
        assert "No form: a may be one of several things (anyOf)" in it.screen
        assert form.query_one("#json", PlainEditor).has_focus
        await it.press("ctrl+t")
        assert "there is no form for it" in it.screen


async def test_the_fields_of_an_alternative_come_with_its_tag(console: OpenConsole) -> None:
    tagged = {
        "oneOf": [
            {"properties": {"kind": {"const": "file"}, "path": {"type": "string"}}},
            {"properties": {"kind": {"const": "url"}, "port": {"type": "integer", "default": 80}}},
        ]
    }
    async with console(answers={**ANSWERS, "capability.inspect": {"input_schema": tagged}}) as it:
        await opened(it)
        assert "path" in it.screen
        assert "port" not in it.screen
        await it.press("right")
        assert "port" in it.screen
        await it.press("ctrl+s")
        assert payloads(it) == [{"kind": "url", "port": 80}]


async def test_earlier_calls_come_back(console: OpenConsole) -> None:
    async with console(answers=ANSWERS) as it:
        await opened(it)
        await it.press("ctrl+r")
        assert "no call of it was made from here yet" in it.screen
        await it.press(*"one", "ctrl+s", "backspace", *"x", "ctrl+s", "ctrl+r")
        assert isinstance(it.dialog, Choose)
        await it.armed()
        await it.press("down", "enter")
        assert '{"path": "one", "depth": 3}' in it.screen
        await it.press("escape", "c")
        assert '{"path": "one", "depth": 3}' in it.screen


async def test_a_payload_is_kept_as_an_example(console: OpenConsole) -> None:
    kept = {"path": "capabilities/examples/repo-summary/first.yaml"}
    async with console(answers={**ANSWERS, "capability.keep_example": kept}) as it:
        await opened(it)
        await it.press(*"src", "ctrl+o")
        assert isinstance(await it.armed(), Name)
        await it.press(*"first", "enter")
        assert it.operator.sent("capability.keep_example") == [
            {"id": "repo-summary", "name": "first", "payload": {"path": "src", "depth": 3}}
        ]
        assert "saved capabilities/examples/repo-summary/first.yaml" in it.screen
        it.operator.answers["capability.keep_example"] = CommandFailed(ErrorKind.CONFLICT, "there is one already")
        await it.press("ctrl+o")
        await it.armed()
        await it.press(*"first", "enter")
        assert "there is one already" in it.screen


@pytest.mark.parametrize("size", [(80, 24), (120, 36)])
async def test_the_first_field_has_the_keys_and_the_answer_has_room(
    console: OpenConsole, size: tuple[int, int]
) -> None:
    async with console(answers=ANSWERS, size=size) as it:
        await opened(it)
        await it.press(*"src", "ctrl+s")
        assert "✓ ok" in it.screen
        assert "ctrl+s send" in it.screen


async def test_on_a_short_screen_an_answer_has_the_room_until_something_is_typed(console: OpenConsole) -> None:
    called = {"response": {"ok": True, "result": {f"file{n}": n for n in range(7)}}}
    async with console(answers={**ANSWERS, "capability.call": called}, size=(80, 24)) as it:
        await opened(it)
        await it.press(*"src")
        assert "--payload" in it.screen
        await it.press("ctrl+s")
        assert '"file6": 6' in it.screen
        await it.press("x")
        assert "--payload" in it.screen
