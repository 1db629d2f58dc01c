"""Servers that ask for input in mid-call: nobody is asked, and nothing goes out but what they sent themselves."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evatui.adapters.mcp_elicitation import filled_in
from evatui.kernel.model.change import ChangeClass
from evatui.kernel.registry.providers.reaching import change_class, endpoint, part_of_adapter
from tests.adapters.ground import Start
from tests.adapters.mcp_ground import adapter_of, mcp, serving_tools, tool
from tests.adapters.test_mcp import approve, call_tool, up
from tests.support.workspaces import write

FORM = {
    "type": "object",
    "properties": {"name": {"type": "string", "default": "Joe"}, "note": {"type": "string"}},
    "required": ["name"],
}
ASKS = f"""
def call(name, arguments):
    heard = []
    for params in ({{"requestedSchema": {FORM!r}}}, {{"mode": "url", "url": "https://a.test", "elicitationId": "1"}}):
        say({{"id": 99, "method": "elicitation/create", "params": {{"message": "Who?", **params}}}})
        heard.append(hear())
    return {{"content": [{{"type": "text", "text": json.dumps(heard)}}]}}
"""


@pytest.mark.parametrize(
    ("properties", "required", "content"),
    [
        ({"a": {"default": 1}, "b": {"default": ["x"]}, "c": {"type": "string"}}, ["a"], {"a": 1, "b": ["x"]}),
        ({"a": {"type": "boolean"}}, [], {}),
        ({"a": {"type": "boolean"}}, ["a"], None),
        ({"a": {"default": {"deep": 1}}, "b": {"default": [1]}, "c": 3, "d": {"default": None}}, [], {}),
        ({f"f{n}": {"default": 1} for n in range(101)}, [], None),
        ("none", [], None),
        ({}, 7, None),
    ],
)
def test_a_form_is_filled_in_with_its_own_defaults(properties: Any, required: Any, content: Any) -> None:
    assert filled_in({"properties": properties, "required": required}) == content


@pytest.mark.parametrize("answers", ["refuse", "defaults"])
async def test_a_server_that_asks(start: Start, workspace: Path, tmp_path: Path, answers: str) -> None:
    write(workspace, mcp(tmp_path, serving_tools(tool("asks"), more=ASKS), f"tools: ['*'], elicitation: {answers}"))
    runtime = await start()
    await up(runtime)
    await approve(runtime)
    report = await call_tool(runtime, {"tool": "asks"})
    heard = json.loads(report.response.result["content"][0]["text"])
    asked = [event.payload for event in runtime.bus.since(0)[0] if event.topic == "/mcp/asked"]
    if answers == "refuse":
        assert [one["error"]["message"] for one in heard] == ["Elicitation not supported"] * 2
        assert asked == []
    else:
        accepted, declined = (one["result"] for one in heard)
        assert (accepted["action"], accepted["content"], declined["action"]) == ("accept", {"name": "Joe"}, "decline")
        assert [(one["message"], one["answer"]) for one in asked] == [("Who?", "accept"), ("Who?", "decline")]
    [adapter] = runtime.providers.declared
    assert runtime.policy is not None
    part = part_of_adapter(adapter, runtime.policy)
    assert part is not None
    assert ("questions" in part.power) is (answers == "defaults")


def test_to_answer_at_all_is_a_matter_of_trust(tmp_path: Path) -> None:
    refuses, answers = (
        adapter_of(mcp(tmp_path, "", f"tools: ['*'], elicitation: {word}")) for word in ("refuse", "defaults")
    )
    assert (change_class(refuses, answers), change_class(answers, refuses)) == (ChangeClass.APPROVAL, ChangeClass.HOT)
    assert endpoint(refuses) == endpoint(answers)
