"""Hooks of plugins, run as their tools are: from the copy of what was hashed, in a clean environment, behind walls."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Final

from evatui.adapters.plugin import PluginRoom
from evatui.adapters.plugin_work import confining, environment, work_folder
from evatui.adapters.process import find_program
from evatui.extensions.hooks.armed import Armed
from evatui.kernel.host.credentials import Credential
from evatui.kernel.host.ports import Command, Finished
from evatui.kernel.model.errors import ErrorKind, failure
from evatui.kernel.model.text import clean_line
from evatui.kernel.workspace.paths import InvalidPath, normal

__all__ = ["HookRuns"]

_MAX_BYTES: Final = 1 << 20
"""Of each of the two outputs of a hook."""


class HookRuns:
    """A hook runs in its plugin's folder, as that is in the copy; what it writes goes into a folder of its own."""

    def __init__(self, room: PluginRoom, root: Path) -> None:
        self._room = room
        self._root = root

    async def run(self, armed: Armed, run_id: str, data: bytes) -> Finished:
        """Returns once it and all that it started are gone; cancelled, it kills them first. Raises `CallFailed`."""
        room, plugin = self._room, armed.plugin
        room.busy.add(run_id)
        try:
            work = await asyncio.to_thread(work_folder, room.work, plugin.name, run_id, frozenset(room.busy))
            using = room.verified.using(plugin)
            package = await asyncio.to_thread(using.__enter__)
            try:
                return await room.processes.run(await asyncio.to_thread(self._command, armed, package, work, data))
            finally:
                using.__exit__(None, None, None)
        finally:
            room.busy.discard(run_id)

    def _command(self, armed: Armed, package: Path, work: Path, data: bytes) -> Command:
        room, words = self._room, armed.hook.command
        program = self._program(armed, package)
        given, _ = environment((), room.environ, _no_credential, work, self._root)
        argv: tuple[str, ...] = (program, *words[1:])
        if room.confines:
            network = armed.plugin.manifest.requires_network
            argv = (*confining(program, package, work, given, self._root, network=network), *argv)
        return Command(argv, data, package, _MAX_BYTES, argv[0], environ=given)

    def _program(self, armed: Armed, package: Path) -> str:
        """A file of the plugin, a file of the operator's home, or a program of this machine."""
        first = armed.hook.command[0]
        if not first.startswith(("./", "../")):
            return find_program(os.path.expanduser(first) if first.startswith("~/") else first, self._root)
        try:
            path = normal(os.path.normpath(first))
        except InvalidPath:
            path = ""
        file = armed.plugin.files.get(path)
        if file is None or not file.executable:
            message = f"{clean_line(first, 128)} is no executable file of the plugin {armed.plugin.name}"
            raise failure(ErrorKind.NOT_FOUND, message)
        return str(package / path)


def _no_credential(name: str) -> Credential:
    raise failure(ErrorKind.POLICY_DENIED, f"no hook is given the credential {clean_line(name, 128)}")
