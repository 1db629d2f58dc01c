"""The transports of adapters, by name: each is loaded by the first adapter that wants it."""

from __future__ import annotations

from evatui.adapters.eventbus import Eventbus
from evatui.adapters.stdio import Stdio
from evatui.adapters.web import Web
from evatui.kernel.host.ports import HttpPort, Setting, Way
from evatui.kernel.model.adapter import Adapter
from evatui.kernel.records.events import EventBus

__all__ = ["Adapters"]

_SERVED = frozenset({"stdio", "http", "eventbus"})


class Adapters:
    """The `AdapterPort`."""

    def __init__(self, http: HttpPort, bus: EventBus) -> None:
        self._http = http
        self._bus = bus

    def serves(self, transport: str) -> bool:
        return transport in _SERVED

    def open(self, adapter: Adapter, setting: Setting) -> Way:
        if adapter.transport == "stdio":
            return Stdio(adapter, setting)
        if adapter.transport == "http":
            return Web(adapter, setting, self._http)
        return Eventbus(adapter, self._bus)
