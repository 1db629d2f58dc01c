"""MCP servers that plugins bring along, run as their tools are: from the copy of what was hashed, behind walls."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from evatui.adapters.mcp_start import Started
from evatui.adapters.plugin_room import Lent, PluginRoom
from evatui.adapters.plugin_work import confining, environment, program_in
from evatui.adapters.running import Launch, Running
from evatui.extensions.plugins.plugin import Plugin
from evatui.kernel.host.credentials import Credential
from evatui.kernel.host.ports import Setting
from evatui.kernel.model.adapter import Adapter
from evatui.kernel.model.ids import new_id

__all__ = ["PluginServers"]


class PluginServers:
    """A server runs in its plugin's folder, as that is in the copy; what it writes goes into a folder of its own."""

    def __init__(self, room: PluginRoom) -> None:
        self._room = room

    @asynccontextmanager
    async def started(self, adapter: Adapter, setting: Setting) -> AsyncIterator[Started]:
        """A `Start`."""
        plugin: Plugin = adapter.block["plugin"]
        async with self._room.lent(plugin, new_id("server"), ".mcp") as lent:
            launch, secrets = await asyncio.to_thread(self._launch, adapter, plugin, setting, lent)
            running = await Running.launched(launch)
            try:
                yield Started(running, secrets)
            finally:
                await running.close()

    def _launch(
        self, adapter: Adapter, plugin: Plugin, setting: Setting, lent: Lent
    ) -> tuple[Launch, list[Credential]]:
        room, (first, *rest) = self._room, adapter.block["command"]
        given, secrets = environment(adapter.block["env"], room.environ, setting.key, lent.work, setting.root)
        program = program_in(plugin, lent.package, first, setting.root)
        argv: tuple[str, ...] = (program, *rest)
        if room.confines:
            network = plugin.manifest.requires_network
            argv = (*confining(program, lent.package, lent.work, given, setting.root, network=network), *argv)
        return Launch(first, argv[0], argv, lent.package, given), secrets
