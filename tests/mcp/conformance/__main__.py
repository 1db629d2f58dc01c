"""``python -m tests.mcp.conformance``: the public harness against our server, in both eras of the protocol.

The tools that it asks for are Lua handlers (``pack``), so it goes the whole way that any client's call goes. What is
expected to fail is listed with its reason beside this file; what is listed and passes is a failure too.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import threading
from pathlib import Path

from tests.mcp.conformance.node import harness
from tests.mcp.conformance.proxy import with_token
from tests.mcp.house import ORIGIN, House, housed, principals
from tests.support.workspaces import save

_HERE = Path(__file__).parent
_ERAS = ("2025-11-25", "2026-07-28")
_TOKEN = "token-of-the-harness"
_CHANGER, _CHANGE = "test_trigger_tool_change", "/test/change"
_PROMPTER, _PROMPTS = "test_trigger_prompt_change", "/test/prompts"
_POLICY = "capabilities/policies/all.yaml"


def pack() -> dict[str, str]:
    """The workspace that the harness asks for."""
    root = _HERE / "pack"
    files = {path.relative_to(root).as_posix(): path.read_text() for path in root.rglob("*") if path.is_file()}
    grants = ", ".join(
        f"{{match: {{ids: [{who}]}}, events: {{emit: [{what}]}}}}"
        for who, what in ((_CHANGER, _CHANGE), (_PROMPTER, _PROMPTS))
    )
    policy = f"version: 1\ngrants: [{grants}]\n"
    policy += 'mcp_server:\n  tools: {allow: ["*"]}\n  prompts: []\n'
    policy += principals({"ann": _TOKEN}).replace('tools: ["*"]', 'tools: ["*"], prompts: ["*"]')
    settings = f"mcp_server: {{bind: '127.0.0.1:0', allowed_origins: ['{ORIGIN}']}}\n"
    return {**files, "eva.yaml": settings, _POLICY: policy}


def change(house: House, ended: threading.Event) -> None:
    """Describes a tool anew, or offers a prompt and takes it back, whenever the handler of that asks for it."""
    path, count, seq = f"capabilities/{_CHANGER}.yaml", 0, 0
    text, policy = (house.root / path).read_text(), (house.root / _POLICY).read_text()
    while not ended.wait(0.02):
        found = house.asked("events", topic="/test/**", since=seq)
        seq = found["seq"]
        for event in found["events"]:
            count += 1
            if event["topic"] == _CHANGE:
                save(house.root, path, text.replace("Has the list", f"Has {count} times the list"))
            else:
                save(house.root, _POLICY, policy.replace("prompts: []", f"prompts: [{'context' * (count % 2)}]"))


def main() -> int:
    words = harness()
    if words is None:
        return 0
    failed = []
    with (
        tempfile.TemporaryDirectory() as folder,
        housed(Path(folder) / "ws", pack()) as house,
        with_token(house.host, _TOKEN) as address,
    ):
        ended = threading.Event()
        changing = threading.Thread(target=change, args=(house, ended))
        changing.start()
        for era in _ERAS:
            leg = ["--spec-version", era, "--expected-failures", str(_HERE / f"expected-{era}.yml")]
            print(f"== {era}", flush=True)
            done = subprocess.run(
                [*words, "server", "--url", f"http://{address}/mcp", "--suite", "all", *leg, *sys.argv[1:]],
                cwd=folder,
                check=False,
            )
            failed += [era] if done.returncode else []
        ended.set()
        changing.join()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
