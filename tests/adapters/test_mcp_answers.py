"""What an MCP server says that nobody asked, and what it says in the place of an answer."""

from __future__ import annotations

from pathlib import Path

from tests.adapters.ground import Start, error
from tests.adapters.mcp_ground import ADD, mcp, serving_tools, tool
from tests.adapters.test_mcp import approve, call_tool, tools, up
from tests.support.waiting import until
from tests.support.workspaces import write

_FLOOD = """
def call(name, arguments):
    line = json.dumps({"jsonrpc": "2.0", "id": 7, "method": "sampling/createMessage", "params": {}}) + "\\n"
    while True:
        sys.stdout.write(line * 100)
        sys.stdout.flush()
"""


async def test_who_asks_and_asks_and_reads_no_answer_is_down(start: Start, workspace: Path, tmp_path: Path) -> None:
    write(workspace, mcp(tmp_path, serving_tools(ADD, more=_FLOOD)))
    runtime = await start()
    await up(runtime)
    await approve(runtime)
    kind, message = error(await call_tool(runtime))
    assert (kind, "asked more than 64 things and took no answer" in message) == ("OutputTooLarge", True), message


async def test_news_of_the_same_list_are_none(start: Start, workspace: Path, tmp_path: Path) -> None:
    more = """
pages = 0
def tools():
    global pages
    pages += 1
    if pages < 4:
        say({"method": "notifications/tools/list_changed"})
    return {"tools": TOOLS if pages < 4 else []}
"""
    write(workspace, mcp(tmp_path, serving_tools(ADD, more=more)))
    runtime = await start()
    await up(runtime)
    await until(lambda: not tools(runtime))
    told = [event.payload["tools"] for event in runtime.bus.since(0)[0] if event.topic == "/mcp/tools_changed"]
    assert told == [1, 0]


_RAW = """
def call(name, arguments):
    return arguments["result"]

def say(message):
    line = json.dumps({"jsonrpc": "2.0", **message})
    if isinstance(message.get("result"), str):
        line = line.replace(json.dumps(message["result"]), message["result"])
    sys.stdout.write(line + chr(10))
    sys.stdout.flush()
"""


async def test_what_is_no_answer_ends_its_call_at_once(start: Start, workspace: Path, tmp_path: Path) -> None:
    raw = serving_tools(tool("raw"), more=_RAW)
    write(workspace, mcp(tmp_path, raw, breaker="{failures: 1000}"))
    runtime = await start()
    await up(runtime)
    await approve(runtime)
    number = '{"content": [], "structuredContent": {"x": %s}}'
    for result, said in [
        ("[]", "what the protocol does not allow"),
        ("null", "what the protocol does not allow"),
        ('{"content": "x"}', "what the protocol does not allow"),
        ('{"resultType": "input_required", "inputRequests": {}}', "what the protocol does not allow"),
        (number % "NaN", "a number that is not finite"),
        (number % "1e999", "a number that is not finite"),
        (number % str(2**70), "is not JSON"),
    ]:
        found = error(await call_tool(runtime, {"tool": "raw", "arguments": {"result": result}}))
        assert (found[0], said in found[1]) == ("InvalidResponse", True), (result, found)
