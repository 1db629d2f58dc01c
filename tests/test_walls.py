"""The walls between the rooms: what each may import, and what it costs to open the door."""

from __future__ import annotations

import json
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

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
masked, wanted = json.loads(sys.argv[1])
sys.modules.update(dict.fromkeys(masked))
for name in wanted:
    importlib.import_module(name)
print(json.dumps(sorted(name for name, module in sys.modules.items() if module is not None)))
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


def speaks(module: str, libraries: str) -> bool:
    """Does it import one of the ``libraries`` as it opens?"""
    source = ROOT / module.replace(".", "/")
    text = next(path for path in (source / "__init__.py", source.with_suffix(".py")) if path.is_file()).read_text()
    return re.search(rf"^(from|import) ({libraries})\b", text, re.M) is not None


def loaded_by(*modules: str, masked: tuple[str, ...] = ()) -> set[str]:
    """The names in ``sys.modules`` of a fresh interpreter that imported ``modules`` and nothing else."""
    done = subprocess.run(
        [sys.executable, "-c", _LOAD, json.dumps([masked, modules])],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stdout))


def test_import_linter_finds_every_wall_standing() -> None:
    code = "from importlinter.cli import lint_imports; raise SystemExit(lint_imports(no_cache=True, no_logo=True))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 broken" in done.stdout


@pytest.mark.parametrize("room", sorted(ROOMS))
def test_a_room_opens_without_the_modules_that_only_unix_has(room: str) -> None:
    modules = [
        module for module in ROOMS[room] if not speaks(module, f"{MCP}|serial")
    ]  # these pick what a platform has
    loaded = loaded_by(*modules, masked=UNIX_ONLY)
    assert set(modules) <= loaded
    assert not loaded & SDK  # where it is spoken it is loaded when somebody speaks it
    if not room.startswith(("evatui.console", "evatui.demo")):
        assert "textual" not in loaded


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
