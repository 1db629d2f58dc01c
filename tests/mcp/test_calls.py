"""A call over MCP: what goes in, what comes back, and what does not."""

from __future__ import annotations

from typing import Any

import pytest

from tests.mcp.house import ERAS, TOKENS, House
from tests.support.waiting import until


def called(house: House, name: str, arguments: dict[str, Any] | None = None, **how: Any) -> dict[str, Any]:
    given = {"name": name} if arguments is None else {"name": name, "arguments": arguments}
    result: dict[str, Any] = house.ask("tools/call", given, **how).json["result"]
    return result


def text(result: dict[str, Any]) -> str:
    [block] = result["content"]
    assert (result["isError"], "structuredContent" in result) == (True, False)
    return str(block["text"])


def test_a_result_is_structured_and_text(house: House) -> None:
    result = called(house, "test_typed", {"gives": [1, 2]})
    assert (result["structuredContent"], result["content"][0]["text"], result["isError"]) == ([1, 2], "[1,2]", False)
    assert result["_meta"]["evatui/generation"].startswith("typed@1.0.0+build.")


async def test_before_2026_only_objects_are_structured(house: House) -> None:
    async with house.client("legacy") as client:
        listed = {tool.name: tool for tool in (await client.list_tools()).tools}
        result = await client.call_tool("test_typed", {"gives": [1]})
        assert (result.structured_content, result.content[0].text) == (None, "[1]")
        assert listed["test_typed"].output_schema is None
        assert (await client.call_tool("test_echo", {"a": 1})).structured_content["payload"] == {"a": 1}


def test_a_handler_may_show_something_else_than_its_result(house: House) -> None:
    picture = {"type": "image", "mimeType": "image/png", "data": "aGk="}
    result = called(house, "test_shows", {"content": [picture, {"type": "text", "text": "hi"}]})
    assert [block["type"] for block in result["content"]] == ["image", "text"]
    assert (result["content"][0]["data"], result["structuredContent"]) == ("aGk=", {})


@pytest.mark.parametrize("content", ["text", [1], [{"type": "image"}], [{"type": "nothing"}]])
def test_what_is_no_content_is_not_shown(house: House, content: Any) -> None:
    told = text(called(house, "test_shows", {"content": content}))
    assert told == "InvalidResponse: meta.mcp_content of the tool is no content as MCP has it"


def test_a_tool_needs_no_arguments(house: House) -> None:
    assert called(house, "test_echo")["structuredContent"]["payload"] == {}


def test_what_a_handler_hears_of_its_caller_is_a_name(house: House) -> None:
    heard = called(house, "test_echo", {}, headers={"X-Secret": "s3cret"})["structuredContent"]
    assert heard["context"]["caller"] == {"type": "mcp", "id": "ann"}
    assert heard["context"]["user"] == "ann"
    assert (heard["capability"], heard["provider"]) == ("test.echo", "echo")
    for secret in (TOKENS["ann"], "s3cret", "Bearer", "authorization"):
        assert secret not in str(heard)


def test_bad_arguments_are_an_error_of_the_tool_that_says_where(house: House) -> None:
    told = text(called(house, "test_typed", {"more": 1}))
    assert told.startswith("InvalidInput: the payload does not fit input_schema")
    assert "gives" in told
    assert "more" in told


def test_a_tool_that_is_not_there_and_one_that_is_not_for_this_client_look_alike(house: House) -> None:
    for name, token in (("no_such", TOKENS["ann"]), ("test_typed", TOKENS["bob"]), ("plain_hidden", TOKENS["ann"])):
        answer = house.ask("tools/call", {"name": name, "arguments": {}}, token=token)
        assert (answer.error["code"], answer.error["message"]) == (-32602, f"Unknown tool: {name}")
        assert "data" not in answer.error
    assert house.ask("tools/call", {"name": "test.echo"}).error["code"] == -32602  # only by its exposed name


def test_what_is_thrown_is_for_the_audit_log(house: House) -> None:
    result = called(house, "test_throws", {"path": "/etc/x"})
    request_id = result["_meta"]["evatui/requestId"]
    assert text(result) == f"HandlerError: the tool failed; the audit log has the reason under {request_id}"


@pytest.mark.parametrize("kind", ["NotFound", "InvalidInput", "MyOwn"])
def test_what_a_handler_declares_is_for_the_client(house: House, kind: str) -> None:
    assert text(called(house, "test_declares", {"kind": kind})).endswith(": no such thing: x")


@pytest.mark.parametrize("kind", ["HostError", "Internal"])
def test_a_failure_that_is_nobodys_word_is_not(house: House, kind: str) -> None:
    assert "no such thing" not in text(called(house, "test_declares", {"kind": kind}))


def test_a_result_that_breaks_its_schema_is_none(house: House) -> None:
    assert text(called(house, "test_typed", {"gives": ["x"]})).startswith("InvalidOutput: the tool failed")


def test_a_result_has_a_limit(house: House) -> None:
    assert text(called(house, "test_typed", {"gives": [1] * 5000})).startswith("OutputTooLarge: ")


def test_a_call_has_a_deadline(house: House) -> None:
    told = text(called(house, "test_quick", {}))
    assert told.startswith("Timeout: ")
    assert told.endswith("Trying again may help.")


@pytest.mark.parametrize("era", ERAS)
async def test_progress_comes_in_order_and_before_the_answer(house: House, era: str) -> None:
    heard: list[tuple[float, float | None, str | None]] = []

    async def hear(done: float, total: float | None, message: str | None) -> None:
        heard.append((done, total, message))

    async with house.client(era) as client:
        await client.call_tool("test_steps", {}, progress_callback=hear)
    assert heard[-1] == (2, 2, "step 2")
    assert [done for done, _, _ in heard] == sorted({done for done, _, _ in heard})
    assert len(heard) >= 2


@pytest.mark.parametrize("era", ERAS)
async def test_a_client_that_gives_up_ends_the_call(house: House, era: str) -> None:
    async with house.client(era) as client:
        with pytest.raises(Exception, match=r"[Tt]imed out"):
            await client.call_tool("test_slow", {}, read_timeout_seconds=0.3)
        await until(lambda: house.kernel.in_flight == 0)  # it would have spun for 20 s
        assert (await client.call_tool("test_echo", {})).is_error is False
    [record] = house.asked("audit.query", capability="slow", limit=1)["records"]
    assert (record["error_kind"], record["actor"]) == ("Cancelled", {"type": "mcp", "id": "ann"})


def test_every_call_is_on_record_with_the_client(house: House) -> None:
    called(house, "test_echo", {"n": 1}, token=TOKENS["bob"])
    house.ask("tools/call", {"name": "test_typed"}, token=TOKENS["bob"])
    [denied, made] = sorted(house.asked("audit.query", actor="bob", limit=2)["records"], key=lambda one: one["code"])
    assert (made["code"], made["capability"], made["capability_id"]) == ("call.ok", "test.echo", "echo")
    assert (denied["code"], denied["capability"], denied["outcome"]) == ("call.denied", "test_typed", "denied")
    assert denied["actor"] == made["actor"] == {"type": "mcp", "id": "bob"}
