"""What only Unix has is not needed to read a workspace and to call what it holds."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.support.workspaces import GREETER, write

_BARE = """
import asyncio, os, platformdirs, sys
for name in ("fcntl", "termios", "resource", "pwd", "grp", "pty", "tty"):
    sys.modules[name] = None
for module, names in (
    (os, ("geteuid", "getuid", "fork", "forkpty", "O_NOFOLLOW", "setsid", "killpg", "getpgid")),
    (asyncio, ("start_unix_server", "open_unix_connection")),
):
    for name in names:
        delattr(module, name)
from evatui.cli.main import main
main()
"""


def eva(workspace: Path, *words: str) -> dict[str, Any]:
    nameless = {k: v for k, v in os.environ.items() if k not in ("LOGNAME", "USER", "LNAME", "USERNAME")}
    done = subprocess.run(
        [sys.executable, "-c", _BARE, *words, "-o", "json"],
        cwd=workspace,
        env=nameless | {"PYTHONPATH": str(Path.cwd())},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)["data"]


def test_a_workspace_is_read_and_called(tmp_path: Path) -> None:
    write(tmp_path, GREETER)
    assert [row["state"] for row in eva(tmp_path, "capability", "list")["capabilities"]] == ["Active"]
    answer = eva(tmp_path, "capability", "call", "text.greet", "--payload", '{"name": "bob"}')
    assert answer["response"]["result"]["text"] == "hello bob"
