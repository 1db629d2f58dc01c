"""Hooks of plugins, run as their tools are: from the copy of what was hashed, in a clean environment, behind walls."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Final

from evatui.adapters.plugin_room import Lent, PluginRoom
from evatui.adapters.plugin_work import confining, environment, program_in
from evatui.extensions.hooks.armed import Armed
from evatui.kernel.host.credentials import Credential
from evatui.kernel.host.ports import Command, Finished
from evatui.kernel.model.errors import ErrorKind, failure
from evatui.kernel.model.text import clean_line

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
        async with self._room.lent(armed.plugin, run_id, ".hooks") as lent:
            return await self._room.processes.run(await asyncio.to_thread(self._command, armed, lent, data))

    def _command(self, armed: Armed, lent: Lent, data: bytes) -> Command:
        room, words = self._room, armed.hook.command
        program = program_in(armed.plugin, lent.package, words[0], self._root)
        given, _ = environment((), room.environ, _no_credential, lent.work, self._root)
        argv: tuple[str, ...] = (program, *words[1:])
        if room.confines:
            network = armed.plugin.manifest.requires_network
            argv = (*confining(program, lent.package, lent.work, given, self._root, network=network), *argv)
        return Command(argv, data, lent.package, _MAX_BYTES, argv[0], environ=given)


def _no_credential(name: str) -> Credential:
    raise failure(ErrorKind.POLICY_DENIED, f"no hook is given the credential {clean_line(name, 128)}")
