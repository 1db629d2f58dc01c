"""The command line of a process that runs part of this package."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import lupa
import ormsgpack

import evatui

__all__ = ["command", "environment"]

_ROOM = "evatui.kernel.lua"
_START = f"""\
import sys
from importlib.util import find_spec, module_from_spec
sys.path += sys.argv.pop(1).split({os.pathsep!r})
sys.modules[{_ROOM!r}] = module_from_spec(find_spec({_ROOM!r}))
from importlib import import_module
import_module(sys.argv.pop(1)).main()
"""
"""The room is entered without its door, which would load the host's side of it, asyncio and all."""


def command(module: str, *arguments: str | int) -> list[str]:
    """Runs ``main`` of a module of this package, with nothing on the path but what that needs.

    Neither the environment nor the site can add code: only the folders in which evatui and the two libraries
    are here and now. So it is the same from a wheel, an editable install or a checkout.
    """
    folders = dict.fromkeys(str(Path(str(package.__file__)).parent.parent.resolve()) for package in _NEEDED)
    words = [os.pathsep.join(folders), f"{_ROOM}.worker.{module}", *map(str, arguments)]
    return [sys.executable, "-I", "-S", "-c", _START, *words]


_NEEDED = (evatui, lupa, ormsgpack)


def environment() -> dict[str, str]:
    """Only the time zone, always named: the C library then reads its file once, while it still may."""
    return {"TZ": os.environ.get("TZ") or ":/etc/localtime"}
