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


def pack() -> dict[str, str]:
    """The workspace that the harness asks for."""
    root = _HERE / "pack"
    files = {path.relative_to(root).as_posix(): path.read_text() for path in root.rglob("*") if path.is_file()}
    policy = f"version: 1\ngrants: [{{match: {{ids: [{_CHANGER}]}}, events: {{emit: [{_CHANGE}]}}}}]\n"
    policy += 'mcp_server:\n  tools: {allow: ["*"]}\n' + principals({"ann": _TOKEN})
    settings = f"mcp_server: {{bind: '127.0.0.1:0', allowed_origins: ['{ORIGIN}']}}\n"
    return {**files, "eva.yaml": settings, "capabilities/policies/all.yaml": policy}


def change(house: House, ended: threading.Event) -> None:
    """Describes a tool anew whenever the handler asks for it."""
    path, count, seq = f"capabilities/{_CHANGER}.yaml", 0, 0
    text = (house.root / path).read_text()
    while not ended.wait(0.02):
        found = house.asked("events", topic=_CHANGE, since=seq)
        seq = found["seq"]
        if found["events"]:
            count += 1
            save(house.root, path, text.replace("Has the list", f"Has {count} times the list"))


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
