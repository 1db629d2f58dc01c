"""The transports of adapters, by name."""

from __future__ import annotations

from evatui.adapters.eventbus import Eventbus
from evatui.adapters.hardware import HardwareWay
from evatui.adapters.mcp import McpServer
from evatui.adapters.mcp_start import of_the_machine
from evatui.adapters.plugin import PluginWay
from evatui.adapters.plugin_room import PluginRoom
from evatui.adapters.plugin_servers import PluginServers
from evatui.adapters.resolving import Resolve
from evatui.adapters.skill import SkillWay
from evatui.adapters.stdio import Stdio
from evatui.adapters.web import Web
from evatui.extensions.skills.skills import Skills
from evatui.hardware.hardware import Hardware
from evatui.kernel.host.ports import HttpPort, Setting, Way
from evatui.kernel.model.adapter import Adapter
from evatui.kernel.records.events import EventBus

__all__ = ["Adapters"]


class Adapters:
    """The `AdapterPort`. ``ask`` resolves names; ``mode`` is the runtime's."""

    def __init__(
        self,
        http: HttpPort,
        ask: Resolve,
        bus: EventBus,
        hardware: Hardware,
        skills: Skills,
        plugins: PluginRoom,
        mode: str,
    ) -> None:
        self._http = http
        self._ask = ask
        self._hardware = hardware
        self._bus = bus
        self._skills = skills
        self._plugins = plugins
        self._servers = PluginServers(plugins)
        self._mode = mode

    def open(self, adapter: Adapter, setting: Setting) -> Way:
        if adapter.transport == "stdio":
            return Stdio(adapter, setting)
        if adapter.transport == "mcp":
            start = self._servers.started if "plugin" in adapter.block else of_the_machine
            return McpServer(adapter, setting, self._ask, start)
        if adapter.transport == "http":
            return Web(adapter, setting, self._http)
        if adapter.transport == "hardware":
            return HardwareWay(adapter, self._hardware)
        if adapter.transport == "skill":
            return SkillWay(adapter, self._skills, self._mode)
        if adapter.transport == "plugin":
            return PluginWay(adapter, setting, self._plugins)
        return Eventbus(adapter, self._bus)
