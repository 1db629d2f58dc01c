"""A workspace with a handler that calls whatever a test says, adapters beside it, and programs that answer."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from evatui.kernel.model.call import Actor, CallerType, CallReport, CallRequest
from evatui.kernel.workspace.home import OperatorHome
from evatui.runtime import Runtime
from tests.support.workspaces import EVERYTHING, tool, write

ANN = Actor(CallerType.USER, "ann")
Start = Callable[..., Awaitable[Runtime]]

ASK = """
function invoke(ctx, request)
  local ok, found = pcall(ctx.host[request.payload.fn], request.payload.argument)
  if ok then return {ok = true, result = {answered = found}} end
  return {ok = true, result = {raised = {kind = found.kind, message = found.message, retryable = found.retryable}}}
end
"""
PERMISSIONS = '{adapters: {capabilities: "*", providers: "*"}, events: {emit: ["*"]}}'
POLICY = "capabilities/policies/default.yaml"


def adapter(name: str, transport: str, block: str, names: str = "[test.out]", **more: str) -> dict[str, str]:
    """The file of an adapter."""
    lines = "".join(f"{key}: {value}\n" for key, value in more.items())
    text = f"id: {name}\nversion: 1.0.0\ntransport: {transport}\ncapabilities: {names}\n{lines}{transport}: {block}\n"
    return {f"capabilities/adapters/{name}.yaml": text}


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    root = tmp_path / "ws"
    write(root, {**tool("ask", ASK, permissions=PERMISSIONS), POLICY: EVERYTHING})
    return root


@pytest.fixture
async def start(workspace: Path) -> AsyncIterator[Start]:
    """Opens the workspace, with the options of `Runtime.open`; whatever was opened is closed at the end."""
    opened: list[Runtime] = []

    async def start(**options: Any) -> Runtime:
        opened.append(await Runtime.open(workspace, **options))
        return opened[-1]

    yield start
    for runtime in opened:
        await runtime.close()


@pytest.fixture
def home(tmp_path: Path) -> OperatorHome:
    """An operator who trusts nothing yet."""
    return OperatorHome(tmp_path / "config")


async def called(runtime: Runtime, name: str = "test.out", payload: Any = None, **fields: Any) -> CallReport:
    """As an operator calls."""
    return await runtime.call(CallRequest(name, {} if payload is None else payload, ANN, **fields))


async def asked(runtime: Runtime, fn: str = "invoke_adapter", **argument: Any) -> dict[str, Any]:
    """What a handler gets that asks: ``{answered}`` or ``{raised}``."""
    report = await runtime.call(CallRequest("test.ask", {"fn": fn, "argument": argument}, ANN))
    assert report.response.error is None, report.response.error
    found: dict[str, Any] = report.response.result
    return found


def error(report: CallReport) -> tuple[str, str]:
    assert report.response.error is not None
    return report.response.error.kind.value, report.response.error.message


def program(folder: Path, body: str, name: str = "program.py") -> str:
    """A Python program outside the workspace, as the words of a command. It begins with what one needs for lines."""
    path = folder / name
    path.write_text(f"{HEAD}\n{body}", encoding="utf-8")
    return json.dumps([sys.executable, "-I", "-S", str(path)])


HEAD = """
import json, os, sys, time

def say(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\\n")
    sys.stdout.flush()

def hear():
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)
    return json.loads(line)
"""

ECHO = """
while True:
    message = hear()
    if message["method"] == "health":
        say({"id": message["id"], "result": {"ok": True}})
    elif message["method"] == "invoke":
        say({"id": message["id"], "result": {"ok": True, "result": answer(message["params"])}})
"""


def echoing(folder: Path, answer: str, name: str = "program.py") -> str:
    """A program that answers each call with the expression ``answer``, over ``p``, its params."""
    return program(folder, f"def answer(p):\n    return {answer}\n{ECHO}", name)


def files(root: Path) -> Mapping[str, str]:
    return {path.relative_to(root).as_posix(): path.read_text() for path in root.rglob("*.yaml")}
