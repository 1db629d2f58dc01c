"""What only Unix has is not needed to read a workspace, to call what it holds, to serve it and to attach."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.support.workspaces import GREETER, write

_BARE = """
import asyncio, os, platform, platformdirs, sqlite3, ssl, subprocess, sys, tempfile, zipfile
import click, jsonschema_rs, lupa, rich.console, serial.tools.list_ports, watchfiles, yaml
sys.platform = "win32"
for name in ("fcntl", "termios", "resource", "pwd", "grp", "pty", "tty"):
    sys.modules[name] = None
for module, names in (
    (os, ("geteuid", "getuid", "fork", "forkpty", "O_NOFOLLOW", "setsid", "killpg", "getpgid")),
    (asyncio, ("start_unix_server", "open_unix_connection")),
):
    for name in names:
        delattr(module, name)
for name in ("O_CLOEXEC", "O_NONBLOCK", "pread", "pwrite", "get_blocking", "set_blocking"):
    vars(os).pop(name, None)
import json
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from evatui.cli.main import run
from evatui.control.layouts import layout_of
from evatui.control.opening import start_kernel
from evatui.kernel.workspace.lock import WorkspaceHeld, WorkspaceLock
CALL = ("capability", "call", "text.greet", "--payload", '{"name": "bob"}')
def eva(*words):
    out = StringIO()
    with redirect_stdout(out):
        run([*words, "-o", "json"])
    return json.loads(out.getvalue())
said = [eva("capability", "list"), eva(*CALL)]
kernel = start_kernel(layout_of(Path.cwd(), None), writes=True, listens=True)
said += [eva("status"), eva(*CALL), eva("capability", "drain", "greet"), eva("capability", "enable", "greet")]
rooms = [eva(*words.split()) for words in sys.argv[1:]]
try:
    WorkspaceLock(Path(".eva"))
except WorkspaceHeld:
    said.append("held")
kernel.stop()
said.append(eva("status"))
print(json.dumps([os.getpid(), kernel.address, rooms, *said]))
"""


ROOMS = (
    "doctor",
    "skill list",
    "plugin list",
    "hardware list",
    "mcp list",
    "audit verify",
    "events",
    "why greet",
    "state list",
    "trust --dry-run",
    "bundle report.zip --no-picture",
    "runtime restart",
)
"""One command of each room. What it cannot have on such a platform it says; it does not fail."""


def test_a_workspace_is_read_called_served_and_attached_to(tmp_path: Path) -> None:
    write(tmp_path, GREETER)
    nameless = {k: v for k, v in os.environ.items() if k not in ("LOGNAME", "USER", "LNAME", "USERNAME")}
    done = subprocess.run(
        [sys.executable, "-c", _BARE, *ROOMS],
        cwd=tmp_path,
        env=nameless | {"PYTHONPATH": str(Path.cwd())},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    pid, address, rooms, listed, alone, status, attached, drained, enabled, held, after = json.loads(done.stdout)
    assert [one for one in rooms if not one["ok"]] == []
    assert [row["state"] for row in listed["data"]["capabilities"]] == ["Active"]
    assert [answer["data"]["response"]["result"]["text"] for answer in (alone, attached)] == ["hello bob"] * 2
    assert (status["data"]["runtime"]["pid"], status["data"]["runtime"]["socket"]) == (pid, address)
    assert address.startswith("127.0.0.1:")
    assert (drained["ok"], enabled["ok"], held, after["data"]["runtime"]) == (True, True, "held", None)
