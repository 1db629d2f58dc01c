"""The prompt ``context``: what agents are told of skills, for those clients that the policy lets ask for it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack
from typing import Any

import pytest

from tests.mcp.house import ERAS, FILES, POLICY, TOKENS, House, housed, policy
from tests.support.waiting import until
from tests.support.workspaces import save

SKILL = "skills/always/SKILL.md"
TEXT = "---\nname: always\ndescription: Of <use>.\nalways: true\n---\n{}\n"
ANN = policy(TOKENS).replace('tools: ["*"]}', 'tools: ["*"], prompts: ["con*"]}')
OPEN = ANN.replace("mcp_server:\n", "mcp_server:\n  prompts: [context]\n")


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    root = tmp_path_factory.mktemp("prompts") / "ws"
    with housed(root, {**FILES, POLICY: OPEN, SKILL: TEXT.format("Be kind.")}) as house:
        yield house


def prompts(house: House, who: str) -> list[str]:
    found = house.ask("prompts/list", token=TOKENS[who]).json["result"]["prompts"]
    return [one["name"] for one in found]


@pytest.mark.parametrize("era", ERAS)
async def test_a_client_is_given_what_a_system_prompt_gets(house: House, era: str) -> None:
    async with house.client(era) as client:
        (prompt,) = (await client.list_prompts()).prompts
        found = await client.get_prompt(prompt.name)
        assert (prompt.name, prompt.title, found.description) == (
            "context",
            "Skills of this workspace",
            prompt.description,
        )
        (message,) = found.messages
        assert message.content.text == house.asked("skill.context")["text"]
        assert "<description>Of &lt;use&gt;.</description>" in message.content.text
        assert "Be kind." in message.content.text
        save(house.root, SKILL, TEXT.format("Be brief."))
        assert "Be brief." in (await client.get_prompt("context")).messages[0].content.text
        save(house.root, SKILL, TEXT.format("Be kind."))


@pytest.mark.parametrize("era", ERAS)
async def test_a_client_hears_that_prompts_changed_where_it_may_ask_for_any(house: House, era: str) -> None:
    told = {name: asyncio.Event() for name in ("ann", "bob")}
    following: list[asyncio.Task[None]] = []

    async def follow(name: str, changes: AsyncIterator[Any]) -> None:
        async for _ in changes:
            told[name].set()

    def hearing(name: str) -> Callable[[Any], Awaitable[None]]:
        async def hear(message: Any) -> None:
            if type(getattr(message, "root", message)).__name__ == "PromptListChangedNotification":
                told[name].set()

        return hear

    async with AsyncExitStack() as stack:
        for name in told:
            client = await stack.enter_async_context(house.client(era, TOKENS[name], message_handler=hearing(name)))
            if era != "legacy":
                changes = await stack.enter_async_context(client.listen(prompts_list_changed=True))
                following.append(asyncio.create_task(follow(name, changes)))
            await client.list_tools()
        save(house.root, SKILL, TEXT.format("Be bold."))
        await until(told["ann"].is_set)
        assert not told["bob"].is_set()
        for task in following:
            task.cancel()
    save(house.root, SKILL, TEXT.format("Be kind."))


def test_who_may_not_ask_for_it_sees_none_and_is_told_that_there_is_none(house: House) -> None:
    assert (prompts(house, "ann"), prompts(house, "bob")) == (["context"], [])
    unknown = house.ask("prompts/get", {"name": "context"}, token=TOKENS["bob"]).error
    nothing = house.ask("prompts/get", {"name": "contexts"}).error
    assert (unknown["code"], unknown["message"]) == (-32602, "Unknown prompt: context")
    assert (nothing["code"], nothing["message"]) == (-32602, "Unknown prompt: contexts")


def test_a_prompt_takes_no_arguments(house: House) -> None:
    asked = {"name": "context", "arguments": {"of": "everything"}}
    assert house.ask("prompts/get", asked).error["code"] == -32602


def test_a_policy_that_takes_it_back_takes_it_from_the_next_request(house: House) -> None:
    save(house.root, POLICY, ANN)
    house.asked("capability.reload")
    assert prompts(house, "ann") == []
    save(house.root, POLICY, OPEN)
    house.asked("capability.reload")
    assert prompts(house, "ann") == ["context"]
