"""What clients see of what serves: by the policy, by their name in it, and by what their tools are called."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.cli.real import Eva, holding
from tests.mcp.house import ECHO, POLICY, handler
from tests.support.workspaces import save, write


def tool(id: str, name: str, **manifest: str) -> dict[str, str]:
    lines = "".join(f"{key}: {value}\n" for key, value in {"input_schema": "{}", **manifest}.items())
    return {
        f"capabilities/{id}.yaml": f"id: {id}\nkind: lua_tool\nversion: 1.0.0\ncapabilities: [{name}]\n"
        f"lua: {{script: capabilities/tools/{id}.lua}}\noutput_schema: {{}}\n{lines}",
        f"capabilities/tools/{id}.lua": ECHO,
    }


@pytest.fixture
def eva(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Eva:
    return Eva(tmp_path / "ws", capsys)


def server(eva: Eva, policy: str, *files: Mapping[str, str]) -> Any:
    """What ``eva mcp list`` says of the server of a workspace with these files."""
    for each in files:
        write(eva.root, each)
    write(eva.root, {POLICY: policy})
    return eva.data("mcp", "list")["server"]


def allow(tools: str, capabilities: str = "[]", deny: str = "[]") -> str:
    return f"version: 1\nmcp_server:\n  tools: {{allow: {tools}, deny: {deny}}}\n  capabilities: {capabilities}\n"


def names(found: Any) -> list[str]:
    return [one["name"] for one in found["tools"]]


def test_nothing_is_exposed_that_the_policy_does_not_name(eva: Eva) -> None:
    files = (handler("one", ECHO), tool("two", "plain.two"))
    assert names(server(eva, "version: 1\n", *files)) == []
    assert names(server(eva, allow('["*"]'))) == ["test_one"]
    assert names(server(eva, allow("[]", '["plain.*"]'))) == ["plain_two"]
    assert names(server(eva, allow('["*"]', '["*"]'))) == ["plain_two", "test_one"]


def test_deny_beats_allow_in_whatever_case(eva: Eva) -> None:
    files = (handler("one", ECHO), tool("two", "plain.two"))
    assert names(server(eva, allow('["*"]', '["*"]', '["TEST.*"]'), *files)) == ["plain_two"]
    assert names(server(eva, allow('["*"]', '["*"]', '["*"]'))) == []


def test_a_handler_is_no_ordinary_capability_unless_it_says_so(eva: Eva) -> None:
    own = handler("one", ECHO, capabilities="[plain.one]")
    open_to_all = handler("two", ECHO, capabilities="[plain.two]", expose_as_capability="true")
    found = server(eva, allow('["test.one"]', '["plain.*"]'), own, open_to_all)
    assert names(found) == ["test_one"]
    assert eva.json("capability", "call", "plain.one", code=2)["error"]["kind"] == "NotFound"
    assert eva.data("capability", "call", "plain.two")["capability_id"] == "two"


def test_a_capability_that_clients_cannot_call_is_listed_with_the_reason(eva: Eva) -> None:
    files = (
        tool("long", "a." + "x" * 70),
        tool("nine", "9.a"),
    )
    found = server(eva, allow("[]", '["*"]'), *files)
    assert names(found) == []
    assert [(one["id"], one["why"][:20]) for one in found["hidden"]] == [
        ("nine", "9_a is no name that "),
        ("long", "a_xxxxxxxxxxxxxxxxxx"),
    ]


def test_a_handler_comes_before_a_capability_of_its_name(eva: Eva) -> None:
    found = server(eva, allow('["*"]', '["*"]'), handler("one", ECHO), tool("two", "test-one"))
    assert [(one["name"], one["provider"]) for one in found["tools"]] == [("test_one", "one")]
    assert [(one["id"], one["why"]) for one in found["hidden"]] == [
        ("two", "the exposed name test-one is taken by one")
    ]


@pytest.mark.parametrize(
    ("spec", "at"),
    [(", exposed_name: 9lives", "9lives"), (f", exposed_name: {'x' * 65}", "x" * 65), (", exposed_name: a.b", "a.b")],
)
def test_a_name_that_not_every_client_takes_is_refused(eva: Eva, spec: str, at: str) -> None:
    write(eva.root, handler("one", ECHO, spec=spec))
    found = eva.data("capability", "explain-rejected", "one")["rejections"][0]["diagnostics"][0]
    assert (found["code"], found["reason"]) == ("EVA-752", "manifest_invalid")
    assert at in found["rendered"]


@pytest.fixture
def held(eva: Eva) -> Iterator[Eva]:
    write(eva.root, {POLICY: allow('["*"]'), **handler("one", ECHO)})
    with holding(eva.root):
        yield eva


def test_of_two_handlers_of_one_name_the_one_that_serves_stays(held: Eva) -> None:
    write(held.root, handler("two", ECHO, spec=", exposed_name: Test-One"))
    found = held.json("capability", "reload", code=2)["error"]
    assert found["kind"] == "InvalidInput"
    [refused] = held.data("capability", "explain-rejected")["rejections"]
    told = refused["diagnostics"][0]
    assert (refused["id"], told["code"], told["reason"]) == ("two", "EVA-751", "exposed_name_taken")
    assert "capabilities/one.yaml is active and stays" in told["message"]
    assert "exposed_name: Test-One" in told["rendered"]
    assert names(held.data("mcp", "list")["server"]) == ["test_one"]
    save(held.root, "capabilities/two.yaml", handler("two", ECHO)["capabilities/two.yaml"])
    held.text("capability", "reload")
    assert names(held.data("mcp", "list")["server"]) == ["test_one", "test_two"]


def test_at_a_cold_start_neither_of_two_handlers_of_one_name_loads(eva: Eva) -> None:
    files = (handler("one", ECHO), handler("two", ECHO, spec=", exposed_name: test_one"))
    assert names(server(eva, allow('["*"]'), *files)) == []
    assert [one["id"] for one in eva.data("capability", "explain-rejected")["rejections"]] == ["one", "two"]
