"""MCP servers that mean harm: each ends in the error that says so, none holds anything up, none takes memory."""

from __future__ import annotations

import asyncio
import json
import resource
from collections.abc import AsyncIterator, Mapping, Sequence
from ipaddress import ip_address
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evatui.adapters.mcp import McpServer
from evatui.adapters.mcp_tools import judged
from evatui.kernel.host.ports import Setting
from evatui.kernel.model.address import Address
from evatui.kernel.model.errors import CallFailed
from tests.adapters.ground import Start, error
from tests.adapters.mcp_ground import ADD, Answers, adapter_of, mcp, mcp_http, serving_tools, tool
from tests.adapters.test_mcp import approve, call_tool, tools, up
from tests.host.web import Server, answer, serving
from tests.support.waiting import until
from tests.support.workspaces import write

QUICK = "tools: ['*'], start_timeout_ms: 700"


@pytest.fixture
async def web() -> AsyncIterator[Server]:
    async with serving() as server:
        yield server


async def reason(server: McpServer) -> str:
    """Why it does not come up, as whoever asks it is told."""
    try:
        with pytest.raises(CallFailed) as caught:
            await server.probe()
    finally:
        await server.close()
    kind, message = caught.value.error.kind.value, caught.value.error.message
    assert kind == "Unavailable"
    assert message.startswith("srv is down: ")
    return message


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("hear(); sys.stdin.read()", "has not come up within 700 ms"),
        ("sys.stderr.write('no licence\\n'); sys.exit(4)", "ended with the status 4: no licence"),
        ("hear(); sys.stdout.write('x' * 3_000_000); sys.stdout.flush(); sys.stdin.read()", "a line of more than"),
        ("sys.stdout.write('hello\\n' * 300); sys.stdout.flush(); sys.stdin.read()", "lines that are no messages"),
        ("print('[' * 100_000 + ']' * 100_000); sys.stdout.flush(); sys.stdin.read()", "has not come up within"),
        (serving_tools(ADD, more='VERSION = "1999-01-01"'), "Unsupported protocol version"),
        (serving_tools(ADD, more="def tools():\n    sys.stdin.read()"), "within 700 ms"),
    ],
    ids=["silence", "dies", "huge line", "junk", "deep json", "no version", "no list"],
)
async def test_a_server_that_does_not_come_up_is_down_for_the_real_reason(tmp_path: Path, body: str, said: str) -> None:
    more = QUICK if "within" in said else "tools: ['*']"
    found = await reason(server_of(mcp(tmp_path, body, more)))
    assert said in found, found


async def test_noise_on_standard_output_is_passed_over(start: Start, workspace: Path, tmp_path: Path) -> None:
    write(workspace, mcp(tmp_path, f"print('Welcome!', flush=True)\n{serving_tools(ADD)}"))
    runtime = await start()
    await up(runtime)
    assert [*tools(runtime)] == ["add"]


async def test_a_server_of_the_oldest_protocol_is_served(start: Start, workspace: Path, tmp_path: Path) -> None:
    write(workspace, mcp(tmp_path, serving_tools(ADD, more='VERSION = "2024-11-05"')))
    runtime = await start()
    await up(runtime)
    assert runtime.tools.servers()[0]["protocol"] == "2024-11-05"


async def test_who_dies_in_a_call_ends_it_at_once_and_comes_back(start: Start, workspace: Path, tmp_path: Path) -> None:
    more = f"""
def call(name, arguments):
    if os.path.exists({str(tmp_path / "once")!r}):
        return {{"content": []}}
    open({str(tmp_path / "once")!r}, "w").close()
    sys.stderr.write("out of memory")
    sys.stderr.flush()
    os._exit(7)
"""
    write(workspace, mcp(tmp_path, serving_tools(ADD, more=more)))
    runtime = await start()
    await up(runtime)
    await approve(runtime)
    kind, message = error(await call_tool(runtime))
    assert (kind, message) == ("Unavailable", "srv is gone: python ended with the status 7: out of memory")
    await up(runtime)
    assert (await call_tool(runtime)).response.ok


async def test_a_call_that_never_ends_ends_at_its_limit(start: Start, workspace: Path, tmp_path: Path) -> None:
    more = "def call(name, arguments):\n    sys.stdin.read()"
    write(workspace, mcp(tmp_path, serving_tools(ADD, more=more), "tools: ['*'], call_timeout_ms: 300"))
    runtime = await start()
    await up(runtime)
    await approve(runtime)
    assert error(await call_tool(runtime))[0] == "Timeout"


@pytest.mark.parametrize(
    ("page", "note", "count"),
    [
        ("{'tools': [], 'nextCursor': 'again'}", "leads back to a page that came before", 0),
        ("{'tools': [], 'nextCursor': str(time.monotonic_ns())}", "more than 100 pages", 0),
        (
            "{'tools': [{'name': f't{i}', 'inputSchema': {'type': 'object'}} for i in range(1200)]}",
            "more than 1,000 tools",
            1000,
        ),
        ("{'tools': 'none'}", "", 1),
    ],
    ids=["circle", "no end", "too many", "no list"],
)
async def test_a_list_without_end_is_cut_and_says_so(
    start: Start, workspace: Path, tmp_path: Path, page: str, note: str, count: int
) -> None:
    write(workspace, mcp(tmp_path, serving_tools(run=f"serve(lambda cursor: {page})")))
    runtime = await start()
    await up(runtime)
    [server] = runtime.tools.servers()
    assert (note in server["note"], len(server["tools"])) == (True, count), server["note"]


_KEYS = ("name", "type", "inputSchema", "outputSchema", "properties", "description", "$ref", "items", "anyOf")


def nested(levels: int) -> dict[str, Any]:
    return {"type": "object", "properties": {"a": nested(levels - 1)}} if levels else {"type": "object"}


def _headed(name: str) -> dict[str, Any]:
    return {"type": "object", "properties": {"a": {"type": "string", "x-mcp-header": name}}}


def test_a_tool_that_cannot_be_used_is_skipped_for_its_own_reason_and_the_others_stay() -> None:
    pattern = {"type": "object", "properties": {"a": {"type": "string", "pattern": "(a+)+$"}}}
    cases = [
        (tool("array", inputSchema={"type": "array"}), "not one for an object"),
        (tool("list", inputSchema=[]), "not one for an object"),
        (tool("deep", inputSchema=nested(6)), "more than 10 levels"),
        (tool("deep_out", outputSchema=nested(200)), "more than 10 levels"),
        (tool("big", inputSchema={"type": "object", "description": "x" * 70_000}), "more than 65,536 bytes"),
        (tool("remote", inputSchema={"type": "object", "$ref": "https://evil.example/s"}), "outside of itself"),
        (tool("file", inputSchema={"type": "object", "$ref": "file:///etc/passwd"}), "outside of itself"),
        (tool("wrong", inputSchema={"type": "object", "properties": 3}), "cannot be used"),
        (tool("bad name!"), "its name is none"),
        (tool("x" * 129), "its name is none"),
        (tool(7), "its name is none"),
        ("text", "no object"),
        (None, "no object"),
        (tool("shell"), "one's own"),
        (tool("Read-File"), "one's own"),
        (tool("repo.summary"), "one's own"),
        (tool("bound", inputSchema=_headed("a b")), "binds to headers"),
        (tool("fine", inputSchema=_headed("Region")), ""),
        (tool("twice"), "the same name"),
        (tool("Twice"), "the same name"),
        (tool("good", inputSchema=pattern), ""),
        ({"name": "bare"}, ""),
    ]
    found = judged([raw for raw, _ in cases], {"repo_summary"})
    by_name = {one.name: one.why for one in found}
    for raw, said in cases:
        name = str(raw.get("name")) if isinstance(raw, dict) else str(raw)
        why = next(why for known, why in by_name.items() if known.rstrip("…") == name[: len(known.rstrip("…"))])
        assert (said in why) if said else why == "", (name, why)
    checked = next(one for one in found if one.name == "good")
    assert checked.input is not None
    assert checked.input.check({"a": "a" * 50_000 + "!"}) != []  # and that takes no time, whatever the pattern


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(_KEYS) | st.text(max_size=5), inner),
    max_leaves=12,
)


@settings(max_examples=60)
@given(st.lists(_JSON | st.fixed_dictionaries({"name": st.sampled_from(["a", "A", "b.c", "b_c"]) | _JSON}), max_size=5))
def test_whatever_a_list_holds_each_entry_is_judged(raw: list[Any]) -> None:
    found = judged(raw, {"shell"})
    assert len(found) == len(raw)
    usable = [tool for tool in found if not tool.why]
    assert len({tool.name.casefold().replace(".", "_") for tool in usable}) == len(usable)
    assert all(tool.input is not None for tool in usable)


def test_a_number_that_no_text_can_hold_costs_its_own_tool() -> None:
    vast = tool("vast", inputSchema={"type": "object", "maxProperties": 10**5_000})
    assert [(one.name, bool(one.why)) for one in judged([vast, ADD], ())] == [("add", False), ("vast", True)]


async def test_no_malformed_tool_costs_the_others(start: Start, workspace: Path, tmp_path: Path) -> None:
    odd = [tool("array", inputSchema={"type": "array"}), None, tool("shell"), tool("x", annotations=3, icons="x"), ADD]
    write(workspace, mcp(tmp_path, serving_tools(*odd)))
    runtime = await start()
    await up(runtime)
    assert {info.name: info.state.value for info in tools(runtime).values()} == {
        "add": "new",
        "array": "skipped",
        "None": "skipped",
        "shell": "skipped",
        "x": "new",
    }
    await approve(runtime)
    assert error(await call_tool(runtime, {"tool": "shell"}))[1].startswith("srv__shell cannot be called: its name")


async def test_what_it_sends_is_never_shown_as_it_came(start: Start, workspace: Path, tmp_path: Path) -> None:
    hidden = "safe\u202e\u200b\U000e0041\x1b[31m"
    write(workspace, mcp(tmp_path, serving_tools(tool("add", description=hidden))))
    runtime = await start()
    await up(runtime)
    told = json.dumps(runtime.tools.servers(), ensure_ascii=False)
    assert not {"\u202e", "\u200b", "\U000e0041", "\x1b"} & set(told)


# -- over HTTP ---------------------------------------------------------------------------------


async def test_a_huge_answer_is_cut_off_whether_it_is_json_or_events(
    start: Start, workspace: Path, web: Server
) -> None:
    answers = Answers(ADD)
    web.say = answers
    write(workspace, mcp_http(f"{web.url}/mcp"))
    runtime = await start()
    await up(runtime)
    await approve(runtime)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for kind in ("application/json", "text/event-stream"):
        body = b'{"x": "' + b"y" * 12_000_000 if "json" in kind else b": keep\n\n" * 1_500_000
        answers.by_method["tools/call"] = lambda _, body=body, kind=kind: answer(body, Content_Type=kind)
        assert error(await call_tool(runtime)) == (
            "OutputTooLarge",
            "srv is gone: the answer has more than 4,194,304 bytes",
        )
        await up(runtime)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000  # the copies of the test included


async def test_events_without_end_end_with_the_call(start: Start, workspace: Path, web: Server) -> None:
    answers = Answers(ADD)
    web.say = answers
    write(workspace, mcp_http(f"{web.url}/mcp", "tools: ['*'], allow_loopback: true, call_timeout_ms: 400"))
    runtime = await start()
    await up(runtime)
    await approve(runtime)
    web.drip_head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
    web.drip = b": still here\n\n"
    assert error(await call_tool(runtime))[0] == "Timeout"
    await until(lambda: web.left > 0)


@pytest.mark.parametrize("where", ["http://10.0.0.1/mcp", "http://169.254.169.254/", "https://elsewhere.example/"])
async def test_no_redirect_leads_elsewhere(web: Server, where: str) -> None:
    web.say = lambda _: answer("", "307 Temporary Redirect", Location=where)
    assert "not followed" in await reason(server_of(mcp_http(f"{web.url}/mcp")))
    assert {received.line.split()[1] for received in web.received} == {"/mcp"}


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (answer("<html>", "200 OK", Content_Type="text/html"), "answered with an error"),
        (answer("{", Content_Type="application/json"), "answered with an error"),
        (answer("", "401 Unauthorized"), "answered with an error"),
    ],
)
async def test_what_is_no_mcp_server_is_down(web: Server, reply: bytes, said: str) -> None:
    web.say = lambda _: reply
    assert said in await reason(server_of(mcp_http(f"{web.url}/mcp")))


class Names:
    """A resolver that answers otherwise each time."""

    def __init__(self, *answers: tuple[str, ...]) -> None:
        self._answers = list(answers)

    async def __call__(self, name: str) -> Sequence[Address]:
        given = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        return tuple(map(ip_address, given))


def server_of(file: Mapping[str, str], names: Names | None = None) -> McpServer:
    """The server of an adapter alone, without a runtime."""
    setting = Setting(
        Path(__file__).parent,
        lambda name: pytest.fail(name),
        lambda: MappingProxyType({}),
        frozenset,
        lambda what, more: None,
    )
    return McpServer(adapter_of(file), setting, names or Names(("127.0.0.1",)))


@pytest.mark.parametrize(
    "addresses",
    [("10.1.2.3",), ("169.254.169.254",), ("127.0.0.1",), ("93.184.216.34", "192.168.0.1"), ("::ffff:10.0.0.1",)],
)
async def test_a_name_that_leads_inside_is_never_dialled(addresses: tuple[str, ...]) -> None:
    found = await reason(server_of(mcp_http("https://mcp.example.org/mcp", "tools: [a]"), Names(addresses)))
    assert "mcp.example.org is refused: it has an address that is not public" in found


async def test_a_name_that_leads_elsewhere_the_next_time_gains_nothing(web: Server) -> None:
    web.say = Answers(ADD)
    names = Names(("127.0.0.1",), ("10.0.0.1",))
    found = await reason(server_of(mcp_http(f"http://srv.localhost:{web.port}/mcp"), names))
    assert "it has an address that is not loopback" in found
    assert [received.line for received in web.received] == ["POST /mcp HTTP/1.1"]


async def test_nothing_is_left_of_a_server_that_leaves_service(start: Start, workspace: Path, tmp_path: Path) -> None:
    child = f"import subprocess; subprocess.Popen(['sleep', '986'], cwd={str(tmp_path)!r})"
    write(workspace, mcp(tmp_path, f"{child}\n{serving_tools(ADD)}"))
    runtime = await start()
    await up(runtime)
    await runtime.close()
    left = [entry for entry in Path("/proc").iterdir() if entry.name.isdigit() and _is_in(entry, tmp_path)]
    assert left == []


def _is_in(entry: Path, folder: Path) -> bool:
    try:
        return (entry / "cwd").resolve() == folder
    except OSError:
        return False


async def test_many_calls_at_once_are_all_answered(start: Start, workspace: Path, tmp_path: Path) -> None:
    write(workspace, mcp(tmp_path, serving_tools(ADD), limits="{concurrency: 16}"))
    runtime = await start()
    await up(runtime)
    await approve(runtime)
    sums = [{"tool": "add", "arguments": {"a": n, "b": 1}} for n in range(40)]
    reports = await asyncio.gather(*(call_tool(runtime, payload) for payload in sums))
    assert [one.response.result["content"][0]["text"] for one in reports] == [str(n + 1) for n in range(40)]
