"""Serial ports behind a network address: those that adapters name, and no others. The network is never searched."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from evatui.hardware.dialect import Line
from evatui.hardware.ports.remote_port import dial
from evatui.hardware.ports.wire import Wire
from evatui.hardware.sighting import Bus, Sighting

__all__ = ["RemotePorts"]


class RemotePorts:
    """``addresses`` are those that are named now. All of them are taken to be there: only opening one tells."""

    name = "remote"
    bus = Bus.REMOTE
    from_memory = True

    def __init__(self, addresses: Callable[[], Iterable[str]]) -> None:
        self._addresses = addresses

    def glance(self) -> object:
        return None

    def scan(self) -> list[Sighting]:
        return [
            Sighting(
                bus=Bus.REMOTE,
                topology=address.partition("://")[2],
                name=f"serial port, by {address.partition(':')[0]}",
                attachment="named",
                path=address,
            )
            for address in sorted(self._addresses())
        ]

    def open(self, sighting: Sighting, line: Line) -> Wire:
        return dial(sighting.path, line)
