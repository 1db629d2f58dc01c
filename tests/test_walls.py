"""The walls between the rooms: what each may import, and what it costs to open the door."""

from __future__ import annotations

import json
import pkgutil
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import evatui

ROOT = Path(evatui.__file__).parent.parent
UNIX_ONLY = ("fcntl", "termios", "resource", "pwd", "grp", "pty", "tty")
HEAVY = (
    "textual",
    "jsonschema",
    "jsonschema_rs",
    "lupa",
    "sqlite3",
    "serial",
    "hidraw",
    "evatui.runtime",
    "evatui.kernel.lua",
)

_LOAD = """
import importlib, json, sys
(wanted,) = json.loads(sys.argv[1])
for name in wanted:
    importlib.import_module(name)
print(json.dumps(sorted(name for name, module in sys.modules.items() if module is not None)))
"""


_LOAD_APART = """
import importlib, json, sys, traceback
masked, heavy, wanted = json.loads(sys.argv[1])
sys.modules.update(dict.fromkeys(masked))
told = {}
for room, modules in wanted:
    for name in [name for name in sys.modules if name.partition(".")[0] == "evatui"]:
        del sys.modules[name]
    try:
        for name in modules:
            importlib.import_module(name)
    except Exception:
        told[room] = traceback.format_exc()
    else:
        missing = [name for name in modules if name not in sys.modules]
        told[room] = [missing, [name for name in heavy if name in sys.modules]]
print(json.dumps(told))
"""


def rooms() -> dict[str, list[str]]:
    """The modules of each room: ``evatui.kernel.lua`` is one, and so is ``evatui.cli``."""
    found: dict[str, list[str]] = {}
    for module in pkgutil.walk_packages([str(ROOT / "evatui")], "evatui."):
        parts = module.name.split(".")
        depth = 3 if parts[1] == "kernel" else 2
        found.setdefault(".".join(parts[:depth]), []).append(module.name)
    found.pop("evatui.kernel", None)
    return found


ROOMS = rooms()
MCP = "mcp|starlette|uvicorn"
SDK = {"mcp", "mcp_types", "uvicorn", "starlette"}
"""Of MCP, which takes most of a second to load."""
SCREENS = ("evatui.console", "evatui.demo")
"""Nobody else loads Textual."""


def speaks(module: str, libraries: str) -> bool:
    """Does it import one of the ``libraries`` as it opens?"""
    source = ROOT / module.replace(".", "/")
    text = next(path for path in (source / "__init__.py", source.with_suffix(".py")) if path.is_file()).read_text()
    return re.search(rf"^(from|import) ({libraries})\b", text, re.M) is not None


def fresh(program: str, *told: object) -> Any:
    """What ``program`` prints in an interpreter of its own."""
    done = subprocess.run(
        [sys.executable, "-c", program, json.dumps(told)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def loaded_by(*modules: str) -> set[str]:
    """The names in ``sys.modules`` of a fresh interpreter that imported ``modules`` and nothing else."""
    return set(fresh(_LOAD, modules))


def test_import_linter_finds_every_wall_standing() -> None:
    code = "from importlinter.cli import lint_imports; raise SystemExit(lint_imports(no_cache=True, no_logo=True))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 broken" in done.stdout


def test_each_room_opens_alone_and_without_the_modules_that_only_unix_has() -> None:
    """Each as the first of ours that is imported; what others wrote stays, for loading it takes most of the time."""
    wanted = [
        (room, [module for module in modules if not speaks(module, f"{MCP}|serial")])  # these pick what a platform has
        for room, modules in sorted(ROOMS.items(), key=lambda item: item[0].startswith(SCREENS))  # with Textual: last
    ]
    told = fresh(_LOAD_APART, UNIX_ONLY, ["textual", *sorted(SDK)], wanted)
    for room, _ in wanted:
        # where MCP is spoken it is loaded when somebody speaks it
        assert told[room] == [[], ["textual"] if room.startswith(SCREENS) else []], f"{room}: {told[room]}"


_HELP = """
import atexit, json, sys
sys.argv[1:] = json.loads(sys.argv[1])
atexit.register(lambda: sys.stderr.write(json.dumps(sorted(sys.modules))))
from evatui.cli.main import main
main()
"""


@pytest.mark.parametrize("words", [["--help"], ["--version"]])
def test_a_command_line_that_only_prints_help_loads_nothing_heavy(words: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _HELP, json.dumps(words)], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert "eva" in done.stdout
    later = {*HEAVY, "mcp", "cryptography", "asyncio", "rich", "orjson", "evatui.control", "evatui.kernel"}
    assert later & set(json.loads(done.stderr)) == set()


def test_a_command_that_asks_a_runtime_loads_no_screen_and_nothing_for_other_commands() -> None:
    loaded = loaded_by("evatui.cli.main", "evatui.cli.capability", "evatui.cli.ending", "evatui.control.remote")
    assert [name for name in (*HEAVY, "mcp", "cryptography") if name in loaded] == []


def test_mcp_is_spoken_in_two_rooms_only() -> None:
    speakers = [module for modules in ROOMS.values() for module in modules if speaks(module, MCP)]
    assert {name.rpartition(".")[0] if "adapters.mcp" not in name else "evatui.adapters" for name in speakers} <= {
        "evatui.mcp",
        "evatui.adapters",
    }


def test_the_model_knows_no_io() -> None:
    loaded = loaded_by(*ROOMS["evatui.kernel.model"])
    assert not loaded & {"asyncio", "socket", "sqlite3", "subprocess", "yaml"}


def test_the_first_frame_waits_for_nothing_that_it_does_not_show() -> None:
    loaded = loaded_by("evatui.__main__", "evatui.console.app", "evatui.console.launch")
    later = {*HEAVY, "yaml", "watchfiles", "orjson", "evatui.control.snapshot"} - {"textual"}
    assert loaded & later == set()
