"""Whatever a name, an error or a pasted line holds: nothing crashes, and no control byte reaches the terminal."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from textual.widgets import Input

from evatui.control.adapter_rows import AdapterRow, ServerRow, ToolRow
from evatui.control.client_sessions import ClientRow
from evatui.control.extensions import Extensions, PluginRow, RefusedRow
from evatui.control.failing import CommandFailed
from evatui.control.snapshot import AuditRow, Beside, CallRow, CapabilityRow, ConsoleSnapshot, Indicator, RejectionRow
from evatui.kernel.model.call import Actor, CallerType
from evatui.kernel.model.errors import ErrorKind
from evatui.kernel.model.event import Event
from evatui.kernel.model.lifecycle import State
from tests.console.conftest import Console, OpenConsole
from tests.console.scene import calls, capability, record, refused, scene, step
from tests.console.test_devices import device
from tests.console.test_extensions import adapter, hook, plugin, skill, task
from tests.support.pilots import press, still

UNSAFE = {*range(0x20), *range(0x7F, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A)}
"""Control characters and overrides of the writing direction."""

HOSTILE = {
    "escape": "a\x1b[2Jb\x1b[31m",
    "osc52": "x\x1b]52;c;cm0gLXJm\x07y",
    "c1": "a\x9b2Jb\x9d0;title\x9c",
    "bidi": "safe\u202egnp.exe\u2066\u2069",
    "closing-tag": "[/foo]",
    "open-tag": "[/",
    "click": "[@click=app.exit]x[/]",
    "style": "[$error on red]z",
    "long": "w" * 10_000,
    "wide": "天気予報" * 40,
    "combining": "e\u0301\u0300" * 60,
    "breaks": "one\r\ntwo\nthree\tfour\x0b\x0c\x00",
    "joined": "\U0001f468\u200d\U0001f469\u200d\U0001f467 \ufe0f",
    "surrogate-free": "\ufeff\u2028\u2029\u00ad",
}


def thing(name: str, text: str, **more: Any) -> CapabilityRow:
    fields: dict[str, Any] = {
        "name": text,
        "description": text,
        "reason": text,
        "path": text,
        "script": text,
        "kind": text,
        "version": text,
        "marks": (text,),
        "capabilities": (text,),
        "beside": (Beside(what="refused", code=text, place=text), Beside(what="draining", number=text, calls=1)),
    }
    return capability(f"{name} {text}", 7, **(fields | more))


def refusal(name: str, text: str) -> RejectionRow:
    row = refused(f"{name} {text}", path=text)
    rendered = tuple(replace(item, rendered=text, message=text) for item in row.diagnostics)
    bare = tuple(replace(item, rendered="", message=text, help=text, notes=(text,)) for item in row.diagnostics)
    return replace(row, diagnostics=rendered + bare)


def entry(seq: int, text: str) -> AuditRow:
    return replace(record(seq, "14:00:00", text, error=text), actor=text, request_id=text, record={text: [text]})


def happened(seq: int, text: str) -> Event:
    payload = {
        "id": text,
        "generation": text,
        "from_generation": text,
        "reason": text,
        "diagnostics": [{"code": text, "message": text, "spans": [{"file": text, "line": 1, "column": 1}]}],
    }
    actor = Actor(CallerType.USER, text)
    return Event(seq, f"evt_{seq}", "/capability/reload_failed", "2026-05-04T14:00:00Z", actor, f"req_{text}", payload)


def flight(seq: int, text: str) -> CallRow:
    return replace(
        calls()[0],
        request_id=f"{seq} {text}",
        capability_id=text,
        generation=text,
        number=text,
        caller=text,
        host_call=text,
    )


def outside(name: str, text: str) -> AdapterRow:
    tool = ToolRow(name=text, shown=text, state=text, description=text, digest=text, why=text, diff=(text,))
    server = ServerRow(
        address=text,
        protocol=text,
        title=text,
        version=text,
        listed_at=text,
        note=text,
        waiting=1,
        digest=text,
        tools=(tool,),
    )
    return adapter(f"{name} {text}", detail=text, path=text, version=text, capabilities=(text,), server=server)


def hostile_extensions() -> Extensions:
    refusals = refusal("x", HOSTILE["escape"]).diagnostics
    return Extensions(
        skills=tuple(skill(f"{name} {text}", description=text, shadows=(text,)) for name, text in HOSTILE.items()),
        plugins=tuple(armed_plugin(name, text) for name, text in HOSTILE.items()),
        tasks=tuple(task(f"{name} {text}", tool=text, message=text) for name, text in HOSTILE.items()),
        refused=tuple(
            RefusedRow(kind=text, path=f"{name} {text}", layer=text, instead=text, diagnostics=refusals)
            for name, text in HOSTILE.items()
        ),
    )


def armed_plugin(name: str, text: str) -> PluginRow:
    """With a tool and a hook."""
    row = plugin(f"{name} {text}", description=text, detail=text, key_id=text, missing=(text,), available=False)
    tools = tuple(replace(tool, name=text, capability=text, description=text, risk=text) for tool in row.tools)
    return replace(row, tools=tools, hooks=(replace(hook("open"), event=text, command=text, tools=(text,)),))


def client(name: str, text: str) -> ClientRow:
    return ClientRow(
        id=f"{name} {text}",
        principal=text,
        transport="http",
        client=text,
        protocol=text,
        since=text,
        last_seen=text,
        last_call=text,
    )


def hostile_scene() -> ConsoleSnapshot:
    everything = " ".join(text[:60] for text in HOSTILE.values())
    return scene(
        capabilities=tuple(thing(name, text) for name, text in HOSTILE.items()),
        rejections=tuple(refusal(name, text) for name, text in HOSTILE.items()),
        transitions=(replace(step(1, "14:02:11", everything, 7, None, State.PENDING, everything), reason=everything),),
        events=tuple(happened(seq, text) for seq, text in enumerate(HOSTILE.values(), 1)),
        calls=tuple(flight(seq, text) for seq, text in enumerate(HOSTILE.values(), 1)),
        audit=tuple(entry(seq, text) for seq, text in enumerate(HOSTILE.values(), 1)),
        adapters=tuple(outside(name, text) for name, text in HOSTILE.items()),
        extensions=hostile_extensions(),
        clients=tuple(client(name, text) for name, text in HOSTILE.items()),
        runtime=replace(scene().runtime, host=everything, workspace=everything),
        watch=Indicator(ok=False, word=HOSTILE["escape"]),
        health=Indicator(ok=False, word=HOSTILE["open-tag"]),
    )


def hostile_answers() -> dict[str, dict[str, Any]]:
    texts = list(HOSTILE.values())
    differing = [{"path": text, "from": text, "to": {text: text}} for text in texts]
    diagnostics = [{"code": text, "message": text, "rendered": text} for text in texts]
    change = {"action": "update", "diff": {"fields": differing, "files": differing}, "diagnostics": diagnostics}
    plan = {
        "plan_digest": texts[0],
        "changes": [{**change, "id": text, "from": text, "reason": text} for text in texts],
    }
    properties = {text: {"default": text} for text in texts}
    inspected = {"manifest": {text: [text, {text: text}] for text in texts}, "input_schema": {"properties": properties}}
    error = {"kind": texts[0], "message": texts[5], "details": {text: text for text in texts}}
    answered = {"response": {"ok": False, "error": error}, "request_id": texts[1]}
    lines = [["+", None, 1, text] for text in texts]
    compared = {"id": texts[0], "from": texts[1], "to": texts[2], "fields": differing}
    compared |= {"lines": [{"path": text, "change": "changed", "lines": lines} for text in texts]}
    said = {"at": "2026-05-04T14:00:00Z", "direction": "rx"}
    heard = [{**said, "size": len(text), "hex": text.encode().hex()[:400]} for text in texts]
    devices = {"devices": [device(text, state=text, reason=text, fix=text, name=text, owner=text) for text in texts]}
    return {
        "capability.plan": plan,
        "capability.inspect": inspected,
        "capability.call": answered,
        "capability.diff": compared,
        "capability.explain_rejected": {"rejections": [{"diagnostics": diagnostics, "diff": "\n".join(texts)}]},
        "hardware.list": devices,
        "hardware.monitor": {"seq": 1, "dropped": 0, "heard": heard},
    }


def assert_clean(it: Console) -> None:
    for strip in it.strips():
        for sign in strip:
            assert ord(sign) not in UNSAFE, f"{sign!r} in {strip!r}"


async def test_no_row_and_no_detail_lets_it_through(console: OpenConsole) -> None:
    async with console(hostile_scene(), size=(120, 36), answers=hostile_answers()) as it:
        for view in "1234567":
            await it.press(view, "g")
            assert_clean(it)
            for _ in HOSTILE if view in "13" else range(2):
                await press(it.pilot, "j")
                assert_clean(it)
        kinds = {row.key.split()[0]: row.key for row in it.app.pane.rows.shown}
        assert kinds.keys() == {"refused", "task", "adapter", "client", "plugin", "skill"}
        for key in kinds.values():
            it.app.pane.rows.move_to(key)
            await still(it.pilot)
            assert_clean(it)


async def test_no_dialog_lets_it_through(console: OpenConsole) -> None:
    async with console(hostile_scene(), size=(80, 24), answers=hostile_answers()) as it:
        for keys in (
            ("1", "r"),
            ("R",),
            ("x",),
            ("a",),
            ("d",),
            ("enter",),
            ("c", "ctrl+s"),
            ("2", "enter"),
            ("3", "enter"),
            ("2", "v"),
            ("4", "enter", "tab", "tab", "tab", "tab"),
            ("5", "enter"),
            ("7", "enter"),
            ("6", "enter"),
        ):
            await it.press(*keys)
            assert_clean(it)
            if it.open_dialogs:
                await it.press("G")
                assert_clean(it)
                await it.press("escape")
                assert it.open_dialogs == 0


async def test_what_is_pasted_or_fails_is_as_harmless(console: OpenConsole) -> None:
    async with console() as it:
        for text in HOSTILE.values():
            it.operator.answers["capability.plan"] = CommandFailed(ErrorKind.INTERNAL, text, suggestion=text)
            await it.press("r")
            assert_clean(it)
        await it.press("c")
        it.dialog.query_one("#json").load_text("\n".join(HOSTILE.values()))  # type: ignore[attr-defined]
        await it.settle()
        assert_clean(it)
        await it.press("escape", "slash")
        for text in HOSTILE.values():
            it.app.frame.prompt.insert_text_at_cursor(text)
            await still(it.pilot)
            assert_clean(it)


async def test_what_is_searched_typed_or_logged_is_as_harmless(console: OpenConsole) -> None:
    answers = hostile_answers() | {"why": {"id": HOSTILE["escape"], "lines": list(HOSTILE.values())}}
    async with console(hostile_scene(), size=(80, 24), answers=answers) as it:
        await it.press("c", "ctrl+s", "escape", "at")  # what was called here, and what others ordered
        assert_clean(it)
        for _ in HOSTILE:
            await press(it.pilot, "j")
            assert_clean(it)
        await it.press("escape")
        for opener in ("ctrl+p", "question_mark", "colon"):
            await it.press(opener)
            typed = it.app.focused
            assert isinstance(typed, Input)
            for text in HOSTILE.values():
                typed.value = ""
                typed.insert_text_at_cursor(text)
                await still(it.pilot)
                assert_clean(it)
            await it.press("tab")
            assert_clean(it)
            await it.press("escape")
        await it.press("w")
        assert_clean(it)
